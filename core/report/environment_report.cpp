// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/environment_report.h"

#include "core/text/token_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t packages_in_text = 30; // of a stage: two unlike machines differ in hundreds

Json values_json(const std::vector<std::string>& values, const std::vector<std::string>& labels)
{
    Json json = labels.empty() ? Json::array() : Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool nothing = values[i] == "not stated" || values[i] == "not installed";
        Json value = nothing ? Json(nullptr) : Json(values[i]);
        if (labels.empty())
            json.push_back(std::move(value));
        else
            json[labels[i]] = std::move(value);
    }
    return json;
}

std::string amount(std::size_t n, std::string_view noun)
{
    return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string package_line(const PackageDifference& p)
{
    switch (p.change) {
    case PackageDifference::Change::Added:
        return fmt::format("+ {} {}  (only in B)", visible(p.name), visible(p.values[1]));
    case PackageDifference::Change::Removed:
        return fmt::format("- {} {}  (only in A)", visible(p.name), visible(p.values[0]));
    case PackageDifference::Change::Version:
        break;
    }
    return fmt::format("~ {} {} -> {}", visible(p.name), visible(p.values[0]), visible(p.values[1]));
}

} // namespace

std::string counted(const EnvironmentDifference& difference)
{
    if (difference.n_packages == 0)
        return amount(difference.n_settings, "setting");
    if (difference.n_settings == 0)
        return amount(difference.n_packages, "package");
    return amount(difference.n_settings, "setting") + " and " + amount(difference.n_packages, "package");
}

std::string packages_notice(const EnvironmentDifference& difference)
{
    const auto without = std::ranges::count(difference.lists_packages, false);
    if (without == 0)
        return {};
    if (without == static_cast<std::ptrdiff_t>(difference.lists_packages.size()))
        return "No trace lists its packages, so they cannot be compared.";
    return "Packages are compared between the traces that list theirs; not all do.";
}

nlohmann::ordered_json environment_json(const EnvironmentDifference& difference, const std::vector<std::string>& labels)
{
    Json json = {{"n_settings", difference.n_settings},
                 {"n_packages", difference.n_packages},
                 {"lists_packages", difference.lists_packages},
                 {"stages", Json::array()}};
    for (const StageDifference& stage : difference.stages) {
        Json entry = {{"stage", name_of(stage.stage)},
                      {"title", title_of(stage.stage)},
                      {"settings", Json::object()},
                      {"packages", Json::object()}};
        for (const SettingDifference& s : stage.settings)
            entry["settings"][s.key] = values_json(s.values, labels);
        for (const PackageDifference& p : stage.packages)
            entry["packages"][p.name] = {{"change", name_of(p.change)}, {"versions", values_json(p.values, labels)}};
        json["stages"].push_back(std::move(entry));
    }
    return json;
}

nlohmann::ordered_json environment_json(const Trace& trace)
{
    Json json = Json::array();
    for (const StageEnvironment& stage : environment_of_stages(trace)) {
        Json entry = {{"stage", name_of(stage.stage)},
                      {"title", title_of(stage.stage)},
                      {"settings", Json::object()},
                      {"packages", stage.packages}};
        for (const auto& [key, value] : stage.settings)
            entry["settings"][key] = value;
        json.push_back(std::move(entry));
    }
    return json;
}

std::string environment_text(const EnvironmentDifference& difference)
{
    const std::string notice = packages_notice(difference);
    if (difference.empty())
        return "\nA and B state the same settings.\n" + (notice.empty() ? notice : notice + '\n');
    const bool one = difference.n_settings + difference.n_packages == 1;
    std::string text = fmt::format("\n{} {} between A and B\n", counted(difference), one ? "differs" : "differ");
    for (const StageDifference& stage : difference.stages) {
        text += fmt::format("  {}\n", title_of(stage.stage));
        for (const SettingDifference& s : stage.settings)
            text += fmt::format("    {}\n      A  {}\n      B  {}\n", visible(s.key), visible(s.values[0]),
                                visible(s.values[1]));
        for (std::size_t i = 0; i < std::min(stage.packages.size(), packages_in_text); ++i)
            text += fmt::format("    {}\n", package_line(stage.packages[i]));
        if (stage.packages.size() > packages_in_text)
            text += fmt::format("    and {} more; --json names them all\n", stage.packages.size() - packages_in_text);
    }
    return text + (notice.empty() ? notice : notice + '\n');
}

std::string environment_text(const Trace& trace)
{
    std::string text;
    for (const StageEnvironment& stage : environment_of_stages(trace)) {
        text += fmt::format("  {}\n", title_of(stage.stage));
        for (const auto& [key, value] : stage.settings)
            text += fmt::format("    {:<28}{}\n", visible(key), visible(value));
        // What is not known to change a number is counted.
        std::string packages;
        if (stage.stage == Stage::Other && !stage.packages.empty())
            packages = fmt::format("{} more; --json names them all", stage.packages.size());
        else
            for (const std::string& entry : stage.packages)
                packages += (packages.empty() ? "" : ", ") + visible(entry);
        if (!packages.empty())
            text += fmt::format("    {:<28}{}\n", "packages", packages);
    }
    return text.empty() ? "  not stated\n" : text;
}

} // namespace flipscope
