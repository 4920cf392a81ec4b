// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/checks/checks.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace flipscope {

namespace {

/// One side of a probe.
struct Side {
    double ProbeMetrics::*entropy;
    double ProbeMetrics::*lse;
    std::int32_t ProbeMetrics::*argmax;
    const std::string& name;
};

/// Full rows whose best token, entropy and log-sum-exp agree are copies of each other. The sums only nearly: how they
/// are rounded depends on the other side's row too.
bool copies(const ProbeMetrics& a, const ProbeMetrics& b, const Side& side)
{
    const auto near = [](double x, double y) { return std::abs(x - y) <= 1e-11 * std::max(1.0, std::abs(x)); };
    return a.valid != 0 && b.valid != 0 && !std::isnan(a.*side.entropy) && a.*side.argmax == b.*side.argmax &&
           near(a.*side.entropy, b.*side.entropy) && near(a.*side.lse, b.*side.lse);
}

void check_repeats(const MetricsTable& table, const Side& side, Findings& findings)
{
    std::int64_t repeats = 0, first = -1;
    for (std::size_t i = 1; i < table.probes.size(); ++i)
        if (copies(table.probes[i - 1], table.probes[i], side)) {
            first = repeats++ == 0 ? table.probes[i].position : first;
        }
    if (repeats == 0)
        return;
    const bool all = repeats + 1 == static_cast<std::int64_t>(table.probes.size()) && repeats > 1;
    findings.push_back(
        {Finding::Level::Warning, all ? "constant-rows" : "duplicate-rows",
         all ? fmt::format("All rows of {} are one and the same row: what it recorded does not follow the text.",
                           side.name)
             : fmt::format("{} of {} rows of {} are copies of the row before (first at position {}): an engine that "
                           "answers from a cache, or a capture that wrote a buffer twice, leaves such rows.",
                           repeats, table.probes.size(), side.name, first)});
}

void check_flat(const MetricsTable& table, const Side& side, Findings& findings)
{
    if (table.alignment.top_k || table.alignment.vocab < 2)
        return;
    const double flat = std::log(static_cast<double>(table.alignment.vocab));
    std::int64_t n = 0, first = -1;
    for (const ProbeMetrics& m : table.probes)
        if (m.valid != 0 && std::fabs(m.*side.entropy - flat) < 1e-9)
            first = n++ == 0 ? m.position : first;
    if (n > 0)
        findings.push_back({Finding::Level::Warning, "flat-rows",
                            fmt::format("{} row{} of {} {} flat, every token as likely as any other (first at position "
                                        "{}): rows that were never written are all zeros.",
                                        n, n == 1 ? "" : "s", side.name, n == 1 ? "is" : "are", first)});
}

/// One id without any probability in the run is enough; where these are columns that no token has, they can be left
/// out.
void check_infinite(const MetricsTable& table, const std::string& run, Findings& findings)
{
    std::int64_t n = 0, first = -1;
    for (const ProbeMetrics& m : table.probes)
        if (m.valid != 0 && std::isinf(m.kl_pq))
            first = n++ == 0 ? m.position : first;
    if (n == 0 || table.alignment.top_k)
        return;
    findings.push_back({Finding::Level::Warning, "infinite-kl",
                        fmt::format("KL(P‖Q) is infinite at {} of {} probes (first at position {}): {} gives some ids "
                                    "no probability at all that the baseline gives some; where these are padding "
                                    "behind the vocabulary, --vocab with its size leaves them out.",
                                    n, table.probes.size(), first, run)});
}

/// Rows recorded one place early or late agree with a neighbour of the token they should predict.
void check_shift(const Trace& trace, const MetricsTable& table, const Side& side, Findings& findings)
{
    constexpr std::size_t enough = 16;
    const auto& ids = trace.tokens.ids;
    if (table.probes.size() < enough)
        return;
    const auto fitting = [&](std::int64_t shift) {
        std::int64_t fit = 0;
        for (const ProbeMetrics& m : table.probes) {
            const std::int64_t at = m.position + 1 + shift;
            fit += m.valid != 0 && at >= 0 && at < static_cast<std::int64_t>(ids.size()) &&
                   ids[static_cast<std::size_t>(at)] == m.*side.argmax;
        }
        return fit;
    };
    const std::int64_t own = fitting(0);
    for (const std::int64_t shift : {std::int64_t{-1}, std::int64_t{1}})
        if (const std::int64_t fit = fitting(shift);
            fit >= 3 * std::max<std::int64_t>(1, own) && fit * 4 >= static_cast<std::int64_t>(table.probes.size()))
            findings.push_back({Finding::Level::Warning, "off-by-one",
                                fmt::format("The likeliest tokens of {} fit the token {} the one that its rows should "
                                            "predict ({} of {} against {}): the rows seem to be recorded one position "
                                            "{}.",
                                            side.name, shift < 0 ? "before" : "after", fit, table.probes.size(), own,
                                            shift < 0 ? "late" : "early")});
}

} // namespace

Findings check_numbers(const Trace& baseline, const Trace& run, const MetricsTable& table)
{
    Findings findings;
    const Side sides[] = {{&ProbeMetrics::entropy_p, &ProbeMetrics::lse_p, &ProbeMetrics::argmax_p, baseline.run_name},
                          {&ProbeMetrics::entropy_q, &ProbeMetrics::lse_q, &ProbeMetrics::argmax_q, run.run_name}};
    for (const Side& side : sides) {
        check_repeats(table, side, findings);
        check_flat(table, side, findings);
        check_shift(&side == sides ? baseline : run, table, side, findings);
    }
    check_infinite(table, run.run_name, findings);
    if (bit_identical(table)) {
        std::string differing;
        for (const auto& [key, value] : baseline.run)
            if (const std::string* other = run.setting(key);
                other != nullptr && *other != value &&
                (key == "weights" || key == "kv_cache_dtype" || key == "attention_backend" || key == "activations"))
                differing += (differing.empty() ? "" : ", ") + key;
        if (!differing.empty())
            findings.push_back({Finding::Level::Warning, "same-data",
                                fmt::format("Every row is bit-identical although the files state other settings ({}): "
                                            "the setting may not have taken effect, or one file is a copy.",
                                            differing)});
    }
    return findings;
}

} // namespace flipscope
