// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace flipscope {

/// Metrics tables under $XDG_CACHE_HOME/flipscope (else ~/.cache/flipscope), never beside the input.
/// A damaged or unreadable cache entry is the same as none.
class TableCache {
public:
    explicit TableCache(std::filesystem::path folder);
    /// The user's cache, or nullopt where there is none or FLIPSCOPE_NO_CACHE is set.
    static std::optional<TableCache> of_user();

    /// Key over metric version, engine, and for both files: path-independent stamp (size, mtime in ns, inode), content
    /// key and positions. nullopt = must not be cached (a file younger than 2 s, or changed since it was opened).
    static std::optional<std::string> key(const Trace& baseline, const Trace& run, std::string_view engine);

    std::optional<MetricsTable> load(const std::string& key) const;
    void store(const std::string& key, const MetricsTable& table) const;

    const std::filesystem::path& folder() const { return folder_; }
    std::uintmax_t size() const; ///< bytes of all entries
    void clear() const;          ///< removes the entries, and nothing else that may be in the folder

private:
    std::filesystem::path folder_;
};

} // namespace flipscope
