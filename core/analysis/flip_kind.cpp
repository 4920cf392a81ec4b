// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/flip_kind.h"

#include <algorithm>
#include <cmath>

namespace flipscope {

namespace {

struct Format {
    int bits;  ///< of the significand, without the leading one
    int least; ///< exponent of the smallest normal number
};

Format format_of(LogitType type)
{
    switch (type) {
    case LogitType::BF16:
        return {7, -126};
    case LogitType::F16:
        return {10, -14};
    case LogitType::F32:
        return {23, -126};
    case LogitType::F64:
        break;
    }
    return {52, -1022};
}

} // namespace

const char* name_of(FlipKind kind)
{
    switch (kind) {
    case FlipKind::None:
        return "";
    case FlipKind::Tie:
        return "tie";
    case FlipKind::OneStep:
        return "one step";
    case FlipKind::Clear:
        return "clear";
    }
    return "";
}

double step_below(double logit, LogitType type)
{
    if (!std::isfinite(logit))
        return 0;
    const Format format = format_of(type);
    const auto step_of = [&](double x) {
        const int exponent = x == 0 ? format.least : std::max(std::ilogb(x), format.least);
        return std::ldexp(1.0, exponent - format.bits);
    };
    double step = step_of(logit);
    const double rounded = std::round(logit / step) * step;
    step = step_of(rounded);
    // Right below a power of two the numbers lie twice as dense.
    const double below = rounded - step / 2;
    return rounded > 0 && step_of(below) < step ? step / 2 : step;
}

std::optional<LogitType> stored_type(const Trace& trace)
{
    if (trace.probes.kind != ProbeSet::Kind::Full || !trace.probes.rows)
        return {};
    return trace.probes.rows->type();
}

double top_logit(const ProbeMetrics& probe)
{
    return probe.lse_p + std::log(probe.p_top);
}

FlipKind flip_kind(const ProbeMetrics& probe, std::optional<LogitType> type)
{
    if (!probe.valid || !probe.flip)
        return FlipKind::None;
    if (probe.tied)
        return FlipKind::Tie;
    // The logit comes out of a sum and a logarithm: a hair of slack.
    if (type && probe.margin <= step_below(top_logit(probe), *type) * (1 + 1e-6))
        return FlipKind::OneStep;
    return FlipKind::Clear;
}

FlipKinds count_flips(std::span<const ProbeMetrics> probes, std::optional<LogitType> type)
{
    FlipKinds kinds;
    for (const ProbeMetrics& probe : probes) {
        const FlipKind kind = flip_kind(probe, type);
        kinds.tie += kind == FlipKind::Tie ? 1 : 0;
        kinds.one_step += kind == FlipKind::OneStep ? 1 : 0;
        kinds.clear += kind == FlipKind::Clear ? 1 : 0;
    }
    return kinds;
}

} // namespace flipscope
