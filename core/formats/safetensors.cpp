// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/safetensors.h"

#include "core/trace/hdf5.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

namespace flipscope::formats {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t format_limit = 100'000'000; // of the header, by the format itself
constexpr std::uint64_t most_header = 16u << 20;    // room for 100,000 tensors
constexpr int most_depth = 8;                       // three are in use
constexpr std::size_t most_dimensions = 32;

struct Kind {
    ElementType type;
    std::uint64_t size;
};

Kind kind_of(const std::string& name)
{
    static const std::map<std::string, Kind> known = {
        {"BF16", {ElementType::BF16, 2}},    {"F16", {ElementType::F16, 2}},      {"F32", {ElementType::F32, 4}},
        {"F64", {ElementType::F64, 8}},      {"I8", {ElementType::Integer, 1}},   {"I16", {ElementType::Integer, 2}},
        {"I32", {ElementType::Integer, 4}},  {"I64", {ElementType::Integer, 8}},  {"U8", {ElementType::Unsigned, 1}},
        {"U16", {ElementType::Unsigned, 2}}, {"U32", {ElementType::Unsigned, 4}}, {"U64", {ElementType::Unsigned, 8}},
    };
    const auto found = known.find(name);
    return found == known.end() ? Kind{ElementType::Other, 0} : found->second; // 0: of unknown size, never read
}

/// Parsed without exceptions, and no deeper than the format goes: a parser that recurses must not be led to.
Result<Json> parse_header(const std::string& text, const std::string& shown)
{
    bool too_deep = false;
    const auto json = Json::parse(
        text,
        [&](int depth, Json::parse_event_t, Json&) {
            too_deep = too_deep || depth > most_depth;
            return !too_deep;
        },
        false);
    if (json.is_discarded() || !json.is_object() || too_deep)
        return fail(ErrorKind::BadFormat, "{} has a header that is no JSON object: the file is damaged.", shown);
    return json;
}

/// An array of whole numbers that are not negative.
std::optional<std::vector<std::uint64_t>> numbers(const Json& entry, const char* key)
{
    const auto list = entry.find(key);
    if (list == entry.end() || !list->is_array() || list->size() > most_dimensions)
        return std::nullopt;
    std::vector<std::uint64_t> out;
    for (const auto& n : *list) {
        if (!n.is_number_unsigned())
            return std::nullopt;
        out.push_back(n.get<std::uint64_t>());
    }
    return out;
}

Result<Array> tensor_of(const std::string& name, const Json& entry, const BytesPtr& data, const std::string& shown)
{
    Array a;
    a.name = h5::valid_utf8(name);
    a.shown = fmt::format("{}: {}", shown, h5::one_line(name, 80));
    const auto broken = [&](std::string_view what) { return fail(ErrorKind::BadFormat, "{} {}.", a.shown, what); };
    if (!entry.is_object())
        return broken("is described by something else than a JSON object");
    const auto type = entry.find("dtype");
    const auto shape = numbers(entry, "shape"), place = numbers(entry, "data_offsets");
    if (type == entry.end() || !type->is_string() || !shape || !place || place->size() != 2)
        return broken("lacks its dtype, shape or data_offsets, or they are damaged");
    a.type_name = h5::one_line(type->get<std::string>(), 40);
    const Kind kind = kind_of(type->get<std::string>());
    a.type = kind.type;
    a.element_size = kind.size;
    a.shape = *shape;
    a.swap = std::endian::native == std::endian::big;
    const std::uint64_t begin = (*place)[0], end = (*place)[1];
    if (begin > end || end > data->size())
        return fail(ErrorKind::BadFormat,
                    "{} should lie at bytes {} to {}, but there are only {}: the file is cut short or damaged; copy or "
                    "save it again.",
                    a.shown, begin, end, data->size());
    const auto needed = bytes_of(a.shape, kind.size);
    if (kind.size != 0 && (!needed || *needed != end - begin))
        return fail(ErrorKind::BadFormat, "{} has {} bytes for the dimensions {} of type {}, which do not fit.",
                    a.shown, end - begin, a.shape_text(), a.type_name);
    a.bytes = part_of(data, begin, end - begin);
    return a;
}

} // namespace

bool is_safetensors(std::string_view head)
{
    if (head.size() < 10 || head[8] != '{')
        return false;
    std::uint64_t size = 0;
    std::memcpy(&size, head.data(), sizeof size);
    return size >= 2 && size <= format_limit;
}

Result<Safetensors> read_safetensors(const BytesPtr& bytes, const std::string& shown)
{
    std::uint64_t size = 0;
    if (bytes->size() < sizeof size)
        return fail(ErrorKind::BadFormat, "{} ends within the header of a safetensors file.", shown);
    if (auto ok = bytes->read(0, std::as_writable_bytes(std::span(&size, 1))); !ok)
        return tl::unexpected(ok.error());
    if (size > most_header || size > bytes->size() - sizeof size)
        return fail(ErrorKind::BadFormat,
                    "{} states a header of {} bytes, where {} follow and at most {} are read: it is cut short or no "
                    "safetensors file of logits; copy or save it again.",
                    shown, size, bytes->size() - sizeof size, most_header);
    std::string text(static_cast<std::size_t>(size), '\0');
    if (auto ok = bytes->read(sizeof size, std::as_writable_bytes(std::span(text))); !ok)
        return tl::unexpected(ok.error());
    const auto header = parse_header(text, shown);
    if (!header)
        return tl::unexpected(header.error());
    const BytesPtr data = part_of(bytes, sizeof size + size, bytes->size() - sizeof size - size);
    Safetensors out;
    for (const auto& [name, entry] : header->items()) {
        if (name == "__metadata__") {
            for (const auto& [key, value] : entry.items())
                if (value.is_string())
                    out.metadata.emplace_back(h5::one_line(key, 80), h5::valid_utf8(value.get<std::string>()));
            continue;
        }
        auto tensor = tensor_of(name, entry, data, shown);
        if (!tensor)
            return tl::unexpected(tensor.error());
        out.tensors.push_back(std::move(*tensor));
    }
    if (out.tensors.empty())
        return fail(ErrorKind::BadFormat, "{} is a safetensors file without tensors.", shown);
    return out;
}

} // namespace flipscope::formats
