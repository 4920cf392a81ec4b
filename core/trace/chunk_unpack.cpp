// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/chunk_unpack.h"

#include <algorithm>
#include <limits>
#include <zlib.h>

namespace flipscope::h5 {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t checksum_bytes = 4;

Result<Bytes> inflate_exactly(const Bytes& in, std::uint64_t size)
{
    Bytes out(size);
    z_stream z = {};
    if (inflateInit(&z) != Z_OK)
        return fail(ErrorKind::OutOfMemory, "cannot be unpacked: zlib does not start");
    constexpr std::size_t step = std::numeric_limits<uInt>::max(); // zlib counts in 32 bits
    std::size_t taken = 0, made = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        const auto in_now = static_cast<uInt>(std::min(step, in.size() - taken));
        const auto out_now = static_cast<uInt>(std::min(step, out.size() - made));
        z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + taken));
        z.avail_in = in_now;
        z.next_out = reinterpret_cast<Bytef*>(out.data() + made);
        z.avail_out = out_now;
        status = inflate(&z, Z_NO_FLUSH);
        taken += in_now - z.avail_in;
        made += out_now - z.avail_out;
    }
    inflateEnd(&z);
    if (status == Z_STREAM_END && made == out.size())
        return out;
    if (status == Z_STREAM_END || (status == Z_BUF_ERROR && made == out.size()))
        return fail(ErrorKind::BadFormat, "does not unpack to the {} bytes of a chunk", size);
    return fail(ErrorKind::BadFormat, "is damaged: its gzip data break off or are wrong after {} of {} bytes", made,
                size);
}

/// Byte j of element i stands at j * n + i; what does not fill an element stands at the end as it was. A damaged size
/// of elements may be anything: fewer than two elements are left alone, as HDF5 does.
Bytes unshuffle(const Bytes& in, std::size_t element)
{
    const std::size_t n = element == 0 ? 0 : in.size() / element;
    if (element < 2 || n < 2)
        return in;
    Bytes out(in.size());
    for (std::size_t j = 0; j < element; ++j)
        for (std::size_t i = 0; i < n; ++i)
            out[i * element + j] = in[j * n + i];
    std::copy(in.begin() + static_cast<std::ptrdiff_t>(n * element), in.end(),
              out.begin() + static_cast<std::ptrdiff_t>(n * element));
    return out;
}

/// Fletcher's checksum over big-endian 16-bit words modulo 65535, an odd last byte padded with zero.
std::uint32_t fletcher32(const std::byte* data, std::size_t size)
{
    std::uint64_t a = 0, b = 0;
    for (std::size_t i = 0; i < size; i += 2) {
        const auto high = static_cast<std::uint64_t>(data[i]) << 8;
        a = (a + high + (i + 1 < size ? static_cast<std::uint64_t>(data[i + 1]) : 0)) % 65535;
        b = (b + a) % 65535;
    }
    return static_cast<std::uint32_t>(b << 16 | a);
}

/// A sum modulo 65535 may be kept as 0 or as 65535.
std::uint32_t canonical(std::uint32_t checksum)
{
    return (checksum >> 16) % 65535 << 16 | (checksum & 0xffff) % 65535;
}

Result<Bytes> strip_checksum(Bytes in)
{
    if (in.size() < checksum_bytes)
        return fail(ErrorKind::BadFormat, "is too short for its checksum");
    const std::size_t size = in.size() - checksum_bytes;
    std::uint32_t stored = 0;
    for (std::size_t i = 0; i < checksum_bytes; ++i)
        stored |= static_cast<std::uint32_t>(in[size + i]) << (8 * i);
    const std::uint32_t computed = canonical(fletcher32(in.data(), size));
    // Versions before 1.6.3 wrote the two bytes of each half the other way round.
    const std::uint32_t swapped = (stored & 0x00ff00ffu) << 8 | (stored >> 8 & 0x00ff00ffu);
    if (canonical(stored) != computed && canonical(swapped) != computed)
        return fail(ErrorKind::BadFormat, "is damaged: its checksum is wrong");
    in.resize(size);
    return in;
}

} // namespace

bool can_unpack(const std::vector<Filter>& filters)
{
    return std::all_of(filters.begin(), filters.end(), [](const Filter& f) {
        return f.id == H5Z_FILTER_DEFLATE || f.id == H5Z_FILTER_SHUFFLE || f.id == H5Z_FILTER_FLETCHER32;
    });
}

Result<Bytes> unpack_chunk(Bytes stored, const std::vector<Filter>& filters, unsigned mask, std::size_t element_size,
                           std::uint64_t chunk_bytes)
{
    for (std::size_t i = filters.size(); i-- > 0;) {
        if (i < 32 && (mask >> i & 1u) != 0)
            continue;
        // Filters applied before this one have added their checksums to what it saw.
        std::uint64_t size = chunk_bytes;
        for (std::size_t j = 0; j < i; ++j)
            if (filters[j].id == H5Z_FILTER_FLETCHER32 && (j >= 32 || (mask >> j & 1u) == 0))
                size += checksum_bytes;
        Result<Bytes> undone = Bytes();
        if (filters[i].id == H5Z_FILTER_DEFLATE)
            undone = inflate_exactly(stored, size);
        else if (filters[i].id == H5Z_FILTER_SHUFFLE)
            undone = unshuffle(stored, filters[i].parameter == 0 ? element_size : filters[i].parameter);
        else
            undone = strip_checksum(std::move(stored));
        if (!undone)
            return undone;
        stored = std::move(*undone);
    }
    if (stored.size() != chunk_bytes)
        return fail(ErrorKind::BadFormat, "holds {} bytes where a chunk has {}", stored.size(), chunk_bytes);
    return stored;
}

} // namespace flipscope::h5
