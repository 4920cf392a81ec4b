// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/cache.h"

#include "core/analysis/table_bytes.h"
#include "core/base/cache_folder.h"
#include "core/base/hash.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <system_error>

namespace flipscope {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t young_ns = 2'000'000'000; // clocks of file systems tick coarsely: a rewrite may keep the time
constexpr std::uintmax_t cache_limit = 512u << 20;

std::string positions_key(const Trace& trace)
{
    Hasher hash;
    const auto add = [&](const ProbeSet& set) {
        hash.add(std::as_bytes(std::span(set.positions)));
        const std::int64_t end = -1; // no position: keeps one set apart from the next
        hash.add(std::as_bytes(std::span(&end, 1)));
    };
    add(trace.probes);
    for (const ProbeSet& set : trace.dense)
        add(set);
    return hash.hex();
}

std::optional<std::string> side_key(const Trace& trace)
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    const auto stamp = stamp_of(trace.path);
    if (!stamp || *stamp != trace.stamp || now_ns - stamp->mtime_ns < young_ns || trace.content_key.empty())
        return std::nullopt;
    return fmt::format("{}:{}:{}:{}:{}", stamp->size, stamp->mtime_ns, stamp->inode, trace.content_key,
                       positions_key(trace));
}

struct Entry {
    fs::file_time_type used;
    std::uintmax_t size;
    fs::path path;
};

std::vector<Entry> entries_in(const fs::path& folder)
{
    std::vector<Entry> entries;
    std::error_code error;
    for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
        std::error_code gone;
        if (it->path().extension() != ".table")
            continue;
        const auto size = it->file_size(gone);
        const auto used = it->last_write_time(gone);
        if (!gone)
            entries.push_back({used, size, it->path()});
    }
    return entries;
}

std::uintmax_t size_of(const std::vector<Entry>& entries)
{
    std::uintmax_t total = 0;
    for (const Entry& entry : entries)
        total += entry.size;
    return total;
}

/// Oldest entries go once the folder has grown beyond its limit; what cannot be removed stays.
void prune(const fs::path& folder)
{
    std::vector<Entry> entries = entries_in(folder);
    std::uintmax_t total = size_of(entries);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    std::error_code error;
    for (auto e = entries.begin(); e != entries.end() && total > cache_limit; ++e) {
        fs::remove(e->path, error);
        total -= e->size;
    }
}

} // namespace

TableCache::TableCache(fs::path folder) : folder_(std::move(folder)) {}

std::optional<TableCache> TableCache::of_user()
{
    const char* off = std::getenv("FLIPSCOPE_NO_CACHE");
    if (off != nullptr && *off != '\0' && std::string_view(off) != "0")
        return std::nullopt;
    auto folder = cache_folder();
    return folder ? std::optional(TableCache(std::move(*folder))) : std::nullopt;
}

std::optional<std::string> TableCache::key(const Trace& baseline, const Trace& run, std::string_view engine)
{
    const auto p = side_key(baseline), q = side_key(run);
    if (!p || !q)
        return std::nullopt;
    Hasher hash;
    hash.add(fmt::format("metrics {}\nengine {}\nbaseline {}\nrun {}\n", metrics_version, engine, *p, *q));
    return hash.hex();
}

std::optional<MetricsTable> TableCache::load(const std::string& key) const
{
    // What we did not put there (a pipe, a device, a folder) is not read: it might never end.
    const fs::path entry = folder_ / (key + ".table");
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(entry, error)))
        return std::nullopt;
    const auto size = fs::file_size(entry, error);
    std::ifstream in(entry, std::ios::binary);
    if (error || size > cache_limit || !in)
        return std::nullopt;
    std::string bytes(size, '\0');
    if (!in.read(bytes.data(), static_cast<std::streamsize>(size)))
        return std::nullopt;
    auto table = table_from_bytes(bytes, key);
    if (table) {
        table->from_cache = true;
        std::error_code ignored; // used just now: the last to be pruned
        fs::last_write_time(entry, fs::file_time_type::clock::now(), ignored);
    }
    return table;
}

void TableCache::store(const std::string& key, const MetricsTable& table) const
{
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
        return;
    // A cache that cannot be written only costs time: nobody needs to hear of it.
    const fs::path entry = folder_ / (key + ".table");
    const auto status = fs::symlink_status(entry, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) // writing into a pipe would wait for a reader
        return;
    if (write_text(entry, table_to_bytes(table, key)))
        prune(folder_);
}

std::uintmax_t TableCache::size() const
{
    return size_of(entries_in(folder_));
}

void TableCache::clear() const
{
    std::error_code error;
    for (const Entry& entry : entries_in(folder_))
        fs::remove(entry.path, error);
}

} // namespace flipscope
