// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace flipscope {

/// The `K` largest of a row seen in increasing order of id: logit descending, id ascending. An equal logit that comes
/// later has the larger id and never displaces an earlier one.
template <std::size_t K>
class TopList {
public:
    /// Only values above this can still enter (while the list is not full: any).
    double threshold() const { return size_ < K ? -std::numeric_limits<double>::infinity() : values_[K - 1]; }
    bool full() const { return size_ == K; }

    void offer(double value, std::int32_t id)
    {
        if (full() && !(value > values_[K - 1]))
            return;
        std::size_t at = full() ? K - 1 : size_++;
        for (; at > 0 && values_[at - 1] < value; --at) {
            values_[at] = values_[at - 1];
            ids_[at] = ids_[at - 1];
        }
        values_[at] = value;
        ids_[at] = id;
    }

    std::size_t size() const { return size_; }
    double value(std::size_t i) const { return values_[i]; }
    std::int32_t id(std::size_t i) const { return ids_[i]; }

private:
    double values_[K];
    std::int32_t ids_[K];
    std::size_t size_ = 0;
};

/// |first k of a and first k of b| / k; a vocabulary smaller than k cannot reach 1.
template <std::size_t K>
double top_overlap(const TopList<K>& a, const TopList<K>& b, std::size_t k)
{
    const std::size_t n = std::min({k, a.size(), b.size()});
    int common = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            common += a.id(i) == b.id(j);
    return static_cast<double>(common) / static_cast<double>(k);
}

} // namespace flipscope
