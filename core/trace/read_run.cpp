// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/read_parts.h"

#include <fmt/ranges.h>

namespace flipscope::reading {

namespace {

constexpr std::uint64_t max_packages = 100'000;
constexpr std::uint64_t max_log_lines = 1'000'000;

} // namespace

void read_run(Source& source, const h5::Group& root, Trace& trace)
{
    if (!h5::has(root, "run"))
        return;
    const auto group = h5::open_group(root, "run");
    if (!group)
        return leave_out(trace.findings, "The settings of the run are", group.error());
    const auto attributes = source.note_attributes(group->id.id(), group->path, trace.findings);
    for (const auto& a : attributes.all())
        trace.run.emplace_back(a.name, a.text); // sorted by name already
    if (h5::has(*group, "packages")) {
        if (auto packages = h5::read_strings(*group, "packages", max_packages))
            trace.packages = std::move(*packages);
        else
            leave_out(trace.findings, "The list of packages is", packages.error());
    }
    if (h5::has(*group, "launch_log")) {
        if (const auto lines = h5::read_strings(*group, "launch_log", max_log_lines))
            trace.launch_log = fmt::format("{}", fmt::join(*lines, "\n")); // one text, or a list of lines
        else
            leave_out(trace.findings, "The launch log is", lines.error());
    }
}

} // namespace flipscope::reading
