// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/computation.h"

#include "core/analysis/known_rows.h"
#include "core/analysis/list_pairs.h"
#include "core/analysis/row_stream.h"
#include "core/analysis/steady_engine.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Probability of the ids from `vocab` on, given the log-sum-exp of those before; 0 where the row ends there.
double mass_outside(const RowView& view, std::int64_t row, std::int64_t columns, std::int32_t vocab, double lse)
{
    if (columns <= vocab)
        return 0;
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
    std::size_t part; ///< whose they are
    const ProbeSet& baseline;
    const ProbeSet& run;
    std::vector<MatchedProbe> pairs;
    std::vector<std::size_t> places;                               ///< of each pair in the table
    std::int32_t vocab = std::numeric_limits<std::int32_t>::max(); ///< ids that both have
    std::vector<std::int32_t> next = {};                           ///< the history's next id, by pair; -1 = none

    bool lists() const { return baseline.kind == ProbeSet::Kind::TopK || run.kind == ProbeSet::Kind::TopK; }
    static std::int64_t row_bytes(const ProbeSet& s)
    {
        return s.kind == ProbeSet::Kind::Full ? s.rows->row_bytes() : s.lists->k() * 8;
    }
};

/// Groups of several runs whose rows are read along one baseline.
using Bundle = std::vector<Group>;

std::int64_t bytes_of(const Bundle& bundle)
{
    const auto pairs = static_cast<std::int64_t>(bundle.front().pairs.size());
    if (pairs == 0) // such a set may have no rows at all
        return 0;
    std::int64_t row = Group::row_bytes(bundle.front().baseline);
    for (const Group& group : bundle)
        row += Group::row_bytes(group.run);
    return pairs * row;
}

bool fit_together(const Group& a, const Group& b)
{
    return !a.lists() && !b.lists() && &a.baseline == &b.baseline && a.vocab == b.vocab && a.next == b.next &&
           std::equal(a.pairs.begin(), a.pairs.end(), b.pairs.begin(), b.pairs.end(),
                      [](const MatchedProbe& x, const MatchedProbe& y) {
                          return x.position == y.position && x.baseline_row == y.baseline_row;
                      });
}

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

/// Computes runs against their baseline, bundle by bundle.
class Computation {
public:
    Computation(const Trace& baseline, std::span<ComputedRun> runs, Engine& engine, const ComputeOptions& options,
                const Job& job)
        : baseline_(baseline), runs_(runs), engine_(engine), steady_(engine, options.threads), verify_(options.refresh),
          keep_rows_(options.keep_rows), job_(job), hashes_(runs.size())
    {
    }

    Result<void> run()
    {
        for (ComputedRun& run : runs_) {
            run.table.probes.resize(run.table.alignment.probes.size());
            run.table.dense.resize(run.table.alignment.dense.size());
        }
        const std::vector<Bundle> bundles = make_bundles();
        for (const Bundle& bundle : bundles)
            total_ += bytes_of(bundle);
        Result<void> done;
        for (const Bundle& bundle : bundles)
            if (done)
                done = compute(bundle);
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            MetricsTable& table = runs_[i].table;
            table.engine = engine_.name();
            table.engine_detail = runs_[i].engine_failed ? steady_.detail() : engine_.detail();
            table.rows_hash = hashes_[i].hex();
        }
        return done;
    }

private:
    std::deque<Group> groups_of(std::size_t part) const
    {
        const Trace& run = runs_[part].run;
        const Alignment& alignment = runs_[part].table.alignment;
        std::deque<Group> all;
        Group probes{part, baseline_.probes, run.probes, alignment.probes, {}};
        for (std::size_t i = 0; i < probes.pairs.size(); ++i)
            probes.places.push_back(i);
        all.push_back(std::move(probes));
        std::map<std::pair<std::int32_t, std::int32_t>, Group> dense;
        for (std::size_t i = 0; i < alignment.dense.size(); ++i) {
            const MatchedProbe& pair = alignment.dense[i];
            const auto p = static_cast<std::size_t>(pair.baseline_set), q = static_cast<std::size_t>(pair.run_set);
            Group& group = dense
                               .try_emplace({pair.baseline_set, pair.run_set},
                                            Group{part, baseline_.dense[p], run.dense[q], {}, {}})
                               .first->second;
            group.pairs.push_back(pair);
            group.places.push_back(i);
        }
        for (auto& [sets, group] : dense)
            all.push_back(std::move(group));
        for (Group& group : all) {
            if (!group.lists() && !group.pairs.empty())
                group.vocab = static_cast<std::int32_t>(
                    std::min<std::int64_t>({group.baseline.rows->columns(), group.run.rows->columns(), group.vocab}));
            for (const MatchedProbe& pair : group.pairs)
                group.next.push_back(next_id(run, pair.position, group.vocab));
        }
        return all;
    }

    /// Every run's groups keep their order, which its hash of rows shows. An engine with workers takes rows as they
    /// come from memory, pair after pair: it gains nothing from several runs.
    std::vector<Bundle> make_bundles() const
    {
        std::vector<std::deque<Group>> waiting;
        for (std::size_t i = 0; i < runs_.size(); ++i)
            waiting.push_back(groups_of(i));
        std::vector<Bundle> bundles;
        const auto take = [](Bundle& bundle, std::deque<Group>& from) {
            bundle.push_back(std::move(from.front()));
            from.pop_front();
        };
        for (std::size_t i = 0; i < waiting.size(); ++i)
            while (!waiting[i].empty()) {
                Bundle& bundle = bundles.emplace_back();
                take(bundle, waiting[i]);
                for (std::size_t j = i + 1; j < waiting.size() && computes_together(engine_); ++j)
                    if (bundle.size() < most_runs_together && !waiting[j].empty() &&
                        fit_together(bundle.front(), waiting[j].front()))
                        take(bundle, waiting[j]);
            }
        return bundles;
    }

    /// The history's own next token, from whichever history goes on; -1 = none, or none of the compared ids.
    std::int32_t next_id(const Trace& run, std::int64_t position, std::int64_t vocab) const
    {
        const auto next = static_cast<std::size_t>(position) + 1;
        const auto& p = baseline_.tokens.ids;
        const auto& q = run.tokens.ids;
        std::int32_t id = next < p.size() ? p[next] : unknown_id;
        if (id == unknown_id && next < q.size())
            id = q[next];
        return id >= 0 && id < vocab ? id : -1;
    }

    Result<void> compute(const Bundle& bundle)
    {
        const std::size_t count = bundle.front().pairs.size();
        if (count == 0)
            return {};
        std::vector<std::vector<ProbeMetrics>> metrics(bundle.size(), std::vector<ProbeMetrics>(count));
        auto done = bundle.front().lists()  ? compute_lists(bundle.front(), metrics.front())
                    : engine_.workers() > 0 ? compute_pair(bundle.front(), metrics.front())
                                            : compute_runs(bundle, metrics);
        for (std::size_t r = 0; done && r < bundle.size(); ++r) {
            const Group& group = bundle[r];
            MetricsTable& table = runs_[group.part].table;
            auto& out = &group.baseline == &baseline_.probes ? table.probes : table.dense;
            for (std::size_t i = 0; i < count; ++i) {
                metrics[r][i].position = group.pairs[i].position;
                metrics[r][i].flip_top1 = top1_verdict(group.baseline, group.run, group.pairs[i]);
                make_canonical(metrics[r][i]);
                out[group.places[i]] = metrics[r][i];
            }
        }
        return done;
    }

    Result<void> compute_lists(const Group& group, std::vector<ProbeMetrics>& metrics)
    {
        return compute_list_pairs(group.baseline, group.run, group.pairs, group.next, metrics, hashes_[group.part],
                                  job_.stop, [&](std::int64_t bytes) {
                                      done_ += bytes;
                                      tell(name_of(group), {});
                                  });
    }

    /// What engines do not fill.
    static void add_outside(const Group& group, const RowView& p, const RowView& q, std::span<ProbeMetrics> out)
    {
        const std::int64_t p_columns = group.baseline.rows->columns(), q_columns = group.run.rows->columns();
        for (std::size_t i = 0; i < out.size(); ++i) {
            ProbeMetrics& m = out[i];
            const bool other_vocab = p_columns != q_columns && m.valid;
            const auto row = static_cast<std::int64_t>(i);
            m.outside_p = other_vocab ? mass_outside(p, row, p_columns, group.vocab, m.lse_p) : nan;
            m.outside_q = other_vocab ? mass_outside(q, row, q_columns, group.vocab, m.lse_q) : nan;
            m.kept_p = m.kept_q = m.id_overlap = nan;
        }
    }

    std::function<void(const StreamTimes&)> progress_of(std::string what)
    {
        return [this, before = done_, what = std::move(what)](const StreamTimes& times) {
            done_ = before + times.bytes;
            tell(what, fmt::format("{:.2f} GB/s, bound by {}", times.gigabytes_per_second(), times.bound()));
        };
    }

    Result<void> compute_pair(const Group& group, std::vector<ProbeMetrics>& metrics)
    {
        RowUse use;
        use.compute = [&](const RowBlock& block, Engine& engine) -> Result<void> {
            const auto first = static_cast<std::size_t>(block.first), count = static_cast<std::size_t>(block.rows);
            const std::span out = std::span(metrics).subspan(first, count);
            const PairBlock pairs{block.baseline, block.run, block.rows, group.vocab, group.next.data() + first};
            auto done = engine.compute(pairs, out, job_.stop);
            if (done)
                add_outside(group, block.baseline, block.run, out);
            return done;
        };
        use.progress = progress_of(name_of(group));
        const auto times = stream_rows({*group.baseline.rows, *group.run.rows, group.pairs}, engine_,
                                       hashes_[group.part], job_.stop, use);
        if (!times)
            return tl::unexpected(times.error());
        runs_[group.part].table.times.add(*times);
        return {};
    }

    Result<void> compute_runs(const Bundle& bundle, std::vector<std::vector<ProbeMetrics>>& metrics)
    {
        const Group& first = bundle.front();
        std::vector<std::shared_ptr<KnownRows>> known;
        const auto side = [&](const ProbeSet& set, const Group& group) {
            if (verify_) // what is verified is read anew: what was kept may not be what lies there now
                forget_rows(set);
            return RowSide{*set.rows, group.pairs, keep_rows_ ? known.emplace_back(known_rows(set)).get() : nullptr};
        };
        RowsOfRuns rows{side(first.baseline, first), {}, first.vocab};
        std::vector<RowHashes*> hashes;
        for (const Group& group : bundle) {
            rows.runs.push_back(side(group.run, group));
            hashes.push_back(&hashes_[group.part]);
        }
        RunsUse use;
        std::vector<ProbeMetrics> all;
        use.compute = [&](BlockOfRuns& block) -> Result<void> {
            const auto from = static_cast<std::size_t>(block.first), count = static_cast<std::size_t>(block.rows);
            all.assign(count * bundle.size(), {});
            auto done = steady_.compute(block, first.vocab, first.next.data() + from, all, job_.stop);
            for (std::size_t r = 0; done && r < bundle.size(); ++r) {
                const std::span out = std::span(all).subspan(r * count, count);
                add_outside(bundle[r], block.baseline, block.runs[r], out);
                std::copy(out.begin(), out.end(), metrics[r].begin() + block.first);
            }
            return done;
        };
        use.progress = progress_of(bundle.size() == 1 ? name_of(first) : fmt::format("{} runs", bundle.size()));
        const auto times = stream_runs(rows, engine_, hashes, job_.stop, use);
        note_trouble(bundle);
        if (!times)
            return tl::unexpected(times.error());
        for (const Group& group : bundle)
            runs_[group.part].table.times.add(*times);
        return {};
    }

    /// To each of the bundle's runs, what the engine said while they were computed, or before, where it is lost since.
    void note_trouble(const Bundle& bundle)
    {
        const std::vector<std::string>& all = steady_.notices();
        for (const Group& group : bundle) {
            ComputedRun& run = runs_[group.part];
            run.engine_failed = steady_.failed();
            auto& notices = run.table.notices;
            for (std::size_t i = steady_.failed() ? 0 : told_; i < all.size(); ++i)
                if (std::find(notices.begin(), notices.end(), all[i]) == notices.end())
                    notices.push_back(all[i]);
        }
        told_ = all.size();
    }

    const std::string& name_of(const Group& group) const { return runs_[group.part].run.run_name; }

    void tell(const std::string& what, std::string pace)
    {
        job_.progress(
            {fmt::format("Reading {} against {}", what, baseline_.run_name), done_, total_, true, std::move(pace)});
    }

    const Trace& baseline_;
    std::span<ComputedRun> runs_;
    Engine& engine_;
    SteadyEngine steady_;
    bool verify_, keep_rows_;
    const Job& job_;
    std::vector<RowHashes> hashes_; ///< by run
    std::size_t told_ = 0;          ///< of the engine's notices
    std::int64_t done_ = 0, total_ = 0;
};

} // namespace

Result<void> compute_together(const Trace& baseline, std::span<ComputedRun> runs, Engine& engine,
                              const ComputeOptions& options, const Job& job)
{
    return Computation(baseline, runs, engine, options, job).run();
}

} // namespace flipscope
