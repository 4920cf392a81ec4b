// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/npy.h"

#include "core/trace/hdf5.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cstring>

namespace flipscope::formats {

namespace {

constexpr std::uint64_t most_header = 1u << 16;
constexpr std::size_t most_dimensions = 32;

/// The header is a Python dictionary with three keys, as in
/// {'descr': '<f2', 'fortran_order': False, 'shape': (3125, 151936), }
class Header {
public:
    explicit Header(std::string_view text) : rest_(text) {}

    bool parse()
    {
        if (!take('{'))
            return false;
        while (!take('}')) {
            const auto key = string();
            if (!key || !take(':'))
                return false;
            const bool good = *key == "descr"           ? read_type()
                              : *key == "fortran_order" ? read_order()
                              : *key == "shape"         ? read_shape()
                                                        : false;
            if (!good)
                return false;
            if (!take(',') && peek() != '}')
                return false;
        }
        return has_order_ && has_shape_ && !type.empty();
    }

    std::string type; ///< "<f2"; "record" for a list of fields
    bool column_major = false;
    std::vector<std::uint64_t> shape;

private:
    char peek()
    {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())))
            rest_.remove_prefix(1);
        return rest_.empty() ? '\0' : rest_.front();
    }
    bool take(char c)
    {
        if (peek() != c)
            return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool take(std::string_view word)
    {
        peek();
        if (!rest_.starts_with(word))
            return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    std::optional<std::string> string()
    {
        const char quote = peek();
        if (quote != '\'' && quote != '"')
            return std::nullopt;
        const std::size_t end = rest_.find(quote, 1);
        if (end == std::string_view::npos)
            return std::nullopt;
        std::string text(rest_.substr(1, end - 1));
        rest_.remove_prefix(end + 1);
        return text;
    }
    bool read_type()
    {
        if (peek() == '[') { // a record: skipped up to its end, to be named
            int depth = 0;
            do {
                if (const char c = peek(); c == '\'' || c == '"') {
                    if (!string())
                        return false;
                    continue;
                }
                if (rest_.empty())
                    return false;
                depth += rest_.front() == '[' ? 1 : rest_.front() == ']' ? -1 : 0;
                rest_.remove_prefix(1);
            } while (depth > 0);
            type = "record";
            return true;
        }
        auto text = string();
        type = text.value_or("");
        return text.has_value();
    }
    bool read_order()
    {
        has_order_ = true;
        if (take("True"))
            return column_major = true;
        return take("False");
    }
    bool read_shape()
    {
        has_shape_ = take('(');
        while (has_shape_ && !take(')')) {
            std::uint64_t n = 0;
            peek();
            const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
            if (error != std::errc() || shape.size() == most_dimensions)
                return false;
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            take('L'); // Python 2 wrote long integers so
            shape.push_back(n);
            if (!take(',') && peek() != ')')
                return false;
        }
        return has_shape_;
    }

    std::string_view rest_;
    bool has_order_ = false, has_shape_ = false;
};

/// Length of the header's text and where it starts.
struct HeaderPlace {
    std::uint64_t offset = 0, size = 0;
};

Result<HeaderPlace> header_place(const ByteSource& bytes, const std::string& shown)
{
    std::array<unsigned char, 12> start = {};
    if (bytes.size() < start.size())
        return fail(ErrorKind::BadFormat, "{} ends within the header of a NumPy array.", shown);
    if (auto ok = bytes.read(0, std::as_writable_bytes(std::span(start))); !ok)
        return tl::unexpected(ok.error());
    if (std::memcmp(start.data(), npy_magic.data(), npy_magic.size()) != 0)
        return fail(ErrorKind::BadFormat, "{} is no NumPy array: it does not begin like one.", shown);
    const unsigned version = start[6];
    if (version < 1 || version > 3)
        return fail(ErrorKind::Unsupported, "{} is a NumPy array of format version {}, where 1 to 3 are known.", shown,
                    version);
    HeaderPlace place;
    place.offset = version == 1 ? 10 : 12;
    for (std::size_t i = version == 1 ? 2 : 4; i-- > 0;)
        place.size = place.size * 256 + start[8 + i];
    if (place.size > most_header)
        return fail(ErrorKind::BadFormat, "{} states a header of {} bytes, where some hundred are usual.", shown,
                    place.size);
    if (place.size > bytes.size() - place.offset)
        return fail(ErrorKind::BadFormat, "{} ends within the header of a NumPy array.", shown);
    return place;
}

/// "<f2" and its kin: byte order, kind, size.
Result<void> set_type(const std::string& type, Array& array)
{
    array.type_name = h5::one_line(type, 40);
    const auto refuse = [&](std::string_view why) {
        return fail(ErrorKind::Unsupported, "{} holds elements of type {}{}.", array.shown, array.type_name, why);
    };
    if (type == "record")
        return refuse(", which have several fields; save the logits as an array of their own");
    if (type.size() < 2 || std::string_view("<>|=").find(type[0]) == std::string_view::npos)
        return refuse(", which this version does not read");
    if (type[1] == 'O')
        return refuse(": Python objects, which are not loaded from files; save the logits as numbers");
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(type.data() + 2, type.data() + type.size(), size);
    if (error != std::errc() || end != type.data() + type.size() || size < 1 || size > 16)
        return refuse(", which this version does not read");
    array.element_size = size;
    array.swap = type[0] == '>' && size > 1;
    const bool power = size == 1 || size == 2 || size == 4 || size == 8;
    if (type[1] == 'f' && size >= 2 && power)
        array.type = size == 2 ? ElementType::F16 : size == 4 ? ElementType::F32 : ElementType::F64;
    else if (type[1] == 'i' && power)
        array.type = ElementType::Integer;
    else if (type[1] == 'u' && power)
        array.type = ElementType::Unsigned;
    else if (type[1] == 'V' && size == 2)
        array.type = ElementType::Raw2;
    return {};
}

} // namespace

Result<Array> parse_npy(BytesPtr bytes, std::string name, std::string shown)
{
    const auto place = header_place(*bytes, shown);
    if (!place)
        return tl::unexpected(place.error());
    std::string text(static_cast<std::size_t>(place->size), '\0');
    if (auto ok = bytes->read(place->offset, std::as_writable_bytes(std::span(text))); !ok)
        return tl::unexpected(ok.error());
    Header header(text);
    if (!header.parse())
        return fail(ErrorKind::BadFormat, "{} has a header that no NumPy writes: {}", shown,
                    h5::one_line(text.empty() ? "it is empty" : text, 120) + '.');
    Array array;
    array.name = std::move(name);
    array.shown = std::move(shown);
    if (auto ok = set_type(header.type, array); !ok)
        return tl::unexpected(ok.error());
    array.column_major = header.column_major;
    array.shape = std::move(header.shape);
    const auto needed = bytes_of(array.shape, array.element_size);
    const std::uint64_t there = bytes->size() - place->offset - place->size;
    if (!needed || *needed > there)
        return fail(ErrorKind::BadFormat,
                    "{} is cut short: its dimensions {} need {} bytes, and {} are there; copy or save it again.",
                    array.shown, array.shape_text(), needed ? fmt::format("{}", *needed) : "too many", there);
    array.bytes = part_of(std::move(bytes), place->offset + place->size, *needed);
    return array;
}

} // namespace flipscope::formats
