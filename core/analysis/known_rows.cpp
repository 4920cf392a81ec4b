// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/known_rows.h"

#include "core/base/hash.h"

#include <algorithm>
#include <list>

namespace flipscope {

namespace {

struct Entry {
    std::weak_ptr<const RowSource> rows;
    std::string positions; ///< hash: rows go by their positions, which two sets over the same rows might tell otherwise
    std::shared_ptr<KnownRows> known;
};

/// Of all sets whose rows are open.
struct Entries {
    std::mutex mutex;
    std::list<Entry> list;
    std::uint64_t last_name = 0;

    static Entries& get()
    {
        static Entries all;
        return all;
    }
};

std::string hash_of(const std::vector<std::int64_t>& positions)
{
    Hasher hash;
    hash.add(std::as_bytes(std::span(positions)));
    return hash.hex();
}

} // namespace

void KnownRows::remember(std::int64_t row, const std::string& hash)
{
    const auto i = static_cast<std::size_t>(row);
    const std::lock_guard lock(mutex_);
    if (i < hashes_.size() && hash.size() == Digits().size())
        std::copy(hash.begin(), hash.end(), hashes_[i].begin());
}

std::optional<std::string> KnownRows::hash_of(std::int64_t row) const
{
    const auto i = static_cast<std::size_t>(row);
    const std::lock_guard lock(mutex_);
    if (i >= hashes_.size() || hashes_[i][0] == 0)
        return std::nullopt;
    return std::string(hashes_[i].begin(), hashes_[i].end());
}

std::shared_ptr<KnownRows> known_rows(const ProbeSet& set)
{
    const std::string positions = hash_of(set.positions);
    Entries& all = Entries::get();
    const std::lock_guard lock(all.mutex);
    all.list.remove_if([](const Entry& e) { return e.rows.expired(); });
    for (const Entry& e : all.list)
        if (e.rows.lock() == set.rows && e.positions == positions)
            return e.known;
    const auto rows = static_cast<std::size_t>(set.rows->rows());
    all.list.push_back({set.rows, positions, std::make_shared<KnownRows>(++all.last_name, rows)});
    return all.list.back().known;
}

void forget_rows(const ProbeSet& set)
{
    Entries& all = Entries::get();
    const std::lock_guard lock(all.mutex);
    all.list.remove_if([&](const Entry& e) { return e.rows.lock() == set.rows; });
}

} // namespace flipscope
