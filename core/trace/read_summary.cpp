// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/content_key.h"
#include "core/trace/logit_encoding.h"
#include "core/trace/read_parts.h"
#include "core/trace/stored_metrics.h"
#include "core/trace/summary_columns.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace flipscope::reading {

namespace {

constexpr std::uint64_t max_probes = 1ull << 27;
constexpr std::size_t max_runs = 4096;
constexpr std::uint64_t max_findings = 10'000;

/// A column of whole numbers, each within [least, most].
template <class T, class Field>
Result<void> read_integers(const h5::Group& group, const char* name, std::int64_t least, std::int64_t most, Field field,
                           std::vector<ProbeMetrics>& probes, T)
{
    const auto values = h5::read_integers(group, name, max_probes);
    if (!values)
        return tl::unexpected(values.error());
    if (values->size() != probes.size())
        return fail(ErrorKind::BadFormat, "{} has {} entries for {} probes", group.path_of(name), values->size(),
                    probes.size());
    for (std::size_t i = 0; i < probes.size(); ++i) {
        if ((*values)[i] < least || (*values)[i] > most)
            return fail(ErrorKind::BadFormat, "{} holds {} at row {}", group.path_of(name), (*values)[i], i);
        probes[i].*field = static_cast<T>((*values)[i]);
    }
    return {};
}

Result<void> read_reals(const h5::Group& group, std::vector<ProbeMetrics>& probes)
{
    for (const auto& column : summary::real_columns) {
        for (ProbeMetrics& m : probes)
            m.*column.field = std::numeric_limits<double>::quiet_NaN();
        if (!h5::has(group, column.name))
            continue;
        const auto values = h5::read_reals(group, column.name, max_probes);
        if (!values)
            return tl::unexpected(values.error());
        if (values->size() != probes.size())
            return fail(ErrorKind::BadFormat, "{} has {} entries for {} probes", group.path_of(column.name),
                        values->size(), probes.size());
        for (std::size_t i = 0; i < probes.size(); ++i)
            probes[i].*column.field = (*values)[i];
    }
    return {};
}

Result<std::vector<ProbeMetrics>> read_columns(const h5::Group& group)
{
    const auto positions = h5::read_integers(group, "positions", max_probes);
    if (!positions)
        return tl::unexpected(positions.error());
    std::vector<ProbeMetrics> probes(positions->size());
    for (std::size_t i = 0; i < probes.size(); ++i) {
        probes[i].position = (*positions)[i];
        if (probes[i].position < 0 || (i > 0 && probes[i].position <= probes[i - 1].position))
            return fail(ErrorKind::BadFormat, "{} is not strictly increasing at row {}", group.path_of("positions"), i);
    }
    constexpr std::int64_t id = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    Result<void> ok = read_reals(group, probes);
    const auto integers = [&](const char* name, std::int64_t least, std::int64_t most, auto field, auto type) {
        if (ok)
            ok = read_integers(group, name, least, most, field, probes, type);
    };
    integers("differing", 0, any, &ProbeMetrics::differing, std::int64_t{});
    integers("argmax_p", -1, id, &ProbeMetrics::argmax_p, std::int32_t{});
    integers("argmax_q", -1, id, &ProbeMetrics::argmax_q, std::int32_t{});
    integers("rank", -1, id, &ProbeMetrics::rank, std::int32_t{});
    integers("flip", 0, 1, &ProbeMetrics::flip, std::uint8_t{});
    integers("tied", 0, 1, &ProbeMetrics::tied, std::uint8_t{});
    integers("valid", 0, 1, &ProbeMetrics::valid, std::uint8_t{});
    integers("flip_top1", -1, 1, &ProbeMetrics::flip_top1, std::int8_t{});
    if (!ok)
        return tl::unexpected(ok.error());
    return probes;
}

Findings findings_of(const h5::Group& group)
{
    Findings findings;
    if (!h5::has(group, "findings"))
        return findings;
    const auto lines = h5::read_strings(group, "findings", max_findings);
    for (const std::string& line : lines ? *lines : std::vector<std::string>()) {
        const auto first = line.find('\t'), second = line.find('\t', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        findings.push_back({line.starts_with("warning") ? Finding::Level::Warning : Finding::Level::Note,
                            line.substr(first + 1, second - first - 1), h5::one_line(line.substr(second + 1), 2000)});
    }
    return findings;
}

Result<std::shared_ptr<const StoredMetrics>> read_metrics(Source& source, const h5::Group& parent, Trace& run)
{
    const auto group = h5::open_group(parent, "metrics");
    if (!group)
        return tl::unexpected(group.error());
    const auto attributes = source.note_attributes(group->id.id(), group->path, run.findings);
    const auto number = [&](const char* name) {
        const h5::Attribute* a = attributes.find(name);
        return a != nullptr && a->integer ? std::max<std::int64_t>(0, *a->integer) : 0;
    };
    auto metrics = std::make_shared<StoredMetrics>();
    auto probes = read_columns(*group);
    if (!probes)
        return tl::unexpected(probes.error());
    metrics->probes = std::move(*probes);
    metrics->common_tokens = number("common_tokens");
    metrics->only_in_baseline = number("only_in_baseline");
    metrics->only_in_run = number("only_in_run");
    metrics->vocab = std::min<std::int64_t>(number("vocab"), std::numeric_limits<std::int32_t>::max());
    metrics->baseline_vocab = number("baseline_vocab");
    metrics->run_vocab = number("run_vocab");
    metrics->equal_types = number("equal_types") == 1;
    metrics->lower_bound = number("lower_bound") == 1;
    metrics->baseline_key = attributes.text("baseline_key");
    metrics->engine = attributes.text("engine");
    metrics->engine_detail = attributes.text("engine_detail");
    metrics->rows_hash = attributes.text("rows_hash");
    metrics->findings = findings_of(*group);
    return metrics;
}

Result<TracePtr> read_run_of(Source& source, const h5::Group& parent, const std::string& name, const Trace& baseline)
{
    const auto group = h5::open_group(parent, name);
    if (!group)
        return tl::unexpected(group.error());
    auto run = std::make_shared<Trace>();
    run->path = baseline.path;
    run->stamp = baseline.stamp;
    run->format = "summary of a run";
    const auto attributes = source.note_attributes(group->id.id(), group->path, run->findings);
    run->run_name = attributes.text("run_name");
    run->created = attributes.text("created");
    run->producer = attributes.text("producer");
    run->summary_key = attributes.text("key");
    run->tokens = baseline.tokens;
    run->generated_from = baseline.generated_from;
    run->vocabulary = baseline.vocabulary;
    run->spans = baseline.spans;
    if (auto ok = read_probes(source, *group, *run); !ok)
        return tl::unexpected(ok.error());
    read_run(source, *group, *run);
    if (auto ok = read_generations(source, *group, *run); !ok)
        return tl::unexpected(ok.error());
    auto metrics = read_metrics(source, *group, *run);
    if (!metrics)
        return tl::unexpected(metrics.error());
    run->metrics = std::move(*metrics);
    if (run->run_name.empty())
        run->run_name = h5::one_line(name, 60);
    run->findings.push_back({Finding::Level::Note, "summary",
                             "This is a summary: its numbers were computed from full rows elsewhere, the rows "
                             "themselves are not here."});
    run->content_key = content_key_of(*run, source.attributes);
    return run;
}

} // namespace

Result<void> read_summary(Source& source, const h5::Group& root, Trace& trace)
{
    if (!h5::has(root, "summary"))
        return {};
    const auto group = h5::open_group(root, "summary");
    if (!group)
        return tl::unexpected(group.error());
    const auto attributes = source.note_attributes(group->id.id(), group->path, trace.findings);
    const h5::Attribute* version = attributes.find("version");
    if (version == nullptr || !version->integer || *version->integer < 1)
        return fail(ErrorKind::BadFormat, "{} does not state its version as a number", group->path);
    if (*version->integer > 1)
        return fail(ErrorKind::Unsupported,
                    "{} was written for version {} of summaries, this program reads version 1; "
                    "a newer Flipscope is needed",
                    group->path, *version->integer);
    trace.summary_key = attributes.text("key");
    trace.format = "flipscope-trace 1, summary";
    trace.findings.push_back({Finding::Level::Note, "summary",
                              "This is a summary: of each row the likeliest tokens are here, and the numbers of its "
                              "runs were computed from the full rows elsewhere."});
    auto names = h5::children(*group, max_runs);
    if (!names)
        return tl::unexpected(names.error());
    std::sort(names->begin(), names->end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b; // numbers
    });
    // Each run is a trace of its own, with the history.
    if (names->size() * trace.tokens.ids.size() > (1ull << 28))
        return fail(ErrorKind::Unsupported, "{} holds {} runs of {} tokens, more than this version reads at once",
                    group->path, names->size(), trace.tokens.ids.size());
    for (const std::string& name : *names) {
        if (source.job.cancelled())
            return cancelled();
        auto run = read_run_of(source, *group, name, trace);
        if (!run)
            return tl::unexpected(run.error());
        trace.others.push_back(std::move(*run));
    }
    return {};
}

} // namespace flipscope::reading
