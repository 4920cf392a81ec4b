// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/flip_stops.h"

#include <algorithm>
#include <cmath>

namespace flipscope {

namespace {

bool inToolCall(const Trace& history, qint64 token)
{
    return std::ranges::any_of(history.spans, [token](const Span& span) {
        return span.kind == "tool_call" && span.start <= token && token < span.end;
    });
}

} // namespace

std::vector<qint64> flipStops(const ProbeLookup& probes, FlipStops which, const Trace& history, double margin)
{
    std::vector<qint64> stops;
    const auto type = stored_type(history);
    for (const qint64 position : probes.flips()) {
        const ProbeMetrics& probe = *probes.at(position);
        const bool wanted = which == FlipStops::All           ? true
                            : which == FlipStops::Clear       ? flip_kind(probe, type) == FlipKind::Clear
                            : which == FlipStops::AboveMargin ? probe.margin > margin
                                                              : inToolCall(history, position + 1);
        if (wanted)
            stops.push_back(position);
    }
    return stops;
}

std::optional<qint64> largestKl(const ProbeLookup& probes)
{
    std::optional<qint64> largest;
    double most = 0;
    for (const qint64 position : probes.positions()) {
        const ProbeMetrics& probe = *probes.at(position);
        if (!probe.valid || std::isnan(probe.kl_pq) || (largest && !(probe.kl_pq > most)))
            continue;
        largest = position;
        most = probe.kl_pq;
    }
    return largest;
}

} // namespace flipscope
