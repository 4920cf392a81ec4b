// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/device_set.h"

#include <system_error>
#include <thread>

namespace flipscope::gpu {

namespace {

/// Rows whose names are within such a piece stay together: few enough that a block has some for each device.
constexpr std::int64_t piece = 4;

std::uint64_t mixed(std::uint64_t h)
{
    h *= 0x9e3779b97f4a7c15U;
    h ^= h >> 32;
    h *= 0xff51afd7ed558ccdU;
    return h >> 32;
}

bool known(std::int32_t type)
{
    return type >= type_bf16 && type <= type_f64;
}

Outcome check(const fs_block& block)
{
    bool sound = block.vocab >= 1 && block.rows >= 0 && block.count >= 0 && known(block.baseline.type);
    std::int32_t type = block.baseline.type;
    for (std::int32_t r = 0; sound && r < block.count; r++) {
        type = block.runs[r].type;
        sound = known(type);
    }
    if (sound)
        return {};
    return {FS_BAD_ARGUMENT, "The CUDA engine was asked for rows it does not know (width " +
                                 std::to_string(block.vocab) + ", types " + std::to_string(block.baseline.type) +
                                 " and " + std::to_string(type) + ")."};
}

} // namespace

Outcome DeviceSet::start(int devices, int count, std::int64_t memory_limit)
{
    for (int i = 0; i < count; i++) {
        engines_.push_back(std::make_unique<StreamEngine>(i % devices, memory_limit));
        Outcome outcome = engines_.back()->start((count + devices - 1) / devices);
        if (!outcome.ok())
            return outcome;
    }
    return {};
}

std::size_t DeviceSet::owner(std::int64_t key) const
{
    // Neighbouring pieces go round, each round begun elsewhere: in turns alone, positions that come in steps would all
    // meet the same device.
    const std::uint64_t turn = static_cast<std::uint64_t>(key) / piece;
    return static_cast<std::size_t>((turn + mixed(turn / engines_.size())) % engines_.size());
}

Outcome DeviceSet::compute(const fs_block& block, ProbeMetrics* out, std::int32_t (*cancelled)(void*), void* context)
{
    if (Outcome sound = check(block); !sound.ok())
        return sound;
    std::vector<std::vector<std::int64_t>> rows(engines_.size());
    const auto sharers = static_cast<std::int64_t>(engines_.size());
    for (std::int64_t row = 0; row < block.rows; row++) {
        const std::size_t to =
            block.keys ? owner(block.keys[row]) : static_cast<std::size_t>(row * sharers / block.rows);
        rows[to].push_back(row);
    }
    std::vector<Outcome> outcomes(engines_.size());
    const auto work = [&](std::size_t i) noexcept {
        try {
            if (!rows[i].empty())
                outcomes[i] = engines_[i]->compute(block, rows[i], out, cancelled, context);
        } catch (const std::bad_alloc&) {
            outcomes[i] = {FS_OUT_OF_MEMORY, ""}; // the sentence would need memory too
        }
    };
    std::vector<std::thread> threads;
    std::size_t here = 1; // the first on this thread, and those for which the system has no thread
    for (std::size_t i = engines_.size(); i-- > 1;)
        try {
            threads.emplace_back(work, i);
        } catch (const std::system_error&) {
            here = i + 1;
            break;
        }
    for (std::size_t i = 0; i < here; i++)
        work(i);
    for (std::thread& thread : threads)
        thread.join();
    for (Outcome& outcome : outcomes)
        if (!outcome.ok()) {
            if (outcome.message.empty())
                outcome.message = "Memory ran out in the CUDA engine.";
            return outcome;
        }
    return {};
}

bool DeviceSet::holds(std::uint64_t source, std::int32_t type, std::int32_t vocab, const std::int64_t* keys,
                      std::int64_t rows) const
{
    if (source == 0)
        return false;
    for (std::int64_t i = 0; i < rows; i++)
        if (!engines_[owner(keys[i])]->holds({source, keys[i], type, vocab}))
            return false;
    return true;
}

std::string DeviceSet::take_notice()
{
    std::string all; // each sentence once: what one device lacks, its like mostly lack too
    for (const auto& engine : engines_)
        if (const std::string notice = engine->take_notice(); all.find(notice) == std::string::npos)
            all += (all.empty() ? "" : " ") + notice;
    return all;
}

} // namespace flipscope::gpu
