// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5_filters.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace flipscope::h5 {

namespace {

/// Registered filters (The HDF Group's list) that are met in logit files; a file often stores no name of its own.
constexpr std::array<std::pair<int, const char*>, 19> known_filters = {{
    {H5Z_FILTER_DEFLATE, "gzip"},
    {H5Z_FILTER_SHUFFLE, "shuffle"},
    {H5Z_FILTER_FLETCHER32, "fletcher32"},
    {H5Z_FILTER_SZIP, "szip"},
    {H5Z_FILTER_NBIT, "nbit"},
    {H5Z_FILTER_SCALEOFFSET, "scale-offset"},
    {305, "lzo"},
    {307, "bzip2"},
    {32000, "lzf"},
    {32001, "blosc"},
    {32004, "lz4"},
    {32008, "bitshuffle"},
    {32013, "zfp"},
    {32015, "zstd"},
    {32017, "sz"},
    {32018, "fcidecomp"},
    {32024, "sz3"},
    {32026, "blosc2"},
    {32028, "bitgroom"},
}};

std::string plugin_folders()
{
    std::vector<std::string> folders;
    const Session session;
    unsigned count = 0;
    if (H5PLsize(&count) >= 0)
        for (unsigned i = 0; i < count; ++i) {
            std::string folder(4096, '\0');
            const ssize_t length = H5PLget(i, folder.data(), folder.size());
            if (length <= 0)
                continue;
            folder.resize(std::min(static_cast<std::size_t>(length), folder.size() - 1));
            folders.push_back(one_line(folder));
        }
    return folders.empty() ? "no folder" : fmt::format("{}", fmt::join(folders, " and "));
}

} // namespace

std::vector<Filter> filters_of(hid_t creation)
{
    std::vector<Filter> out;
    const int count = H5Pget_nfilters(creation);
    for (int i = 0; i < count; ++i) {
        unsigned flags = 0;
        std::size_t count_values = 1;
        unsigned value = 0;
        std::array<char, 257> name = {};
        unsigned config = 0;
        const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &count_values, &value,
                                               name.size() - 1, name.data(), &config);
        if (id < 0)
            continue;
        Filter filter{id, one_line(name.data(), 60), count_values > 0 ? value : 0};
        for (const auto& [known, known_name] : known_filters)
            if (known == id)
                filter.name = known_name;
        out.push_back(std::move(filter));
    }
    return out;
}

std::vector<Filter> missing_filters(const std::vector<Filter>& filters)
{
    std::vector<Filter> out;
    for (const auto& filter : filters)
        if (H5Zfilter_avail(filter.id) <= 0)
            out.push_back(filter);
    return out;
}

std::string explain_missing(const std::string& dataset, const std::vector<Filter>& missing)
{
    std::vector<std::string> names;
    names.reserve(missing.size());
    for (const auto& filter : missing)
        names.push_back(
            fmt::format("{} ({})", filter.id, filter.name.empty() ? "unknown to this version" : filter.name));
    return fmt::format(
        "{} is compressed with HDF5 filter {}, for which no plug-in was found in {}; install the plug-in "
        "there or name its folder in HDF5_PLUGIN_PATH, or rewrite the file where it can be read with "
        "\"h5repack -f SHUF -f GZIP=1 IN OUT\"",
        dataset, fmt::join(names, " and "), plugin_folders());
}

} // namespace flipscope::h5
