// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/lists_in_memory.h"

#include <algorithm>

namespace flipscope {

namespace {

class MemoryLists : public TopKSource {
public:
    MemoryLists(std::int64_t k, std::vector<std::int32_t> ids, std::vector<float> logprobs)
        : k_(k), ids_(std::move(ids)), logprobs_(std::move(logprobs))
    {
    }
    std::int64_t rows() const override { return k_ > 0 ? static_cast<std::int64_t>(ids_.size()) / k_ : 0; }
    std::int64_t k() const override { return k_; }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::int32_t> ids,
                      std::span<float> logprobs) const override
    {
        if (first < 0 || count < 0 || first > rows() - count || static_cast<std::int64_t>(ids.size()) < count * k_ ||
            static_cast<std::int64_t>(logprobs.size()) < count * k_)
            return fail(ErrorKind::Usage, "Lists {} to {} were asked for, of {}.", first, first + count, rows());
        std::copy_n(ids_.begin() + first * k_, count * k_, ids.begin());
        std::copy_n(logprobs_.begin() + first * k_, count * k_, logprobs.begin());
        return {};
    }

private:
    std::int64_t k_;
    std::vector<std::int32_t> ids_;
    std::vector<float> logprobs_;
};

} // namespace

std::shared_ptr<const TopKSource> lists_in_memory(std::int64_t k, std::vector<std::int32_t> ids,
                                                  std::vector<float> logprobs)
{
    return std::make_shared<MemoryLists>(k, std::move(ids), std::move(logprobs));
}

} // namespace flipscope
