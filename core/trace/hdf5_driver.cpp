// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5_driver.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <limits>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

namespace flipscope::h5 {

namespace {

constexpr haddr_t max_address = std::numeric_limits<std::int64_t>::max();

struct DriverFile {
    H5FD_t common = {}; // first: the library sees only this part
    int descriptor = -1;
    haddr_t end_of_allocation = 0;
    ChunkLocation* looked_for = nullptr; ///< set: raw data is not read, where it lies is noted here
};

DriverFile* ours(H5FD_t* file)
{
    return reinterpret_cast<DriverFile*>(file);
}

const DriverFile* ours(const H5FD_t* file)
{
    return reinterpret_cast<const DriverFile*>(file);
}

H5FD_t* open_file(const char*, unsigned flags, hid_t access, haddr_t)
{
    const auto* descriptor = static_cast<const int*>(H5Pget_driver_info(access));
    if (descriptor == nullptr || (flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT)) != 0)
        return nullptr;
    auto file = std::make_unique<DriverFile>();
    file->descriptor = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (file->descriptor < 0)
        return nullptr;
    return reinterpret_cast<H5FD_t*>(file.release());
}

herr_t close_file(H5FD_t* file)
{
    const std::unique_ptr<DriverFile> owned(ours(file));
    return ::close(owned->descriptor) == 0 ? 0 : -1;
}

herr_t query_features(const H5FD_t*, unsigned long* flags)
{
    *flags = H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_ACCUMULATE_METADATA_READ;
#ifdef H5FD_FEAT_DEFAULT_VFD_COMPATIBLE
    *flags |= H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
#endif
    return 0;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t)
{
    // A chunk beyond the end is to be seen, not refused with a word that does not say where it lies.
    return ours(file)->looked_for != nullptr ? max_address : ours(file)->end_of_allocation;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address)
{
    ours(file)->end_of_allocation = address;
    return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t)
{
    struct stat s = {};
    return ::fstat(ours(file)->descriptor, &s) == 0 ? static_cast<haddr_t>(s.st_size) : HADDR_UNDEF;
}

herr_t read_block(H5FD_t* file, H5FD_mem_t kind, hid_t, haddr_t address, std::size_t size, void* buffer)
{
    if (kind == H5FD_MEM_DRAW && ours(file)->looked_for != nullptr) {
        ours(file)->looked_for->address = address; // the mask is the library's to set
        ours(file)->looked_for->size = size;
        return 0;
    }
    auto* out = static_cast<char*>(buffer);
    while (size > 0) {
        if (address > max_address - size)
            return -1;
        const ssize_t n = ::pread(ours(file)->descriptor, out, size, static_cast<off_t>(address));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) // an error, or the end: a file that was cut must not read as zeros
            return -1;
        out += n;
        size -= static_cast<std::size_t>(n);
        address += static_cast<haddr_t>(n);
    }
    return 0;
}

herr_t get_handle(H5FD_t* file, hid_t, void** handle)
{
    *handle = file;
    return 0;
}

herr_t refuse_to_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*)
{
    return -1;
}

H5FD_class_t make_class()
{
    H5FD_class_t c = {};
#if H5_VERSION_GE(1, 13, 2)
    c.version = H5FD_CLASS_VERSION;
    c.value = static_cast<H5FD_class_value_t>(600); // of the range the library leaves to applications
#endif
    c.name = "flipscope-read-only";
    c.maxaddr = max_address;
    c.fc_degree = H5F_CLOSE_WEAK;
    c.fapl_size = sizeof(int);
    c.open = open_file;
    c.close = close_file;
    c.cmp = nullptr; // no two openings are the same file, whatever the disk says
    c.query = query_features;
    c.get_eoa = end_of_allocation;
    c.set_eoa = set_end_of_allocation;
    c.get_eof = end_of_file;
    c.get_handle = get_handle;
    c.read = read_block;
    c.write = refuse_to_write;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), c.fl_map);
    return c;
}

} // namespace

bool use_read_only_driver(hid_t access, int descriptor)
{
    static const H5FD_class_t driver_class = make_class();
    static const hid_t driver = H5FDregister(&driver_class);
    return driver >= 0 && H5Pset_driver(access, driver, &descriptor) >= 0;
}

std::optional<ChunkLocation> locate_chunk(hid_t file, hid_t dataset, const hsize_t* at)
{
    void* handle = nullptr;
    ChunkLocation found;
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0)
        return std::nullopt;
    auto* driver_file = static_cast<DriverFile*>(handle);
    char nothing_is_read = 0;
    driver_file->looked_for = &found;
    const herr_t done = H5Dread_chunk(dataset, H5P_DEFAULT, at, &found.mask, &nothing_is_read);
    driver_file->looked_for = nullptr;
    return done < 0 ? std::nullopt : std::optional(found);
}

} // namespace flipscope::h5
