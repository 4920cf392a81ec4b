// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compute.h"

#include "core/analysis/cache.h"
#include "core/analysis/checks/checks.h"
#include "core/analysis/computation.h"
#include "core/analysis/summary.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace flipscope {

namespace {

/// One clear error instead of numbers from two states of a file. Traces in memory have no stamp.
Result<void> check_unchanged(const Trace& trace)
{
    if (trace.stamp == FileStamp{})
        return {};
    const auto now = stamp_of(trace.path);
    if (!now)
        return fail(now.error().kind, "{} cannot be read any more: {} Open it again.", trace.path.string(),
                    now.error().message);
    if (*now != trace.stamp)
        return fail(ErrorKind::Unreadable, "{} changed on disk since it was opened: open it again.",
                    trace.path.string());
    return {};
}

void note_outside(MetricsTable& table)
{
    if (table.alignment.top_k || table.alignment.baseline_vocab == table.alignment.run_vocab)
        return;
    double most_p = 0, most_q = 0;
    for (const ProbeMetrics& m : table.probes) {
        most_p = std::max(most_p, m.valid ? m.outside_p : 0);
        most_q = std::max(most_q, m.valid ? m.outside_q : 0);
    }
    table.alignment.findings.push_back(
        {std::max(most_p, most_q) > 1e-3 ? Finding::Level::Warning : Finding::Level::Note, "outside-mass",
         fmt::format("Probability mass outside the shared ids: at most {:.3g} in the baseline and {:.3g} in the run, "
                     "at any probe.",
                     most_p, most_q)});
}

/// What can only be said about an alignment once the rows were read.
void note_numbers(const Trace& baseline, const Trace& run, MetricsTable& table)
{
    note_outside(table);
    Findings more = check_numbers(baseline, run, table);
    auto& findings = table.alignment.findings;
    findings.insert(findings.end(), more.begin(), more.end());
}

std::string verdict_of(const std::optional<MetricsTable>& cached, const MetricsTable& fresh)
{
    if (!cached)
        return "Verified nothing: there was no cached table to compare with.";
    const std::int64_t other = different_probes(fresh, *cached);
    const bool rows_equal = cached->rows_hash == fresh.rows_hash;
    if (other == 0 && rows_equal)
        return fmt::format("Verified: all numbers of {} probes and the hash of the rows ({}) are those of the cached "
                           "table.",
                           fresh.probes.size() + fresh.dense.size(), fresh.rows_hash);
    if (rows_equal)
        return fmt::format(
            "Verification failed: {} probes have other numbers than in the cached table although the rows "
            "are the same; the cached table was replaced.",
            other);
    return fmt::format(
        "Verification failed: the rows are not those the cached table was made from ({} probes have other "
        "numbers), although the files' sizes and times are the same; the cached table was replaced.",
        other);
}

bool same_probes(const std::vector<MatchedProbe>& a, const std::vector<MatchedProbe>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const MatchedProbe& x, const MatchedProbe& y) {
        return x.position == y.position && x.baseline_row == y.baseline_row && x.run_row == y.run_row &&
               x.baseline_set == y.baseline_set && x.run_set == y.run_set;
    });
}

/// The table from the cache, with today's alignment (names may have changed); nullopt where it does not fit.
std::optional<MetricsTable> load(const TableCache& cache, const std::string& key, const Alignment& alignment)
{
    auto table = cache.load(key);
    if (!table || !same_probes(table->alignment.probes, alignment.probes) ||
        !same_probes(table->alignment.dense, alignment.dense))
        return std::nullopt;
    table->alignment = alignment;
    return table;
}

/// A table on its way.
struct Pending {
    TracePtr baseline, run;
    MetricsTable table; ///< so far its alignment
    std::optional<TableCache> cache;
    std::optional<std::string> key;     ///< in the cache
    std::optional<MetricsTable> cached; ///< what it is to be compared with
};

Result<void> check_unchanged(const Pending& p)
{
    for (const Trace* trace : {p.baseline.get(), p.run.get()})
        if (auto same = check_unchanged(*trace); !same)
            return same;
    return {};
}

/// The table where nothing needs to be computed; else null, and `pending` is ready to be computed.
Result<TablePtr> prepare(const TracePtr& baseline, const TracePtr& run, const Engine& engine,
                         const ComputeOptions& options, Pending& pending)
{
    pending.baseline = baseline;
    pending.run = run;
    if (auto same = check_unchanged(pending); !same)
        return tl::unexpected(same.error());
    auto alignment = align(*baseline, *run);
    if (!alignment)
        return tl::unexpected(alignment.error());

    if (auto stored = stored_table(*baseline, *run, *alignment))
        return std::make_shared<const MetricsTable>(std::move(*stored));

    for (const Findings& more : {check_statements(*baseline, *run), check_temperature(*baseline, *run, *alignment)})
        alignment->findings.insert(alignment->findings.end(), more.begin(), more.end());

    pending.cache = options.use_cache ? TableCache::of_user() : std::nullopt;
    pending.key = pending.cache ? TableCache::key(*baseline, *run, engine.name()) : std::nullopt;
    if (pending.key)
        pending.cached = load(*pending.cache, *pending.key, *alignment);
    if (pending.cached && !options.refresh) {
        note_numbers(*baseline, *run, *pending.cached);
        return std::make_shared<const MetricsTable>(std::move(*pending.cached));
    }
    pending.table.alignment = std::move(*alignment);
    return TablePtr();
}

/// The computed table; `done` is what computing came to.
Result<TablePtr> finish(Pending& pending, const Result<void>& done, bool engine_failed, const ComputeOptions& options)
{
    if (!done && done.error().kind == ErrorKind::Cancelled)
        return tl::unexpected(done.error());
    // Also after an error of reading: that the file changed is then the better explanation.
    if (auto same = check_unchanged(pending); !same)
        return tl::unexpected(same.error());
    if (!done)
        return tl::unexpected(done.error());
    MetricsTable& table = pending.table;
    if (options.refresh)
        table.notices.push_back(verdict_of(pending.cached, table));
    // A table of two engines is not what a later run of either would give bit for bit.
    if (pending.key && !engine_failed)
        pending.cache->store(*pending.key, table);
    note_numbers(*pending.baseline, *pending.run, table);
    return std::make_shared<const MetricsTable>(std::move(table));
}

} // namespace

Result<TablePtr> compute_table(const TracePtr& baseline, const TracePtr& run, Engine& engine,
                               const ComputeOptions& options, const Job& job)
{
    Pending pending;
    auto ready = prepare(baseline, run, engine, options, pending);
    if (!ready || *ready)
        return ready;
    ComputedRun computed{*run, pending.table};
    const auto done = compute_together(*baseline, {&computed, 1}, engine, options, job);
    return finish(pending, done, computed.engine_failed, options);
}

std::vector<Result<TablePtr>> compute_tables(const TracePtr& baseline, std::span<const TracePtr> runs, Engine& engine,
                                             const ComputeOptions& options, const Job& job, const TableHeard& heard)
{
    std::vector<Result<TablePtr>> tables(runs.size());
    const auto found = [&](std::size_t i, Result<TablePtr> table) {
        tables[i] = std::move(table);
        if (heard)
            heard(i, tables[i]);
    };
    if (!computes_together(engine)) { // takes one pair after the other anyway
        for (std::size_t i = 0; i < runs.size(); ++i)
            found(i, job.cancelled() ? Result<TablePtr>(cancelled())
                                     : compute_table(baseline, runs[i], engine, options, job));
        return tables;
    }
    std::vector<Pending> pending(runs.size());
    std::vector<std::size_t> waiting; // of `runs`
    std::vector<ComputedRun> computed;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        auto ready = prepare(baseline, runs[i], engine, options, pending[i]);
        if (!ready || *ready) {
            found(i, std::move(ready));
            continue;
        }
        waiting.push_back(i);
        computed.push_back({*runs[i], pending[i].table});
    }
    const auto done = compute_together(*baseline, computed, engine, options, job);
    const bool alone = !done && done.error().kind != ErrorKind::Cancelled && waiting.size() > 1;
    for (std::size_t w = 0; w < waiting.size(); ++w) {
        const std::size_t i = waiting[w];
        // Whose error it was shows when each is computed by itself; the others have their numbers then.
        found(i, alone ? compute_table(baseline, runs[i], engine, options, job)
                       : finish(pending[i], done, computed[w].engine_failed, options));
    }
    return tables;
}

} // namespace flipscope
