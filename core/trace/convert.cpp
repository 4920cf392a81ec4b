// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/convert.h"

#include "core/trace/converted_rows.h"
#include "core/trace/selected_rows.h"
#include "core/trace/writer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

Result<void> check(const Trace& trace, const ConvertOptions& o)
{
    if (o.type && *o.type != LogitType::F16 && *o.type != LogitType::BF16)
        return fail(ErrorKind::Usage, "Rows are converted to float16 or bfloat16 only.");
    if (o.type && o.top_k)
        return fail(ErrorKind::Usage,
                    "With the best {} of each row alone there are no rows left whose type could change: "
                    "leave out the type or the number.",
                    *o.top_k);
    if (o.top_k && *o.top_k < 1)
        return fail(ErrorKind::Usage, "At least the best token of each row has to stay.");
    if (o.begin.value_or(0) < 0 || (o.end && *o.end <= o.begin.value_or(0)))
        return fail(ErrorKind::Usage, "The positions to keep are an empty range.");
    if (o.type && !trace.probes.rows && trace.dense.empty())
        return fail(ErrorKind::Usage, "{} holds no rows whose type could change.", trace.path.string());
    return {};
}

void keep_range(ProbeSet& set, std::int64_t begin, std::int64_t end)
{
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < set.size(); ++i)
        if (const auto p = set.positions[static_cast<std::size_t>(i)]; p >= begin && p < end)
            rows.push_back(i);
    if (static_cast<std::int64_t>(rows.size()) != set.size())
        keep_rows(set, rows);
}

void cut_strings(ByteStrings& strings, std::size_t n)
{
    if (strings.size() <= n)
        return;
    strings.offsets.resize(n + 1);
    strings.bytes.resize(strings.offsets.back());
}

/// Positions are places in the history, so what is before the range stays; what is behind the token that the last
/// probe may predict goes.
Result<void> cut(Trace& t, const ConvertOptions& o, Conversion& done)
{
    if (!o.begin && !o.end)
        return {};
    const auto n_tokens = static_cast<std::int64_t>(t.tokens.ids.size());
    const std::int64_t begin = o.begin.value_or(0), end = o.end.value_or(n_tokens);
    const std::int64_t before = t.probes.size();
    keep_range(t.probes, begin, end);
    for (ProbeSet& set : t.dense)
        keep_range(set, begin, end);
    std::erase_if(t.dense, [](const ProbeSet& set) { return set.positions.empty(); });
    const std::int64_t kept = end < n_tokens ? end + 1 : n_tokens;
    t.tokens.ids.resize(static_cast<std::size_t>(kept));
    cut_strings(t.tokens.text, static_cast<std::size_t>(kept));
    std::erase_if(t.spans, [&](const Span& span) { return span.start >= kept; });
    for (Span& span : t.spans)
        span.end = std::min(span.end, kept);
    const std::size_t generations = t.generations.size();
    std::erase_if(t.generations, [&](const Generation& g) { return g.prefix_tokens > kept; });
    if (t.probes.size() == 0 && t.dense.empty() && t.generations.empty())
        return fail(ErrorKind::Usage, "{} has nothing at positions {} to {}: its probes lie elsewhere.",
                    t.path.string(), begin, end - 1);
    done.notes.push_back(fmt::format("{} of {} probes, {} of {} tokens and {} of {} continuations stay.",
                                     t.probes.size(), before, kept, n_tokens, t.generations.size(), generations));
    return {};
}

void drop_text(Trace& t, Conversion& done)
{
    t.tokens.text = {};
    t.vocabulary = nullptr;
    t.launch_log.clear();
    for (Span& span : t.spans)
        span.label.clear();
    for (Generation& g : t.generations) {
        g.text = {};
        g.parsed_tool_calls.clear();
    }
    done.notes.push_back("The text of tokens, continuations and tool calls, the vocabulary and the launch log are left "
                         "out; token ids stay, and whoever has the tokenizer can read them.");
}

/// Goes over the rows once: what rounding does, and what they were before it.
Result<void> measure(ProbeSet& set, LogitType type, RoundingLoss& loss, const std::string& name, const Job& job)
{
    const RowSource& rows = *set.rows;
    std::vector<std::byte> raw(static_cast<std::size_t>(rows.row_bytes()));
    const bool keep_top1 = set.top1.empty(), keep_lse = set.lse.empty();
    for (std::int64_t r = 0; r < rows.rows(); ++r) {
        if (job.cancelled())
            return cancelled();
        job.progress({"Measuring the loss", r, rows.rows(), false});
        if (auto ok = rows.read(r, 1, raw); !ok)
            return ok;
        const RoundedRow row = round_row(raw, rows.type(), type, rows.columns());
        if (row.too_large)
            return fail(
                ErrorKind::Unsupported,
                "{} cannot be converted: row {} holds {:.6g}, which does not fit into {}; bfloat16 has the range of "
                "float32.",
                name, r, row.largest, name_of(type));
        ++loss.rows;
        loss.max_abs_error = std::max(loss.max_abs_error, row.max_abs_error);
        loss.flips += row.top_before != row.top_after ? 1 : 0;
        loss.overflows += row.overflows;
        if (keep_top1)
            set.top1.push_back(row.top_before);
        if (keep_lse)
            set.lse.push_back(row.lse);
    }
    set.rows = rounded_rows(set.rows, type);
    return {};
}

Result<void> change_type(Trace& t, LogitType type, Conversion& done, const Job& job)
{
    RoundingLoss loss;
    loss.to = type;
    bool changed = false;
    std::vector<ProbeSet*> sets{&t.probes};
    for (ProbeSet& set : t.dense)
        sets.push_back(&set);
    for (ProbeSet* set : sets) {
        if (!set->rows || set->rows->type() == type)
            continue;
        loss.from = set->rows->type();
        changed = true;
        if (auto ok = measure(*set, type, loss, t.path.string(), job); !ok)
            return ok;
    }
    if (changed)
        done.loss = loss;
    else
        done.notes.push_back(fmt::format("The rows are {} already.", name_of(type)));
    return {};
}

void keep_best(Trace& t, std::int64_t k, Conversion& done)
{
    std::vector<ProbeSet*> sets{&t.probes};
    for (ProbeSet& set : t.dense)
        sets.push_back(&set);
    for (ProbeSet* set : sets) {
        if (set->rows) {
            k = std::min(k, set->rows->columns());
            set->lists = best_of_rows(set->rows, k);
            set->rows = nullptr;
            set->kind = ProbeSet::Kind::TopK;
            set->k = k;
        } else if (set->lists && set->k > k) {
            set->lists = best_of_lists(set->lists, k);
            set->k = k;
        }
    }
    done.notes.push_back(
        fmt::format("Only the best {} tokens of each probe stay: divergences from them are lower bounds.", k));
}

/// A setting that says how the rows were made must not be taken for that of the rows as they are now.
void note_in_settings(Trace& t, const Conversion& done)
{
    for (auto& [key, value] : t.run)
        if (key == "codec" && done.loss)
            value += fmt::format(", then rounded to {}", name_of(done.loss->to));
}

} // namespace

Result<Conversion> convert_trace(const std::filesystem::path& path, const Trace& trace, const ConvertOptions& options,
                                 const Job& job)
{
    if (auto ok = check(trace, options); !ok)
        return tl::unexpected(ok.error());
    Trace t = trace;
    Conversion done;
    if (auto ok = cut(t, options, done); !ok)
        return tl::unexpected(ok.error());
    if (options.type)
        if (auto ok = change_type(t, *options.type, done, job); !ok)
            return tl::unexpected(ok.error());
    if (options.top_k)
        keep_best(t, *options.top_k, done);
    if (options.drop_text)
        drop_text(t, done);
    note_in_settings(t, done);
    watch_rows(t, job);
    WriteOptions how;
    how.compression = options.compression;
    if (auto ok = write_trace(path, t, how); !ok)
        return tl::unexpected(ok.error());
    return done;
}

} // namespace flipscope
