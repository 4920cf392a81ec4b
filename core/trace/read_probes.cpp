// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/logit_encoding.h"
#include "core/trace/logit_rows.h"
#include "core/trace/read_parts.h"
#include "core/trace/selected_rows.h"
#include "core/trace/topk_lists.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flipscope::reading {

namespace {

constexpr std::uint64_t max_probes = 1ull << 27;
constexpr std::size_t max_dense = 4096;

/// One probe group while it is being read.
struct Reading {
    Source& source;
    const h5::Group& group;
    Trace& trace;
    ProbeSet set;
    std::vector<bool> written; ///< per row; empty = all
    bool growing = false;      ///< datasets may differ in length, since they are written piece by piece
    std::int64_t rows = 0;     ///< that every dataset has

    void warn(std::string code, std::string text)
    {
        trace.findings.push_back({Finding::Level::Warning, std::move(code), std::move(text)});
    }
};

void read_attributes(Reading& r)
{
    const auto attributes = r.source.note_attributes(r.group.id.id(), r.group.path, r.trace.findings);
    r.set.scoring = attributes.text("scoring");
    r.set.values = attributes.text("values");
    if (const auto* a = attributes.find("temperature"); a != nullptr && a->real && std::isfinite(*a->real))
        r.set.temperature = a->real;
    if (const auto* a = attributes.find("n_vocab"); a != nullptr && a->integer && *a->integer > 0)
        r.set.n_vocab = *a->integer;
    const std::string kind = attributes.text("kind");
    const std::string found = r.set.kind == ProbeSet::Kind::Full ? "full" : "topk";
    if (!kind.empty() && kind != found)
        r.warn("kind", fmt::format("{} states kind = \"{}\" but holds {}; what it holds is used.", r.group.path,
                                   h5::one_line(kind, 40), found == "full" ? "full-vocabulary logits" : "top-k lists"));
}

Result<void> read_positions(Reading& r)
{
    const auto dataset = h5::open_dataset(r.group, "positions");
    if (!dataset)
        return tl::unexpected(dataset.error());
    auto positions = h5::read_integers(r.group, "positions", max_probes);
    if (!positions)
        return tl::unexpected(positions.error());
    const auto n_tokens = static_cast<std::int64_t>(r.trace.tokens.ids.size());
    std::int64_t last = -1;
    for (std::size_t i = 0; i < positions->size(); ++i) {
        const std::int64_t p = (*positions)[i];
        if (p < 0 || p >= n_tokens)
            return fail(ErrorKind::BadFormat, "{} holds {} at row {}, outside of the history of {} tokens",
                        dataset->path, p, i, n_tokens);
        if (p <= last)
            return fail(ErrorKind::BadFormat, "{} is not strictly increasing: {} at row {} follows {}", dataset->path,
                        p, i, last);
        last = p;
    }
    r.set.positions = std::move(*positions);
    r.growing = r.growing || dataset->extendible;
    return {};
}

Result<void> read_full(Reading& r)
{
    auto logits = h5::open_logits(r.source.file, r.group, r.trace.findings);
    if (!logits)
        return tl::unexpected(logits.error());
    const std::int64_t columns = logits->source->columns();
    if (r.set.n_vocab != 0 && r.set.n_vocab != columns)
        r.warn("n-vocab", fmt::format("{} states n_vocab = {} but its logits have {} columns; the columns count.",
                                      r.group.path, r.set.n_vocab, columns));
    r.set.n_vocab = columns;
    r.set.rows = logits->source;
    r.rows = logits->source->rows();
    r.growing = r.growing || logits->extendible;
    r.written = std::move(logits->written);
    if (logits->quick && (r.written.empty() || r.written.front()))
        h5::check_plausible(*r.set.rows, r.group.path_of("logits"), r.trace.findings);
    return {};
}

Result<void> read_lists(Reading& r)
{
    auto lists = h5::open_lists(r.source.file, r.group, r.set.n_vocab);
    if (!lists)
        return tl::unexpected(lists.error());
    r.set.k = (*lists)->k();
    r.rows = (*lists)->rows();
    r.set.lists = std::move(*lists);
    return {};
}

/// top1 and lse: optional, and of no use unless there is one for each row.
template <class T, class Values>
void take_extra(Reading& r, const char* name, Result<Values> values, std::vector<T>& out)
{
    const std::string path = r.group.path_of(name);
    if (!values)
        return leave_out(r.trace.findings, path + " is", values.error());
    const auto size = static_cast<std::int64_t>(values->size());
    const auto wanted = std::min(r.rows, r.set.size());
    if (size != r.rows && !(r.growing && size >= wanted))
        return leave_out(r.trace.findings, path + " is",
                         {ErrorKind::BadFormat, fmt::format("it has {} entries for {} rows", size, r.rows)});
    out.assign(values->begin(), values->end());
}

void read_extras(Reading& r)
{
    if (h5::has(r.group, "top1"))
        take_extra(r, "top1", h5::read_int32(r.group, "top1", max_probes), r.set.top1);
    if (h5::has(r.group, "lse"))
        take_extra(r, "lse", h5::read_reals(r.group, "lse", max_probes), r.set.lse);
}

/// Brings everything to the same rows: those that have a position, and that were written.
Result<void> agree_on_rows(Reading& r)
{
    const std::int64_t positions = r.set.size();
    if (r.rows != positions) {
        const std::string text = fmt::format("{} has {} rows for {} positions", r.group.path, r.rows, positions);
        if (!r.growing)
            return tl::unexpected(Error{ErrorKind::BadFormat, text});
        r.warn("incomplete", fmt::format("{}, as a capture leaves it that is running or was stopped: the first {} are "
                                         "used.",
                                         text, std::min(r.rows, positions)));
    }
    std::vector<std::int64_t> keep;
    for (std::int64_t i = 0; i < std::min(r.rows, positions); ++i)
        if (r.written.empty() || r.written[static_cast<std::size_t>(i)])
            keep.push_back(i);
    const auto usable = static_cast<std::int64_t>(keep.size());
    if (usable < std::min(r.rows, positions))
        r.warn("incomplete", fmt::format("{} of the {} rows of {} were never written and are left out.",
                                         std::min(r.rows, positions) - usable, std::min(r.rows, positions),
                                         r.group.path_of("logits")));
    if (usable != r.rows || usable != positions)
        keep_rows(r.set, keep);
    return {};
}

Result<ProbeSet> read_set(Source& source, const h5::Group& group, const std::string& name, Trace& trace)
{
    Reading r{source, group, trace, {}, {}, source.file->being_written, 0};
    r.set.name = name;
    const bool full = h5::has(group, "logits");
    if (!full && !h5::has(group, "top_ids"))
        return fail(ErrorKind::BadFormat, "{} holds neither logits nor top_ids", group.path);
    r.set.kind = full ? ProbeSet::Kind::Full : ProbeSet::Kind::TopK;
    read_attributes(r);
    if (auto ok = read_positions(r); !ok)
        return tl::unexpected(ok.error());
    if (auto ok = full ? read_full(r) : read_lists(r); !ok)
        return tl::unexpected(ok.error());
    read_extras(r);
    if (auto ok = agree_on_rows(r); !ok)
        return tl::unexpected(ok.error());
    return std::move(r.set);
}

} // namespace

Result<void> read_probes(Source& source, const h5::Group& root, Trace& trace)
{
    if (!h5::has(root, "probes") && (h5::has(root, "generations") || h5::has(root, "dense")))
        return {}; // a file of continuations only
    const auto group = h5::open_group(root, "probes");
    if (!group)
        return tl::unexpected(group.error());
    auto set = read_set(source, *group, "", trace);
    if (!set)
        return tl::unexpected(set.error());
    trace.probes = std::move(*set);
    return {};
}

void read_dense(Source& source, const h5::Group& root, Trace& trace)
{
    if (!h5::has(root, "dense"))
        return;
    const auto parent = h5::open_group(root, "dense");
    const auto names =
        parent ? h5::children(*parent, max_dense) : Result<std::vector<std::string>>(tl::unexpected(parent.error()));
    if (!names)
        return leave_out(trace.findings, "The dense probes are", names.error());
    for (const auto& name : *names) { // sorted by name
        const auto group = h5::open_group(*parent, name);
        auto set = group ? read_set(source, *group, h5::valid_utf8(name), trace)
                         : Result<ProbeSet>(tl::unexpected(group.error()));
        if (set)
            trace.dense.push_back(std::move(*set));
        else
            leave_out(trace.findings, fmt::format("Dense probes \"{}\" are", h5::one_line(name, 60)), set.error());
    }
}

} // namespace flipscope::reading
