// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/array_trace.h"

#include "core/formats/finish.h"
#include "core/formats/joined_rows.h"
#include "core/formats/token_file.h"
#include "core/trace/hdf5.h"
#include "core/trace/logit_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace flipscope::formats {

namespace {

constexpr std::int64_t most_rows = 1 << 27;
constexpr std::int64_t most_unknown = 1 << 24; // tokens that are there only because a position says so

/// Names under which people store things.
using Names = std::vector<std::string_view>;
const Names names_of_rows = {"logits", "logprobs", "log_probs", "scores"};
const Names names_of_ids = {"ids", "input_ids", "token_ids", "tokens", "prompt_ids", "tokens_ids"};
const Names names_of_positions = {"positions", "position", "probe_positions"};

std::size_t wide_dimensions(const Array& a)
{
    return static_cast<std::size_t>(std::count_if(a.shape.begin(), a.shape.end(), [](auto n) { return n != 1; }));
}

bool may_be_rows(const Array& a)
{
    return a.type == ElementType::BF16 || a.type == ElementType::F16 || a.type == ElementType::F32 ||
           a.type == ElementType::F64 || a.type == ElementType::Raw2 ||
           (a.type == ElementType::Unsigned && a.element_size == 2 && wide_dimensions(a) == 2); // bfloat16 in disguise
}

const Array* named(const std::vector<Array>& arrays, const Names& names)
{
    for (const std::string_view name : names)
        for (const Array& a : arrays)
            if (a.name == name)
                return &a;
    return nullptr;
}

std::string list_of(const std::vector<Array>& arrays)
{
    std::string text;
    std::size_t n = 0;
    for (const Array& a : arrays) {
        if (++n > 12)
            return text + ", …";
        const std::string name = a.name.empty() ? "an array" : h5::one_line(a.name, 40);
        text += fmt::format("{}{} ({}, {})", text.empty() ? "" : ", ", name, a.type_name, a.shape_text());
    }
    return text;
}

/// "logits.31" is row 31 of "logits.".
std::optional<std::int64_t> number_at_end(std::string_view name, std::string_view prefix)
{
    if (!name.starts_with(prefix) || name.size() == prefix.size())
        return std::nullopt;
    const std::string_view digits = name.substr(prefix.size());
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.front() == '-')
        return std::nullopt;
    return n;
}

std::string without_digits(std::string_view name)
{
    const auto last = name.find_last_not_of("0123456789");
    return std::string(name.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

/// A trace while it is being made.
struct Making {
    ArrayFile file;
    const TraceFile& from;
    const OpenHints& hints;
    const Job& job;
    std::string name;
    std::shared_ptr<Trace> trace = std::make_shared<Trace>();
    std::vector<std::int64_t> row_numbers; ///< that the names of a tensor per row state

    void note(std::string code, std::string text)
    {
        trace->findings.push_back({Finding::Level::Note, std::move(code), std::move(text)});
    }
    void warn(std::string code, std::string text)
    {
        trace->findings.push_back({Finding::Level::Warning, std::move(code), std::move(text)});
    }
};

/// The one array that holds all rows, or null where there is a tensor per row.
Result<const Array*> find_array(const Making& m)
{
    const auto& arrays = m.file.arrays;
    if (!m.hints.array.empty()) {
        for (const Array& a : arrays)
            if (a.name == m.hints.array)
                return &a;
        for (const Array& a : arrays)
            if (number_at_end(a.name, m.hints.array))
                return nullptr;
        return fail(ErrorKind::NotFound, "{} holds no array \"{}\"; it holds {}.", m.name,
                    h5::one_line(m.hints.array, 60), list_of(arrays));
    }
    std::vector<Array> tables;
    for (const Array& a : arrays)
        if (may_be_rows(a) && (wide_dimensions(a) >= 2 || arrays.size() == 1))
            tables.push_back(a);
    const Array* best = named(tables, names_of_rows);
    if (best == nullptr && tables.size() == 1)
        best = &tables.front();
    if (best != nullptr)
        return named(arrays, {best->name});
    if (tables.empty())
        return nullptr;
    return fail(ErrorKind::BadFormat, "{} holds several arrays that may be the logits; name one with --array: {}.",
                m.name, list_of(tables));
}

/// Tensors of one row each, by the number at the end of their names.
Result<void> take_single_rows(Making& m)
{
    std::string prefix = m.hints.array;
    std::vector<std::pair<std::int64_t, const Array*>> rows;
    for (const Array& a : m.file.arrays) {
        if (!may_be_rows(a) || wide_dimensions(a) > 1)
            continue;
        if (m.hints.array.empty() && rows.empty())
            prefix = without_digits(a.name);
        if (const auto n = number_at_end(a.name, prefix))
            rows.emplace_back(*n, &a);
        else if (m.hints.array.empty())
            return fail(
                ErrorKind::BadFormat,
                "{} holds no table of logits, nor one row per tensor with names that end in the row's position: {}.",
                m.name, list_of(m.file.arrays));
    }
    if (rows.empty())
        return fail(ErrorKind::BadFormat, "{} holds no array of logits; it holds {}.", m.name, list_of(m.file.arrays));
    std::sort(rows.begin(), rows.end());
    std::vector<std::shared_ptr<const RowSource>> parts;
    for (const auto& [number, array] : rows) {
        auto part = rows_of(*array, m.hints.axes, m.hints.type, m.hints.vocabulary);
        if (!part)
            return tl::unexpected(part.error());
        if (!parts.empty() &&
            ((*part)->columns() != parts.front()->columns() || (*part)->type() != parts.front()->type()))
            return fail(ErrorKind::BadFormat, "{} has {} ids of type {}, where the rows before it have {} of type {}.",
                        array->shown, (*part)->columns(), name_of((*part)->type()), parts.front()->columns(),
                        name_of(parts.front()->type()));
        parts.push_back(std::move(*part));
        m.row_numbers.push_back(number);
    }
    m.trace->probes.rows = joined_rows(std::move(parts));
    return {};
}

Result<void> take_rows(Making& m)
{
    const auto array = find_array(m);
    if (!array)
        return tl::unexpected(array.error());
    if (*array == nullptr) {
        if (auto ok = take_single_rows(m); !ok)
            return ok;
    } else {
        auto rows = rows_of(**array, m.hints.axes, m.hints.type, m.hints.vocabulary);
        if (!rows)
            return tl::unexpected(rows.error());
        m.trace->probes.rows = std::move(*rows);
    }
    ProbeSet& set = m.trace->probes;
    set.n_vocab = set.rows->columns();
    if (set.rows->rows() > most_rows)
        return fail(ErrorKind::BadFormat, "{} would have {} rows of {} ids; say with --axes which dimension is which.",
                    m.name, set.rows->rows(), set.n_vocab);
    if (m.hints.axes.empty() && set.rows->rows() > 8192 && set.n_vocab < 1024)
        m.warn("axes",
               fmt::format("The rows are taken to be {} probes of {} ids, which is an odd shape: if the vocabulary "
                           "comes first, say so with --axes vp.",
                           set.rows->rows(), set.n_vocab));
    return {};
}

Result<void> take_ids(Making& m)
{
    TokenHistory& tokens = m.trace->tokens;
    if (!m.hints.tokens.empty()) {
        auto history = read_history(m.hints.tokens, m.job);
        if (!history)
            return tl::unexpected(history.error());
        tokens = std::move(history->tokens);
        m.trace->vocabulary = std::move(history->vocabulary);
        m.trace->spans = std::move(history->spans);
        m.note("borrowed-ids", fmt::format("The token ids are those of {}, as was said when the file was opened.",
                                           h5::one_line(m.hints.tokens.string())));
        return {};
    }
    const Array* ids = named(m.file.arrays, names_of_ids);
    if (ids == nullptr || (ids->type != ElementType::Integer && ids->type != ElementType::Unsigned))
        return {};
    const auto numbers = integers_of(*ids, most_rows);
    if (!numbers)
        return tl::unexpected(numbers.error());
    for (const std::int64_t n : *numbers) {
        if (n < 0 || n > std::numeric_limits<std::int32_t>::max())
            return fail(ErrorKind::BadFormat, "{} holds {}, which is no token id.", ids->shown, n);
        tokens.ids.push_back(static_cast<std::int32_t>(n));
    }
    return {};
}

Result<std::vector<std::int64_t>> counted(const Making& m, std::int64_t first, std::int64_t stride, std::int64_t rows)
{
    constexpr std::int64_t furthest = std::int64_t{1} << 40;
    if (first < 0 || stride < 1 || first > furthest || stride > furthest / std::max<std::int64_t>(1, rows))
        return fail(ErrorKind::Usage, "{}: rows cannot stand at every {} tokens from {} on.", m.name, stride, first);
    std::vector<std::int64_t> positions(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < positions.size(); ++i)
        positions[i] = first + static_cast<std::int64_t>(i) * stride;
    return positions;
}

/// What the file or a hint states; an empty list where neither does.
Result<std::vector<std::int64_t>> stated_positions(Making& m)
{
    const std::int64_t rows = m.trace->probes.rows->rows();
    if (!m.hints.positions.empty())
        return read_numbers(m.hints.positions, most_rows);
    if (m.hints.first || m.hints.stride) {
        const std::int64_t stride = m.hints.stride.value_or(1);
        return counted(m, m.hints.first.value_or(stride - 1), stride, rows);
    }
    if (!m.row_numbers.empty())
        return m.row_numbers;
    if (const Array* array = named(m.file.arrays, names_of_positions))
        return integers_of(*array, most_rows);
    return std::vector<std::int64_t>();
}

Result<void> take_positions(Making& m)
{
    ProbeSet& set = m.trace->probes;
    const std::int64_t rows = set.rows->rows();
    auto positions = stated_positions(m);
    if (!positions)
        return tl::unexpected(positions.error());
    const auto tokens = static_cast<std::int64_t>(m.trace->tokens.ids.size());
    if (positions->empty()) {
        positions = counted(m, 0, 1, rows);
        if (tokens != 0 && (rows > tokens || rows < tokens - 1))
            return fail(
                ErrorKind::BadFormat,
                "{} has {} rows for {} tokens, and nothing says where they stand; say it with --stride, --first or "
                "--positions.",
                m.name, rows, tokens);
        if (tokens == 0)
            m.warn("positions-assumed",
                   "Nothing says where in the history the rows stand: they are taken to follow each "
                   "token from the first on (--stride, --first or --positions say it).");
    }
    if (static_cast<std::int64_t>(positions->size()) != rows)
        return fail(ErrorKind::BadFormat, "{} has {} rows but {} positions.", m.name, rows, positions->size());
    for (std::size_t i = 0; i < positions->size(); ++i)
        if ((*positions)[i] < (i == 0 ? 0 : (*positions)[i - 1] + 1))
            return fail(ErrorKind::BadFormat, "{}: the positions must increase strictly, but {} is that of row {}.",
                        m.name, (*positions)[i], i);
    set.positions = std::move(*positions);
    const std::int64_t last = set.positions.empty() ? -1 : set.positions.back();
    if (tokens == 0) {
        if (last + 2 > most_unknown)
            return fail(ErrorKind::BadFormat, "{}: the position {} is too large.", m.name, last);
        m.trace->tokens.ids.assign(static_cast<std::size_t>(last + 2), unknown_id);
        m.warn("unknown-ids",
               "The file holds no token ids: nothing shows which text was fed, and the likelihood of its own "
               "tokens cannot be computed (--tokens names a file that holds them).");
    } else if (last >= tokens) {
        return fail(ErrorKind::BadFormat, "{}: row {} stands at position {}, outside of the history of {} tokens.",
                    m.name, rows - 1, last, tokens);
    }
    return {};
}

/// Logits, log-probabilities and probabilities look alike in a file and differ by what may be done with them.
Result<void> check_values(Making& m)
{
    const RowSource& rows = *m.trace->probes.rows;
    std::vector<std::byte> raw(static_cast<std::size_t>(rows.row_bytes()));
    if (auto ok = rows.read(0, 1, raw); !ok)
        return ok;
    double sum = 0, exponentials = 0, least = std::numeric_limits<double>::infinity(), largest = -least;
    for (std::int64_t i = 0; i < rows.columns(); ++i) {
        const double v = widen(raw.data(), rows.type(), static_cast<std::size_t>(i));
        sum += v;
        exponentials += std::exp(v);
        least = std::min(least, v);
        largest = std::max(largest, v);
    }
    const double tolerance = rows.type() == LogitType::BF16 || rows.type() == LogitType::F16 ? 0.02 : 1e-3;
    if (rows.columns() > 2 && least >= 0 && largest <= 1 && std::fabs(sum - 1) < tolerance)
        return fail(ErrorKind::BadFormat,
                    "{} holds probabilities (its first row lies between 0 and 1 and sums to 1), where logits or "
                    "log-probabilities are needed; save np.log of it in float32.",
                    m.name);
    if (largest <= 0 && std::fabs(exponentials - 1) < tolerance)
        m.note("log-probabilities",
               "The rows are log-probabilities; divergences are the same as from the logits, whose "
               "common offset is not known.");
    if (rows.columns() > 0)
        h5::check_plausible(rows, m.name, m.trace->findings);
    return {};
}

} // namespace

Result<TracePtr> trace_of(ArrayFile file, const TraceFile& from, const OpenHints& hints, const Job& job)
{
    Making m{std::move(file), from, hints, job, h5::one_line(from.path.string()), std::make_shared<Trace>(), {}};
    m.trace->format = m.file.format;
    m.trace->run = m.file.settings;
    for (auto* step : {take_rows, take_ids, take_positions, check_values})
        if (auto ok = step(m); !ok)
            return tl::unexpected(ok.error());
    m.note("not-stated", m.trace->run.empty() ? "The file tells nothing of the model, the engine or the settings."
                                              : "Of the model, the engine and the settings the file tells only what is "
                                                "listed under the run's settings.");
    std::string seen;
    for (const Array& a : m.file.arrays)
        seen += fmt::format("{}\1{}\1{}\1{}\2", a.name, a.type_name, a.shape_text(), a.column_major);
    seen += fmt::format("{}\1{}\1{}", hints.array, hints.axes, m.trace->probes.n_vocab);
    return finish(std::move(m.trace), from, hints, seen);
}

} // namespace flipscope::formats
