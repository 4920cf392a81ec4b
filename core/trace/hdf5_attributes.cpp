// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5_attributes.h"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>

namespace flipscope::h5 {

namespace {

constexpr std::size_t max_attributes = 10'000;
constexpr std::uint64_t max_values = 65'536;     ///< in one attribute
constexpr std::uint64_t max_bytes = 16ull << 20; ///< of one attribute in memory

struct Opened {
    Handle id, type;
    std::size_t count = 0;
    std::size_t size = 0;
};

std::optional<std::vector<std::string>> string_values(const Opened& a, const File& file)
{
    const auto reader = TextReader::of(a.type.id(), file);
    if (!reader)
        return std::nullopt;
    std::string values(a.count * reader->size(), '\0');
    if (H5Aread(a.id.id(), reader->memory_type(), values.data()) < 0)
        return std::nullopt;
    std::vector<std::string> out;
    for (std::size_t i = 0; i < a.count; ++i) {
        auto text = reader->text(values.data() + i * reader->size(), file);
        if (!text)
            return std::nullopt;
        out.push_back(std::move(*text));
    }
    return out;
}

template <class T>
std::optional<std::vector<T>> number_values(const Opened& a, hid_t memory)
{
    std::vector<T> values(a.count);
    if (H5Aread(a.id.id(), memory, values.data()) < 0)
        return std::nullopt;
    return values;
}

std::optional<std::vector<std::string>> enum_values(const Opened& a)
{
    std::vector<std::byte> raw(a.count * a.size);
    if (H5Aread(a.id.id(), a.type.id(), raw.data()) < 0)
        return std::nullopt;
    std::vector<std::string> out;
    for (std::size_t i = 0; i < a.count; ++i) {
        std::array<char, 256> name = {};
        if (H5Tenum_nameof(a.type.id(), &raw[i * a.size], name.data(), name.size() - 1) < 0)
            return std::nullopt;
        const std::string_view text(name.data());
        out.push_back(text == "TRUE" ? "true" : text == "FALSE" ? "false" : valid_utf8(text)); // as h5py stores bool
    }
    return out;
}

template <class T>
void set_numbers(Attribute& out, const std::optional<std::vector<T>>& values)
{
    if (!values)
        return;
    out.text = fmt::format("{}", fmt::join(*values, ", "));
    if (values->size() != 1)
        return;
    out.real = static_cast<double>(values->front());
    if constexpr (std::is_integral_v<T>)
        if (std::in_range<std::int64_t>(values->front()))
            out.integer = static_cast<std::int64_t>(values->front());
}

void set_strings(Attribute& out, const std::optional<std::vector<std::string>>& values)
{
    if (values)
        out.text = fmt::format("{}", fmt::join(*values, ", "));
}

Attribute read_values(std::string name, const Opened& a, const File& file)
{
    Attribute out;
    out.name = std::move(name);
    switch (H5Tget_class(a.type.id())) {
    case H5T_STRING:
        set_strings(out, string_values(a, file));
        break;
    case H5T_ENUM:
        set_strings(out, enum_values(a));
        break;
    case H5T_INTEGER:
        if (a.size <= 8 && H5Tget_sign(a.type.id()) == H5T_SGN_NONE)
            set_numbers(out, number_values<std::uint64_t>(a, H5T_NATIVE_UINT64));
        else if (a.size <= 8)
            set_numbers(out, number_values<std::int64_t>(a, H5T_NATIVE_INT64));
        break;
    case H5T_FLOAT:
        if (a.size <= 4)
            set_numbers(out, number_values<float>(a, H5T_NATIVE_FLOAT));
        else if (a.size <= 16)
            set_numbers(out, number_values<double>(a, H5T_NATIVE_DOUBLE));
        break;
    default: // nothing a person would write down
        break;
    }
    return out;
}

std::optional<Opened> open_checked(hid_t object, const std::string& name)
{
    Opened a;
    a.id = Handle(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    if (!a.id)
        return std::nullopt;
    a.type = Handle(H5Aget_type(a.id.id()));
    a.size = H5Tget_size(a.type.id());
    const Handle space(H5Aget_space(a.id.id()));
    const hssize_t count = H5Sget_simple_extent_npoints(space.id());
    // Attributes are held in memory whole by the library, so that their stored size bounds what is taken here.
    if (a.size == 0 || count <= 0 || static_cast<std::uint64_t>(count) > max_values ||
        a.size > max_bytes / static_cast<std::uint64_t>(count))
        return std::nullopt;
    a.count = static_cast<std::size_t>(count);
    return a;
}

} // namespace

const Attribute* Attributes::find(std::string_view name) const
{
    const auto it = std::lower_bound(list_.begin(), list_.end(), name,
                                     [](const Attribute& a, std::string_view n) { return a.name < n; });
    return it != list_.end() && it->name == name ? &*it : nullptr;
}

std::string Attributes::text(std::string_view name) const
{
    const Attribute* a = find(name);
    return a == nullptr ? std::string() : a->text;
}

Result<Attributes> read_attributes(const File& file, hid_t object, const std::string& path)
{
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
        auto& list = *static_cast<std::vector<std::string>*>(out);
        list.emplace_back(name);
        return list.size() > max_attributes ? -1 : 0;
    };
    hsize_t index = 0;
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &index, add, &names) < 0)
        return fail(ErrorKind::BadFormat, "the attributes of {} cannot be read: {}", path.empty() ? "/" : path,
                    last_error());
    Attributes out;
    for (auto& name : names) {
        const auto opened = open_checked(object, name);
        if (!opened)
            continue;
        Attribute value = read_values(valid_utf8(name), *opened, file);
        if (!value.text.empty())
            out.all().push_back(std::move(value));
    }
    std::sort(out.all().begin(), out.all().end(),
              [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
    return out;
}

} // namespace flipscope::h5
