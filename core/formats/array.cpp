// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/array.h"

#include "core/formats/transposed.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

namespace flipscope::formats {

namespace {

template <class T>
void swap_all(std::span<std::byte> bytes)
{
    for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T))
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                     bytes.begin() + static_cast<std::ptrdiff_t>(i + sizeof(T)));
}

void swap_elements(std::span<std::byte> bytes, std::size_t size)
{
    if (size == 2)
        swap_all<std::uint16_t>(bytes);
    else if (size == 4)
        swap_all<std::uint32_t>(bytes);
    else if (size == 8)
        swap_all<std::uint64_t>(bytes);
}

/// Rows that lie one behind the other, each in one piece; those read may be only the beginning of those stored.
class PlainArrayRows : public RowSource {
public:
    PlainArrayRows(const Array& array, LogitType type, std::int64_t rows, std::int64_t stored, std::int64_t columns)
        : bytes_(array.bytes), name_(array.shown), type_(type), swap_(array.swap), rows_(rows), stored_(stored),
          columns_(columns)
    {
    }
    LogitType type() const override { return type_; }
    std::int64_t rows() const override { return rows_; }
    std::int64_t columns() const override { return columns_; }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (first < 0 || count < 0 || first > rows_ - count ||
            out.size() < static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(row_bytes()))
            return fail(ErrorKind::Usage, "{}: rows {} to {} were asked for, of {}.", name_, first, first + count,
                        rows_);
        out = out.first(static_cast<std::size_t>(count * row_bytes()));
        const std::int64_t size = static_cast<std::int64_t>(size_of(type_));
        if (stored_ == columns_) {
            if (auto ok = bytes_->read(static_cast<std::uint64_t>(first * row_bytes()), out); !ok)
                return ok;
        } else {
            for (std::int64_t i = 0; i < count; ++i) {
                const auto part =
                    out.subspan(static_cast<std::size_t>(i * row_bytes()), static_cast<std::size_t>(row_bytes()));
                if (auto ok = bytes_->read(static_cast<std::uint64_t>((first + i) * stored_ * size), part); !ok)
                    return ok;
            }
        }
        if (swap_)
            swap_elements(out, size_of(type_));
        return {};
    }

private:
    BytesPtr bytes_;
    std::string name_;
    LogitType type_;
    bool swap_;
    std::int64_t rows_, stored_, columns_;
};

Result<LogitType> logit_type_of(const Array& array, std::optional<LogitType> told)
{
    std::optional<LogitType> stated;
    switch (array.type) {
    case ElementType::BF16:
        stated = LogitType::BF16;
        break;
    case ElementType::F16:
        stated = LogitType::F16;
        break;
    case ElementType::F32:
        stated = LogitType::F32;
        break;
    case ElementType::F64:
        stated = LogitType::F64;
        break;
    case ElementType::Unsigned:
    case ElementType::Raw2:
        if (array.element_size != 2)
            break;
        if (!told)
            return fail(ErrorKind::BadFormat,
                        "{} holds elements of two bytes that it calls {}; if they are bfloat16, say so with --dtype "
                        "bfloat16 (float16 is the other type of that size).",
                        array.shown, array.type_name);
        if (size_of(*told) == 2)
            return *told;
        return fail(ErrorKind::Usage, "{} holds elements of two bytes, which cannot be {}.", array.shown,
                    name_of(*told));
    default:
        break;
    }
    if (!stated)
        return fail(
            ErrorKind::Unsupported,
            "{} holds elements of type {}, where logits of type float16, bfloat16, float32 or float64 are needed.",
            array.shown, array.type_name);
    if (told && *told != *stated)
        return fail(ErrorKind::Usage, "{} states {} as its type, not {}: leave --dtype out.", array.shown,
                    name_of(*stated), name_of(*told));
    return *stated;
}

/// Which dimensions are what, in terms of a table of rows × columns.
struct Table {
    std::uint64_t rows = 1, columns = 1;
    bool columns_first = false; ///< element (row, column) lies at column * rows + row
};

Result<std::string> axes_of(const Array& array, const std::string& axes)
{
    const std::size_t n = array.shape.size();
    if (!axes.empty() && axes.size() != n)
        return fail(ErrorKind::Usage, "--axes {} names {} dimensions, but {} has {} ({}).", axes, axes.size(),
                    array.shown, n, array.shape_text());
    if (!axes.empty())
        return axes;
    std::string found(n, '1');
    for (std::size_t i = n; i-- > 0;) {
        if (array.shape[i] == 1)
            continue;
        found[i] = found.find('v') == std::string::npos ? 'v' : 'p';
    }
    if (found.find('v') == std::string::npos && n > 0)
        found.back() = 'v'; // one row of one id
    if (std::count(found.begin(), found.end(), 'p') > 1)
        return fail(
            ErrorKind::BadFormat,
            "{} has the dimensions {}: which of them count probes cannot be known; say it with --axes, a letter "
            "for each (p probes, v vocabulary, 1 a single entry).",
            array.shown, array.shape_text());
    return found;
}

Result<Table> table_of(const Array& array, const std::string& axes)
{
    auto named = axes_of(array, axes);
    if (!named)
        return tl::unexpected(named.error());
    if (std::count(named->begin(), named->end(), 'v') != 1 || named->find_first_not_of("pv1") != std::string::npos)
        return fail(ErrorKind::Usage,
                    "--axes {}: a letter for each dimension is needed, p (probes), v (vocabulary, once) or 1 (a single "
                    "entry).",
                    *named);
    Table t;
    std::string order; // of the dimensions that matter, the slowest first
    for (std::size_t i = 0; i < named->size(); ++i) {
        const std::size_t d = array.column_major ? named->size() - 1 - i : i;
        const char axis = (*named)[d];
        if (axis == '1' && array.shape[d] != 1)
            return fail(ErrorKind::Usage, "--axes {} says that dimension {} of {} is a single entry, but it has {}.",
                        *named, d + 1, array.shown, array.shape[d]);
        (axis == 'v' ? t.columns : t.rows) *= array.shape[d];
        if (axis != '1' && (order.empty() || order.back() != axis || axis == 'v'))
            order += axis;
    }
    if (order.size() > 2 || (array.column_major && std::count(named->begin(), named->end(), 'p') > 1))
        return fail(
            ErrorKind::Unsupported,
            "{} has its probes on both sides of the vocabulary, or in several dimensions in column-major order; "
            "save it with the vocabulary as the last dimension, in C order.",
            array.shown);
    t.columns_first = order == "vp" && t.rows != 1 && t.columns != 1;
    if (t.rows == 0 || t.columns == 0)
        return fail(ErrorKind::BadFormat, "{} is empty: its dimensions are {}.", array.shown, array.shape_text());
    if (t.columns > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
        return fail(ErrorKind::BadFormat,
                    "{} would have a vocabulary of {} ids; say with --axes which dimension it is.", array.shown,
                    t.columns);
    return t;
}

} // namespace

std::uint64_t Array::elements() const
{
    return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

std::string Array::shape_text() const
{
    std::string text;
    for (const std::uint64_t n : shape)
        text += fmt::format("{}{}", text.empty() ? "" : " × ", n);
    return text.empty() ? "none" : text;
}

std::optional<std::uint64_t> bytes_of(const std::vector<std::uint64_t>& shape, std::uint64_t element_size)
{
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (std::find(shape.begin(), shape.end(), 0u) != shape.end())
        return 0;
    std::uint64_t bytes = element_size;
    for (const std::uint64_t n : shape) {
        if (bytes > most / n)
            return std::nullopt;
        bytes *= n;
    }
    return bytes;
}

Result<std::vector<std::int64_t>> integers_of(const Array& array, std::uint64_t most)
{
    const auto wide = std::count_if(array.shape.begin(), array.shape.end(), [](auto n) { return n != 1; });
    const bool integers = array.type == ElementType::Integer || array.type == ElementType::Unsigned;
    if (!integers || wide > 1)
        return fail(ErrorKind::BadFormat, "{} is no list of integers: it holds {} in the dimensions {}.", array.shown,
                    array.type_name, array.shape_text());
    const std::uint64_t n = array.elements();
    if (n > most)
        return fail(ErrorKind::BadFormat, "{} holds {} numbers, where at most {} are expected.", array.shown, n, most);
    std::vector<std::byte> raw(static_cast<std::size_t>(n * array.element_size));
    if (auto ok = array.bytes->read(0, raw); !ok)
        return tl::unexpected(ok.error());
    if (array.swap)
        swap_elements(raw, static_cast<std::size_t>(array.element_size));
    std::vector<std::int64_t> out(static_cast<std::size_t>(n));
    const auto size = static_cast<std::size_t>(array.element_size);
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, raw.data() + i * size, size);
        if (array.type == ElementType::Integer && size < 8 && (bits >> (8 * size - 1)) != 0)
            bits |= ~std::uint64_t{0} << (8 * size); // sign
        if (array.type == ElementType::Unsigned &&
            bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return fail(ErrorKind::BadFormat, "{} holds {}, which is too large.", array.shown, bits);
        out[i] = std::bit_cast<std::int64_t>(bits);
    }
    return out;
}

Result<std::shared_ptr<const RowSource>> rows_of(const Array& array, const std::string& axes,
                                                 std::optional<LogitType> type, std::optional<std::int64_t> vocabulary)
{
    const auto element = logit_type_of(array, type);
    if (!element)
        return tl::unexpected(element.error());
    const auto table = table_of(array, axes);
    if (!table)
        return tl::unexpected(table.error());
    const auto rows = static_cast<std::int64_t>(table->rows), stored = static_cast<std::int64_t>(table->columns);
    if (vocabulary && (*vocabulary < 1 || *vocabulary > stored))
        return fail(ErrorKind::Usage, "{} has {} columns, of which {} cannot be the vocabulary.", array.shown, stored,
                    *vocabulary);
    Array straight = array;
    if (table->columns_first)
        straight.bytes = transposed_bytes(array.bytes, array.shown, table->columns, table->rows,
                                          static_cast<std::uint64_t>(size_of(*element)));
    return std::make_shared<PlainArrayRows>(straight, *element, rows, stored, vocabulary.value_or(stored));
}

} // namespace flipscope::formats
