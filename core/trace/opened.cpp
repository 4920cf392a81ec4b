// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/opened.h"

#include "core/trace/content_key.h"
#include "core/trace/selected_rows.h"
#include "core/trace/shift.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope {

namespace {

bool has_padding(const Trace& trace)
{
    return trace.vocabulary && trace.probes.kind == ProbeSet::Kind::Full &&
           static_cast<std::int64_t>(trace.vocabulary->text.size()) < trace.probes.n_vocab;
}

Finding padding_finding(const Trace& trace)
{
    const std::size_t known = trace.vocabulary->text.size();
    return {
        Finding::Level::Note, "padding",
        fmt::format("The rows have {} columns and the vocabulary has {} tokens: the columns behind are padding, and "
                    "count like any id unless they are left out (--vocab {}).",
                    trace.probes.n_vocab, known, known)};
}

/// Leaves out what a person says is padding.
void leave_out_padding(Trace& t, std::int64_t columns)
{
    const std::int64_t all = t.probes.n_vocab;
    keep_columns(t.probes, columns);
    for (ProbeSet& set : t.dense)
        keep_columns(set, columns);
    t.findings.push_back(
        {Finding::Level::Note, "padding-left-out",
         fmt::format("The first {} of {} columns are read, as asked; the rest is taken for padding.", columns, all)});
    for (auto& [key, value] : t.run) // no longer the rows that llama.cpp's own statistics are about
        if (key == "codec")
            value += fmt::format(", {} of {} ids", columns, all);
    t.run.emplace_back("columns_read", fmt::format("{} of {}", columns, all));
    std::sort(t.run.begin(), t.run.end());
    t.metrics.reset();
    t.content_key = content_key_of(t, fmt::format("{} cut to {}", t.content_key, columns));
}

} // namespace

Result<TracePtr> opened(Result<TracePtr> trace, const OpenHints& hints)
{
    if (!trace)
        return trace;
    const bool cut = hints.vocabulary && (*trace)->probes.kind == ProbeSet::Kind::Full &&
                     *hints.vocabulary < (*trace)->probes.n_vocab;
    const bool doubled = starts_doubled(**trace), padded = !cut && has_padding(**trace);
    if (!cut && !doubled && !padded && hints.shift == 0)
        return trace;
    auto changed = std::make_shared<Trace>(**trace);
    if (cut)
        leave_out_padding(*changed, *hints.vocabulary);
    if (padded)
        changed->findings.push_back(padding_finding(*changed));
    if (doubled)
        note_doubled_start(*changed);
    return hints.shift == 0 ? TracePtr(std::move(changed)) : shifted(*changed, hints.shift);
}

} // namespace flipscope
