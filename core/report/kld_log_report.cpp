// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/report.h"

#include "core/text/token_text.h"

#include <cmath>
#include <fmt/format.h>

namespace flipscope {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

constexpr const char* about = "Printed by llama-perplexity: KL(base‖run) in nats over the second half of each chunk, "
                              "terms whose base log probability is below -16 left out; not computed by Flipscope.";

} // namespace

nlohmann::ordered_json kld_log_json(const KldLog& log)
{
    Json json = {{"format", "flipscope-kld-log"},
                 {"version", 1},
                 {"path", log.path.string()},
                 {"kind", "printout of llama-perplexity --kl-divergence"},
                 {"name", log.name},
                 {"about", about},
                 {"build", log.build.empty() ? Json(nullptr) : Json(log.build)},
                 {"n_ctx", log.n_ctx < 0 ? Json(nullptr) : Json(log.n_ctx)},
                 {"n_chunks", log.n_chunks < 0 ? Json(nullptr) : Json(log.n_chunks)},
                 {"final_block", log.has_final_block}};
    json["statistics"] = Json::array();
    for (const KldStatistic& s : log.statistics)
        json["statistics"].push_back({{"section", s.section},
                                      {"label", s.label},
                                      {"value", number(s.value)},
                                      {"uncertainty", s.uncertainty ? number(*s.uncertainty) : Json(nullptr)},
                                      {"unit", s.percent                      ? "%"
                                               : s.section == "KL divergence" ? "nats"
                                                                              : ""}});
    json["findings"] = Json::array();
    for (const Finding& f : log.findings)
        json["findings"].push_back(
            {{"level", f.level == Finding::Level::Warning ? "warning" : "note"}, {"code", f.code}, {"text", f.text}});
    return json;
}

std::string kld_log_text(const KldLog& log)
{
    std::string text;
    const auto line = [&](std::string_view label, const std::string& value) {
        text += fmt::format("{:<14}{}\n", label, value.empty() ? "not stated" : visible(value));
    };
    line("file", log.path.string());
    line("kind", "printout of llama-perplexity --kl-divergence");
    line("build", log.build);
    line("context", log.n_ctx < 0 ? "" : fmt::format("{} tokens", log.n_ctx));
    line("chunks", log.n_chunks < 0 ? "" : fmt::format("{}", log.n_chunks));
    std::string_view section;
    for (const KldStatistic& s : log.statistics) {
        if (s.section != section)
            text += fmt::format("\n{}{}\n", s.section,
                                s.section == "KL divergence" ? ", KL(base‖run) in nats" : " statistics");
        section = s.section;
        text += fmt::format("  {:<32}{}{}{}\n", s.label, s.value,
                            s.uncertainty ? fmt::format(" ± {}", *s.uncertainty) : "", s.percent ? " %" : "");
    }
    text += "\nWhat can be done with it\n  yes: reading its statistics beside those that Flipscope computes\n"
            "  no:  windows, flips by position, tokens: a printout holds totals only (open the base files)\n";
    text += fmt::format("\nTo know\n  {}\n", about);
    for (const Finding& f : log.findings)
        text += "  " + visible(f.text) + '\n';
    return text;
}

} // namespace flipscope
