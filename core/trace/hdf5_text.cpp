// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5_text.h"

#include "core/trace/hdf5_file.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace flipscope::h5 {

namespace {

constexpr std::size_t reference_size = 16;              ///< length (4), address (8), number (4)
constexpr std::uint64_t max_heap = 1ull << 28;          ///< bytes of one heap
constexpr std::size_t max_kept = std::size_t{64} << 20; ///< bytes of heaps kept in memory
constexpr std::size_t heap_header = 16, object_header = 16;

/// Little-endian, as everything in the structure of an HDF5 file.
std::uint64_t number_at(const char* p, std::size_t bytes)
{
    std::uint64_t out = 0;
    for (std::size_t i = bytes; i-- > 0;)
        out = out << 8 | static_cast<unsigned char>(p[i]);
    return out;
}

/// The library's hook for a conversion of one's own: from a reference in the file to 16 opaque bytes, which is nothing
/// to be done at all.
herr_t keep_reference(hid_t, hid_t to, H5T_cdata_t* data, std::size_t, std::size_t, std::size_t, void*, void*, hid_t)
{
    if (data->command != H5T_CONV_INIT)
        return 0;
    data->need_bkg = H5T_BKG_NO;
    return H5Tget_size(to) == reference_size ? 0 : -1;
}

Handle variable_text()
{
    Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.id(), H5T_VARIABLE);
    return type;
}

bool register_hook()
{
    static const bool done = [] {
        const Handle from = variable_text(), to(H5Tcreate(H5T_OPAQUE, reference_size));
        return H5Tregister(H5T_PERS_SOFT, "text reference", from.id(), to.id(), keep_reference) >= 0;
    }();
    return done;
}

} // namespace

Result<Heaps::Heap> Heaps::load(const File& file, std::uint64_t address)
{
    const auto broken = [&](const char* what) {
        return fail(ErrorKind::BadFormat, "the text heap at {} {}", address, what);
    };
    const auto read = [&](std::uint64_t at, char* out, std::size_t size) {
        return ::pread(file.descriptor->fd(), out, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
    };
    if (address > file.size || file.size - address < heap_header)
        return broken("lies outside of the file");
    char header[heap_header] = {};
    if (!read(address, header, sizeof header) || std::memcmp(header, "GCOL\1", 5) != 0)
        return broken("is no heap");
    const std::uint64_t size = number_at(header + 8, 8);
    if (size < heap_header || size > max_heap || size > file.size - address)
        return broken("has an impossible size");
    Heap heap;
    heap.content.resize(size);
    if (!read(address, heap.content.data(), size))
        return broken("cannot be read");
    for (std::size_t at = heap_header; at + object_header <= size;) {
        const char* p = heap.content.data() + at;
        const auto number = static_cast<std::uint32_t>(number_at(p, 2));
        const std::uint64_t length = number_at(p + 8, 8);
        if (number == 0) // the free space at the end
            break;
        at += object_header;
        if (length > size - at)
            return broken("holds a text that reaches beyond it");
        heap.objects[number] = {at, static_cast<std::size_t>(length)};
        at += (length + 7) / 8 * 8;
    }
    return heap;
}

Result<std::string> Heaps::text(const File& file, std::uint64_t address, std::uint32_t number, std::uint32_t length)
{
    auto it = heaps_.find(address);
    if (it == heaps_.end()) {
        auto heap = load(file, address);
        if (!heap)
            return tl::unexpected(heap.error());
        if (bytes_ + heap->content.size() > max_kept) {
            heaps_.clear();
            bytes_ = 0;
        }
        bytes_ += heap->content.size();
        it = heaps_.emplace(address, std::move(*heap)).first;
    }
    const auto object = it->second.objects.find(number);
    if (object == it->second.objects.end() || object->second.second < length)
        return fail(ErrorKind::BadFormat, "the text heap at {} has no text {} of {} bytes", address, number, length);
    return it->second.content.substr(object->second.first, length);
}

Result<TextReader> TextReader::of(hid_t stored, const File& file)
{
    TextReader reader;
    reader.variable_ = H5Tis_variable_str(stored) > 0;
    reader.space_padded_ = H5Tget_strpad(stored) == H5T_STR_SPACEPAD;
    if (!reader.variable_) {
        reader.size_ = H5Tget_size(stored);
        reader.memory_ = Handle(H5Tcopy(H5T_C_S1));
        H5Tset_size(reader.memory_.id(), reader.size_);
        H5Tset_strpad(reader.memory_.id(), H5Tget_strpad(stored));
        H5Tset_cset(reader.memory_.id(), H5Tget_cset(stored));
        return reader;
    }
    if (!file.usual_sizes || !register_hook())
        return fail(ErrorKind::Unsupported, "its text is stored with addresses of an unusual size");
    reader.size_ = reference_size;
    reader.memory_ = Handle(H5Tcreate(H5T_OPAQUE, reference_size));
    return reader;
}

Result<std::string> TextReader::text(const char* value, const File& file) const
{
    if (!variable_) {
        std::string s(value, size_);
        s.resize(std::min(s.find('\0'), s.size()));
        if (space_padded_)
            s.resize(s.find_last_not_of(' ') + 1);
        return valid_utf8(s);
    }
    const auto length = static_cast<std::uint32_t>(number_at(value, 4));
    const std::uint64_t address = number_at(value + 4, 8);
    if (length == 0 || address == 0) // never written, or empty
        return std::string();
    if (address > file.size)
        return fail(ErrorKind::BadFormat, "the text heap at {} lies outside of the file", address);
    auto text =
        file.heaps.text(file, address + file.user_block, static_cast<std::uint32_t>(number_at(value + 12, 4)), length);
    if (!text)
        return text;
    text->resize(std::min(text->find('\0'), text->size())); // some writers count the closing zero in
    return valid_utf8(*text);
}

} // namespace flipscope::h5
