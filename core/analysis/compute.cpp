// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compute.h"

#include "core/analysis/cache.h"
#include "core/analysis/checks/checks.h"
#include "core/analysis/list_pairs.h"
#include "core/analysis/row_stream.h"
#include "core/analysis/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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

/// The engine that was asked for, and the CPU where it fails midway.
class SteadyEngine {
public:
    SteadyEngine(Engine& engine, int threads, std::vector<std::string>& notices)
        : engine_(engine), threads_(threads), notices_(notices)
    {
    }

    Result<void> compute(const PairBlock& block, std::span<ProbeMetrics> out, const std::stop_token& stop)
    {
        if (cpu_)
            return cpu_->compute(block, out, stop);
        auto done = engine_.compute(block, out, stop);
        for (std::string& notice : engine_.take_notices())
            notices_.push_back(std::move(notice));
        if (done || engine_.name() == "cpu" ||
            (done.error().kind != ErrorKind::Device && done.error().kind != ErrorKind::OutOfMemory))
            return done;
        notices_.push_back(fmt::format("The rest was computed on the CPU: {}", done.error().message));
        cpu_ = make_cpu_engine(threads_);
        return cpu_->compute(block, out, stop);
    }

    bool failed() const { return cpu_ != nullptr; }
    std::string detail() const
    {
        return cpu_ ? fmt::format("{}, then the CPU ({})", engine_.detail(), cpu_->detail()) : engine_.detail();
    }

private:
    Engine& engine_;
    int threads_;
    std::vector<std::string>& notices_;
    std::unique_ptr<Engine> cpu_;
};

/// Probability of the ids from `vocab` on, given the log-sum-exp of those before; 0 where the row ends there.
double mass_outside(const RowView& view, std::int64_t row, std::int64_t columns, std::int32_t vocab, double lse)
{
    const std::byte* data = view.data + row * view.stride;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = vocab; i < columns; ++i)
        largest = std::max(largest, widen(data, view.type, static_cast<std::size_t>(i)));
    if (std::isinf(largest) && largest < 0)
        return 0;
    double sum = 0;
    for (std::int64_t i = vocab; i < columns; ++i)
        sum += std::exp(widen(data, view.type, static_cast<std::size_t>(i)) - largest);
    const double x = largest + std::log(sum) - lse;
    // tail / (head + tail), from the side that does not overflow
    return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

/// Probes of two sets that are computed together.
struct Group {
    const ProbeSet& baseline;
    const ProbeSet& run;
    std::vector<MatchedProbe> pairs;
    std::vector<std::size_t> places; ///< of each pair in the table

    bool lists() const { return baseline.kind == ProbeSet::Kind::TopK || run.kind == ProbeSet::Kind::TopK; }
    std::int64_t bytes() const
    {
        if (pairs.empty()) // such a set may have no rows at all
            return 0;
        const auto row = [](const ProbeSet& s) {
            return s.kind == ProbeSet::Kind::Full ? s.rows->row_bytes() : s.lists->k() * 8;
        };
        return static_cast<std::int64_t>(pairs.size()) * (row(baseline) + row(run));
    }
};

std::int8_t top1_verdict(const ProbeSet& p, const ProbeSet& q, const MatchedProbe& pair)
{
    const auto at = [](const ProbeSet& s, std::int64_t row) {
        return static_cast<std::size_t>(row) < s.top1.size() ? s.top1[static_cast<std::size_t>(row)] : -1;
    };
    const std::int32_t a = at(p, pair.baseline_row), b = at(q, pair.run_row);
    return static_cast<std::int8_t>(a < 0 || b < 0 ? -1 : a != b ? 1 : 0);
}

/// One NaN for all, so that equal tables are equal bit for bit.
void make_canonical(ProbeMetrics& m)
{
    for (double* v : {&m.kl_pq,          &m.kl_qp,     &m.js,        &m.tv,           &m.margin,        &m.p_top,
                      &m.q_top,          &m.entropy_p, &m.entropy_q, &m.nll_p,        &m.nll_q,         &m.dp,
                      &m.max_abs_dlogit, &m.lse_p,     &m.lse_q,     &m.top5_overlap, &m.top10_overlap, &m.outside_p,
                      &m.outside_q,      &m.kept_p,    &m.kept_q,    &m.id_overlap})
        if (std::isnan(*v))
            *v = nan;
}

/// Computes one pair of traces, group by group.
class Computation {
public:
    Computation(const Trace& baseline, const Trace& run, Engine& engine, int threads, MetricsTable& table,
                const Job& job)
        : baseline_(baseline), run_(run), engine_(engine), steady_(engine, threads, table.notices), table_(table),
          job_(job)
    {
    }

    Result<void> run()
    {
        table_.probes.resize(table_.alignment.probes.size());
        table_.dense.resize(table_.alignment.dense.size());
        Group probes{baseline_.probes, run_.probes, table_.alignment.probes, {}};
        for (std::size_t i = 0; i < probes.pairs.size(); ++i)
            probes.places.push_back(i);
        const std::vector<Group> dense = dense_groups();
        total_ = probes.bytes();
        for (const Group& group : dense)
            total_ += group.bytes();
        auto done = compute(probes, table_.probes);
        for (const Group& group : dense)
            if (done)
                done = compute(group, table_.dense);
        table_.engine = engine_.name();
        table_.engine_detail = steady_.detail();
        table_.rows_hash = hashes_.hex();
        return done;
    }

    bool engine_failed() const { return steady_.failed(); }

private:
    std::vector<Group> dense_groups() const
    {
        std::map<std::pair<std::int32_t, std::int32_t>, Group> groups;
        const auto& pairs = table_.alignment.dense;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto p = static_cast<std::size_t>(pairs[i].baseline_set);
            const auto q = static_cast<std::size_t>(pairs[i].run_set);
            Group empty{baseline_.dense[p], run_.dense[q], {}, {}};
            Group& group = groups.try_emplace({pairs[i].baseline_set, pairs[i].run_set}, empty).first->second;
            group.pairs.push_back(pairs[i]);
            group.places.push_back(i);
        }
        std::vector<Group> all;
        all.reserve(groups.size());
        for (auto& [sets, group] : groups)
            all.push_back(std::move(group));
        return all;
    }

    /// The history's own next token, from whichever history goes on; -1 = none, or none of the compared ids.
    std::int32_t next_id(std::int64_t position, std::int64_t vocab) const
    {
        const auto next = static_cast<std::size_t>(position) + 1;
        const auto& p = baseline_.tokens.ids;
        const auto& q = run_.tokens.ids;
        std::int32_t id = next < p.size() ? p[next] : unknown_id;
        if (id == unknown_id && next < q.size())
            id = q[next];
        return id >= 0 && id < vocab ? id : -1;
    }

    Result<void> compute(const Group& group, std::vector<ProbeMetrics>& out)
    {
        if (group.pairs.empty())
            return {};
        std::vector<ProbeMetrics> metrics(group.pairs.size());
        auto done = group.lists() ? compute_lists(group, metrics) : compute_rows(group, metrics);
        for (std::size_t i = 0; done && i < metrics.size(); ++i) {
            metrics[i].position = group.pairs[i].position;
            metrics[i].flip_top1 = top1_verdict(group.baseline, group.run, group.pairs[i]);
            make_canonical(metrics[i]);
            out[group.places[i]] = metrics[i];
        }
        return done;
    }

    Result<void> compute_lists(const Group& group, std::vector<ProbeMetrics>& metrics)
    {
        std::vector<std::int32_t> next;
        for (const MatchedProbe& pair : group.pairs)
            next.push_back(next_id(pair.position, std::numeric_limits<std::int32_t>::max()));
        return compute_list_pairs(group.baseline, group.run, group.pairs, next, metrics, hashes_, job_.stop,
                                  [&](std::int64_t bytes) {
                                      done_ += bytes;
                                      tell({});
                                  });
    }

    Result<void> compute_rows(const Group& group, std::vector<ProbeMetrics>& metrics)
    {
        const RowPairs rows{*group.baseline.rows, *group.run.rows, group.pairs};
        const std::int64_t p_columns = rows.baseline.columns(), q_columns = rows.run.columns();
        const auto vocab = static_cast<std::int32_t>(
            std::min({p_columns, q_columns, std::int64_t{std::numeric_limits<std::int32_t>::max()}}));
        std::vector<std::int32_t> next;
        for (const MatchedProbe& pair : group.pairs)
            next.push_back(next_id(pair.position, vocab));
        RowUse use;
        use.compute = [&](const RowBlock& block, Engine& engine) -> Result<void> {
            const auto first = static_cast<std::size_t>(block.first), count = static_cast<std::size_t>(block.rows);
            const std::span out = std::span(metrics).subspan(first, count);
            const PairBlock pairs{block.baseline, block.run, block.rows, vocab, next.data() + first};
            if (auto done = &engine == &engine_ ? steady_.compute(pairs, out, job_.stop)
                                                : engine.compute(pairs, out, job_.stop);
                !done)
                return done;
            for (std::size_t i = 0; i < count; ++i) {
                ProbeMetrics& m = out[i];
                const bool other_vocab = p_columns != q_columns && m.valid;
                const auto row = static_cast<std::int64_t>(i);
                m.outside_p = other_vocab ? mass_outside(block.baseline, row, p_columns, vocab, m.lse_p) : nan;
                m.outside_q = other_vocab ? mass_outside(block.run, row, q_columns, vocab, m.lse_q) : nan;
                m.kept_p = m.kept_q = m.id_overlap = nan;
            }
            return {};
        };
        const std::int64_t before = done_;
        use.progress = [&](const StreamTimes& times) {
            done_ = before + times.bytes;
            tell(fmt::format("{:.2f} GB/s, bound by {}", times.gigabytes_per_second(), times.bound()));
        };
        const auto times = stream_rows(rows, engine_, hashes_, job_.stop, use);
        if (!times)
            return tl::unexpected(times.error());
        table_.times.add(*times);
        return {};
    }

    void tell(std::string pace)
    {
        job_.progress({fmt::format("Reading {} against {}", run_.run_name, baseline_.run_name), done_, total_, true,
                       std::move(pace)});
    }

    const Trace& baseline_;
    const Trace& run_;
    Engine& engine_;
    SteadyEngine steady_;
    MetricsTable& table_;
    const Job& job_;
    RowHashes hashes_;
    std::int64_t done_ = 0, total_ = 0;
};

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

} // namespace

Result<TablePtr> compute_table(const TracePtr& baseline, const TracePtr& run, Engine& engine,
                               const ComputeOptions& options, const Job& job)
{
    for (const Trace* trace : {baseline.get(), run.get()})
        if (auto same = check_unchanged(*trace); !same)
            return tl::unexpected(same.error());
    auto alignment = align(*baseline, *run);
    if (!alignment)
        return tl::unexpected(alignment.error());

    if (auto stored = stored_table(*baseline, *run, *alignment))
        return std::make_shared<const MetricsTable>(std::move(*stored));

    for (const Findings& more : {check_statements(*baseline, *run), check_temperature(*baseline, *run, *alignment)})
        alignment->findings.insert(alignment->findings.end(), more.begin(), more.end());

    const auto cache = options.use_cache ? TableCache::of_user() : std::nullopt;
    const auto key = cache ? TableCache::key(*baseline, *run, engine.name()) : std::nullopt;
    std::optional<MetricsTable> cached;
    if (key)
        cached = load(*cache, *key, *alignment);
    if (cached && !options.refresh) {
        note_numbers(*baseline, *run, *cached);
        return std::make_shared<const MetricsTable>(std::move(*cached));
    }

    MetricsTable table;
    table.alignment = std::move(*alignment);
    Computation computation(*baseline, *run, engine, options.threads, table, job);
    const auto done = computation.run();
    if (!done && done.error().kind == ErrorKind::Cancelled)
        return tl::unexpected(done.error());
    // Also after an error of reading: that the file changed is then the better explanation.
    for (const Trace* trace : {baseline.get(), run.get()})
        if (auto same = check_unchanged(*trace); !same)
            return tl::unexpected(same.error());
    if (!done)
        return tl::unexpected(done.error());
    if (options.refresh)
        table.notices.push_back(verdict_of(cached, table));
    // A table of two engines is not what a later run of either would give bit for bit.
    if (key && !computation.engine_failed())
        cache->store(*key, table);
    note_numbers(*baseline, *run, table);
    return std::make_shared<const MetricsTable>(std::move(table));
}

} // namespace flipscope
