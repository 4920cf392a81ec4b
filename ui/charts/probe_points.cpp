// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/probe_points.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <future>
#include <limits>
#include <mutex>
#include <numbers>

namespace flipscope {

namespace {

float logOf(double value)
{
    // A natural logarithm takes a tenth of the time of std::log10.
    return value <= 0 ? -std::numeric_limits<float>::infinity()
                      : static_cast<float>(std::log(value) * std::numbers::log10e);
}

ProbePoints pointsOf(const MetricsTable& table, std::optional<LogitType> type)
{
    ProbePoints points;
    points.reserve(table.probes.size());
    for (const ProbeMetrics& p : table.probes)
        points.push_back(
            {p.position, logOf(p.kl_pq), logOf(p.margin), flip_kind(p, type), p.valid != 0, p.tied != 0, p.flip != 0});
    return points;
}

/// What was made of tables, one for each table and key while the table lives.
template <class Made, class Key>
class PerTable {
public:
    using Ptr = std::shared_ptr<const Made>;

    template <class Make>
    Ptr get(const TablePtr& table, const Key& key, const Make& make)
    {
        std::promise<Ptr> promise; // who comes while it is made waits for it alone
        std::shared_future<Ptr> made;
        {
            const std::lock_guard lock(m_mutex);
            std::erase_if(m_all, [](const Entry& entry) { return entry.table.expired(); });
            const auto known = std::ranges::find_if(
                m_all, [&](const Entry& entry) { return entry.key == key && entry.table.lock() == table; });
            if (known == m_all.end())
                m_all.push_back({table, key, promise.get_future().share()});
            else
                made = known->made;
        }
        if (made.valid())
            return made.get();
        try {
            Ptr mine = std::make_shared<const Made>(make());
            promise.set_value(mine);
            return mine;
        } catch (...) { // memory that is missing now may be there the next time
            promise.set_exception(std::current_exception());
            const std::lock_guard lock(m_mutex);
            std::erase_if(m_all, [&](const Entry& entry) { return entry.key == key && entry.table.lock() == table; });
            throw;
        }
    }

private:
    struct Entry {
        std::weak_ptr<const MetricsTable> table;
        Key key;
        std::shared_future<Ptr> made;
    };
    std::mutex m_mutex;
    std::vector<Entry> m_all;
};

} // namespace

std::shared_ptr<const ProbePoints> probePoints(const TablePtr& table, std::optional<LogitType> type)
{
    static PerTable<ProbePoints, std::optional<LogitType>> all;
    return all.get(table, type, [&] { return pointsOf(*table, type); });
}

std::shared_ptr<const SortedKl> sortedKl(const TablePtr& table)
{
    static PerTable<SortedKl, int> all;
    return all.get(table, 0, [&] { return sort_kl(table->probes); });
}

std::span<const ProbePoint> pointsBetween(const ProbePoints& points, std::int64_t first, std::int64_t last)
{
    const auto start = std::ranges::lower_bound(points, first, {}, &ProbePoint::position);
    const auto end = std::ranges::lower_bound(start, points.end(), last, {}, &ProbePoint::position);
    return {start, end};
}

} // namespace flipscope
