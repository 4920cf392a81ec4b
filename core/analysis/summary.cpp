// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/summary.h"

#include "core/base/hash.h"
#include "core/engine/top_list.h"
#include "core/formats/answers/lists_in_memory.h"
#include "core/trace/stored_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace flipscope {

namespace {

using Top = TopList<static_cast<std::size_t>(summary_k)>;

/// The likeliest tokens of the rows of a set, packed.
struct Lists {
    std::int64_t k = summary_k;
    std::vector<std::int32_t> ids;
    std::vector<float> logprobs;
    std::vector<float> exact; ///< for the key: values that no library's exp() can round otherwise on another machine
};

void top_of_row(const std::byte* row, LogitType type, std::int64_t columns, std::int32_t* ids, float* logprobs,
                std::vector<float>& exact)
{
    Top top;
    bool is_distribution = true;
    for (std::int64_t i = 0; i < columns; ++i) {
        const double value = widen(row, type, static_cast<std::size_t>(i));
        is_distribution = is_distribution && !std::isnan(value) && value != std::numeric_limits<double>::infinity();
        top.offer(value, static_cast<std::int32_t>(i));
    }
    if (!is_distribution || top.size() == 0 || std::isinf(top.value(0)))
        return; // nothing is known of it: the entries stay missing
    double sum = 0;
    for (std::int64_t i = 0; i < columns; ++i)
        sum += std::exp(widen(row, type, static_cast<std::size_t>(i)) - top.value(0));
    const double lse = top.value(0) + std::log(sum);
    for (std::size_t i = 0; i < top.size() && !std::isinf(top.value(i)); ++i) {
        ids[i] = top.id(i);
        logprobs[i] = static_cast<float>(top.value(i) - lse);
        exact.push_back(static_cast<float>(top.value(i)));
    }
}

Result<Lists> lists_of_rows(const RowSource& rows, const std::string& name, const Job& job)
{
    Lists lists;
    const auto n = static_cast<std::size_t>(rows.rows() * summary_k);
    lists.ids.assign(n, -1);
    lists.logprobs.assign(n, std::numeric_limits<float>::quiet_NaN());
    std::vector<std::byte> row(static_cast<std::size_t>(rows.row_bytes()));
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
        if (job.cancelled())
            return cancelled();
        if (auto ok = rows.read(i, 1, row); !ok)
            return tl::unexpected(ok.error());
        const auto at = static_cast<std::size_t>(i * summary_k);
        top_of_row(row.data(), rows.type(), rows.columns(), &lists.ids[at], &lists.logprobs[at], lists.exact);
        job.progress({fmt::format("Summarising {}", name), i + 1, rows.rows(), false});
    }
    return lists;
}

/// The first entries of stored lists.
Result<Lists> cut_lists(const TopKSource& source)
{
    Lists lists;
    lists.k = std::min(source.k(), summary_k);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(source.k()));
    std::vector<float> logprobs(ids.size());
    for (std::int64_t i = 0; i < source.rows(); ++i) {
        if (auto ok = source.read(i, 1, ids, logprobs); !ok)
            return tl::unexpected(ok.error());
        lists.ids.insert(lists.ids.end(), ids.begin(), ids.begin() + lists.k);
        lists.logprobs.insert(lists.logprobs.end(), logprobs.begin(), logprobs.begin() + lists.k);
    }
    lists.exact = lists.logprobs;
    return lists;
}

/// `trace` with lists in place of rows, and a key of its content.
Result<Trace> without_rows(const Trace& trace, const Job& job)
{
    Trace t = trace;
    t.dense.clear();
    t.others.clear();
    t.metrics = nullptr;
    t.vocabulary = nullptr;
    const ProbeSet& set = trace.probes;
    Hasher hash;
    hash.add(trace.content_key);
    if (set.size() > 0) {
        auto lists = set.rows ? lists_of_rows(*set.rows, trace.run_name, job) : cut_lists(*set.lists);
        if (!lists)
            return tl::unexpected(lists.error());
        hash.add(std::as_bytes(std::span(lists->ids)));
        hash.add(std::as_bytes(std::span(lists->exact)));
        t.probes.kind = ProbeSet::Kind::TopK;
        t.probes.rows = nullptr;
        t.probes.k = lists->k;
        t.probes.lists = lists_in_memory(lists->k, std::move(lists->ids), std::move(lists->logprobs));
    }
    t.summary_key = hash.hex();
    t.findings.clear();
    return t;
}

Result<void> add_ids(const ProbeSet& set, std::set<std::int32_t>& ids)
{
    if (!set.lists)
        return {};
    std::vector<std::int32_t> row(static_cast<std::size_t>(set.k));
    std::vector<float> logprobs(row.size());
    for (std::int64_t i = 0; i < set.lists->rows(); ++i) {
        if (auto ok = set.lists->read(i, 1, row, logprobs); !ok)
            return ok;
        ids.insert(row.begin(), row.end());
    }
    return {};
}

/// The texts of the ids that lists name; a whole vocabulary would be larger than the rest.
std::shared_ptr<const Vocabulary> texts_of(const std::set<std::int32_t>& ids, const Vocabulary& from)
{
    auto vocabulary = std::make_shared<Vocabulary>();
    auto& text = vocabulary->text;
    text.offsets.push_back(0);
    for (const std::int32_t id : ids) {
        if (id < 0 || static_cast<std::size_t>(id) >= from.text.size())
            continue;
        text.offsets.resize(static_cast<std::size_t>(id) + 1, text.bytes.size());
        text.bytes += from.text[static_cast<std::size_t>(id)];
        text.offsets.push_back(text.bytes.size());
    }
    for (const std::int32_t id : from.special)
        if (id >= 0 && static_cast<std::size_t>(id) < text.size())
            vocabulary->special.push_back(id);
    return vocabulary;
}

std::shared_ptr<const StoredMetrics> stored(const MetricsTable& table, const std::string& baseline_key)
{
    auto m = std::make_shared<StoredMetrics>();
    m->baseline_key = baseline_key;
    m->probes = table.probes;
    const Alignment& a = table.alignment;
    m->common_tokens = a.common_tokens;
    m->only_in_baseline = a.only_in_baseline;
    m->only_in_run = a.only_in_run;
    m->vocab = a.vocab;
    m->baseline_vocab = a.baseline_vocab;
    m->run_vocab = a.run_vocab;
    m->equal_types = a.equal_types;
    m->lower_bound = a.top_k;
    m->engine = table.engine;
    m->engine_detail = table.engine_detail;
    m->rows_hash = table.rows_hash;
    m->findings = a.findings;
    return m;
}

} // namespace

Result<Trace> summarise(const TracePtr& baseline, const std::vector<SummarisedRun>& runs, const Job& job)
{
    auto base = without_rows(*baseline, job);
    if (!base)
        return tl::unexpected(base.error());
    std::set<std::int32_t> ids;
    if (auto ok = add_ids(base->probes, ids); !ok)
        return tl::unexpected(ok.error());
    std::shared_ptr<const Vocabulary> vocabulary = baseline->vocabulary;
    for (const SummarisedRun& r : runs) {
        auto run = without_rows(*r.trace, job);
        if (!run)
            return tl::unexpected(run.error());
        if (auto ok = add_ids(run->probes, ids); !ok)
            return tl::unexpected(ok.error());
        for (const Generation& g : run->generations)
            ids.insert(g.top_ids.begin(), g.top_ids.end());
        run->run_name = r.name;
        run->metrics = stored(*r.table, base->summary_key);
        if (!vocabulary)
            vocabulary = r.trace->vocabulary;
        base->others.push_back(std::make_shared<const Trace>(std::move(*run)));
    }
    for (const Generation& g : base->generations)
        ids.insert(g.top_ids.begin(), g.top_ids.end());
    if (vocabulary)
        base->vocabulary = texts_of(ids, *vocabulary);
    base->format = "flipscope-trace 1, summary";
    return base;
}

std::optional<MetricsTable> stored_table(const Trace& baseline, const Trace& run, const Alignment& alignment)
{
    if (!run.metrics || baseline.summary_key.empty() || run.metrics->baseline_key != baseline.summary_key)
        return std::nullopt;
    const StoredMetrics& m = *run.metrics;
    // Every number must belong to a probe of both sides.
    const auto same = [](const MatchedProbe& probe, const ProbeMetrics& metrics) {
        return probe.position == metrics.position;
    };
    if (!std::equal(alignment.probes.begin(), alignment.probes.end(), m.probes.begin(), m.probes.end(), same))
        return std::nullopt;
    MetricsTable table;
    table.alignment = alignment;
    table.alignment.dense.clear();
    table.alignment.common_tokens = m.common_tokens;
    table.alignment.only_in_baseline = m.only_in_baseline;
    table.alignment.only_in_run = m.only_in_run;
    table.alignment.vocab = static_cast<std::int32_t>(m.vocab);
    table.alignment.baseline_vocab = m.baseline_vocab;
    table.alignment.run_vocab = m.run_vocab;
    table.alignment.equal_types = m.equal_types;
    table.alignment.top_k = m.lower_bound;
    table.alignment.findings = m.findings;
    table.probes = m.probes;
    table.engine = m.engine;
    table.engine_detail = m.engine_detail;
    table.rows_hash = m.rows_hash;
    return table;
}

} // namespace flipscope
