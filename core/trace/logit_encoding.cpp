// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/logit_encoding.h"

#include "core/trace/hdf5_attributes.h"

#include <algorithm>
#include <bit>

namespace flipscope::h5 {

namespace {

struct FloatLayout {
    LogitType type;
    std::size_t bytes, sign, exponent_at, exponent_bits, mantissa_bits, bias;
};

constexpr FloatLayout layouts[] = {
    {LogitType::BF16, 2, 15, 7, 8, 7, 127},
    {LogitType::F16, 2, 15, 10, 5, 10, 15},
    {LogitType::F32, 4, 31, 23, 8, 23, 127},
    {LogitType::F64, 8, 63, 52, 11, 52, 1023},
};

bool is_big_endian(hid_t type)
{
    return H5Tget_order(type) == H5T_ORDER_BE;
}

constexpr bool machine_is_big_endian = std::endian::native == std::endian::big;

Result<Encoding> float_encoding(const Dataset& d)
{
    std::size_t sign = 0, exponent_at = 0, exponent_bits = 0, mantissa_at = 0, mantissa_bits = 0;
    const hid_t type = d.type.id();
    const bool read = H5Tget_fields(type, &sign, &exponent_at, &exponent_bits, &mantissa_at, &mantissa_bits) >= 0;
    const H5T_order_t order = H5Tget_order(type);
    for (const auto& l : layouts)
        if (read && d.type_size == l.bytes && sign == l.sign && exponent_at == l.exponent_at &&
            exponent_bits == l.exponent_bits && mantissa_at == 0 && mantissa_bits == l.mantissa_bits &&
            H5Tget_ebias(type) == l.bias && H5Tget_norm(type) == H5T_NORM_IMPLIED && H5Tget_offset(type) == 0 &&
            (order == H5T_ORDER_LE || order == H5T_ORDER_BE))
            return Encoding{l.type, (order == H5T_ORDER_BE) != machine_is_big_endian};
    return fail(ErrorKind::Unsupported,
                "{} holds a {}-byte floating-point type with {} exponent bits at bit {} and {} mantissa bits, which is "
                "none of bfloat16, float16, float32 and float64",
                d.path, d.type_size, exponent_bits, exponent_at, mantissa_bits);
}

/// "bfloat16" where an attribute `dtype` or the opaque tag says so, else what they say.
std::string mark_of(const Dataset& d, const File& file)
{
    std::string mark;
    if (const auto attributes = read_attributes(file, d.id.id(), d.path))
        mark = attributes->text("dtype");
    if (mark.empty() && d.type_class == H5T_OPAQUE)
        if (char* tag = H5Tget_tag(d.type.id())) {
            mark = tag;
            H5free_memory(tag);
        }
    return mark;
}

Result<Encoding> marked_encoding(const Dataset& d, const File& file)
{
    const std::string mark = mark_of(d, file);
    if (mark == "bfloat16")
        return Encoding{LogitType::BF16, d.type_class == H5T_INTEGER
                                             ? is_big_endian(d.type.id()) != machine_is_big_endian
                                             : machine_is_big_endian};
    const std::string what = d.type_class == H5T_INTEGER ? "16-bit integers" : "2-byte opaque values";
    if (mark.empty())
        return fail(ErrorKind::Unsupported,
                    "{} holds {} without a word on what they mean; if they are bfloat16, add the attribute dtype = "
                    "\"bfloat16\" to the dataset (h5py: f[\"{}\"].attrs[\"dtype\"] = \"bfloat16\")",
                    d.path, what, d.path);
    return fail(ErrorKind::Unsupported, "{} holds {} marked \"{}\", where only \"bfloat16\" is known", d.path, what,
                one_line(mark, 40));
}

} // namespace

Result<Encoding> encoding_of(const Dataset& d, const File& file)
{
    if (d.type_class == H5T_FLOAT)
        return float_encoding(d);
    if (d.type_size == 2 && (d.type_class == H5T_OPAQUE || d.type_class == H5T_INTEGER))
        return marked_encoding(d, file);
    return fail(ErrorKind::Unsupported, "{} does not hold floating-point numbers", d.path);
}

void swap_elements(std::span<std::byte> data, std::size_t element_size)
{
    for (std::size_t i = 0; i + element_size <= data.size(); i += element_size)
        std::reverse(data.begin() + static_cast<std::ptrdiff_t>(i),
                     data.begin() + static_cast<std::ptrdiff_t>(i + element_size));
}

Result<std::vector<double>> read_reals(const Group& group, const std::string& name, std::uint64_t maximum)
{
    const auto d = open_dataset(group, name);
    if (!d)
        return tl::unexpected(d.error());
    if (d->elements > maximum)
        return fail(ErrorKind::Unsupported, "{} has {} elements, more than this version reads ({})", d->path,
                    d->elements, maximum);
    if (auto ok = check_readable(*d, *group.file); !ok)
        return tl::unexpected(ok.error());
    if (d->type_class == H5T_INTEGER && d->type_size != 2) {
        const auto integers = read_all_integers(*d, maximum);
        if (!integers)
            return tl::unexpected(integers.error());
        return std::vector<double>(integers->begin(), integers->end());
    }
    const auto encoding = encoding_of(*d, *group.file);
    if (!encoding)
        return tl::unexpected(encoding.error());
    std::vector<std::byte> raw(d->bytes());
    if (!raw.empty() && H5Dread(d->id.id(), d->type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.data()) < 0)
        return fail(ErrorKind::BadFormat, "{} cannot be read: {}", d->path, last_error());
    if (encoding->swap)
        swap_elements(raw, d->type_size);
    std::vector<double> out(d->elements);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = widen(raw.data(), encoding->type, i);
    return out;
}

} // namespace flipscope::h5
