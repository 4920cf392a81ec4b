// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/resident_rows.h"

#include <algorithm>

namespace flipscope::gpu {

namespace {

constexpr std::size_t slab_bytes = std::size_t{64} << 20;

} // namespace

std::size_t ResidentRows::Hash::operator()(const RowName& n) const
{
    std::uint64_t h = n.source ^ (static_cast<std::uint64_t>(n.key) * 0x9e3779b97f4a7c15U);
    h ^= static_cast<std::uint64_t>(n.vocab) * 8 + static_cast<std::uint64_t>(n.type);
    h *= 0xff51afd7ed558ccdU;
    return static_cast<std::size_t>(h ^ (h >> 32));
}

unsigned char* ResidentRows::find(const RowName& name, std::int64_t now)
{
    const auto found = rows_.find(name);
    if (found == rows_.end())
        return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    found->second->used = now;
    return found->second->data;
}

bool ResidentRows::grow(PlannedFailure& planned)
{
    const std::size_t count = std::max<std::size_t>(1, std::min(slab_bytes, limit_ - taken_) / size_);
    if (taken_ + count * size_ > limit_)
        return false;
    DeviceMemory slab;
    if (slab.reserve(count * size_, planned) != cudaSuccess) {
        limit_ = taken_; // the device has no more to give: what is there has to do
        return false;
    }
    taken_ += count * size_;
    for (std::size_t i = count; i-- > 0;)
        free_.push_back(static_cast<unsigned char*>(slab.data()) + i * size_);
    slabs_.push_back(std::move(slab));
    return true;
}

unsigned char* ResidentRows::add(const RowName& name, std::size_t size, std::int64_t now, std::int64_t busy,
                                 PlannedFailure& planned)
{
    if (size != size_) { // rows of another size: those before make room
        if (!order_.empty() && order_.front().used >= busy)
            return nullptr;
        clear();
        size_ = size;
    }
    if (free_.empty() && !grow(planned)) {
        if (order_.empty() || order_.back().used >= busy)
            return nullptr;
        free_.push_back(order_.back().data);
        rows_.erase(order_.back().name);
        order_.pop_back();
    }
    unsigned char* data = free_.back();
    free_.pop_back();
    order_.push_front({name, data, now});
    rows_[name] = order_.begin();
    return data;
}

void ResidentRows::clear()
{
    rows_.clear();
    order_.clear();
    free_.clear();
    slabs_.clear();
    taken_ = size_ = 0;
}

} // namespace flipscope::gpu
