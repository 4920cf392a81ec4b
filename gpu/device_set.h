// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/stream_engine.h"

#include <memory>
#include <vector>

namespace flipscope::gpu {

/// The devices of a machine, which share the probes of a block: each gets pieces of 4 neighbouring rows (by their
/// names, where they have some, so that a row is looked for where it was left). A probe's numbers do not depend on who
/// computes it. One thread at a time; inside, a thread for each device.
class DeviceSet {
public:
    /// Opens `count` engines over `devices` devices.
    Outcome start(int devices, int count, std::int64_t memory_limit);
    Outcome compute(const fs_block& block, ProbeMetrics* out, std::int32_t (*cancelled)(void*), void* context);
    bool holds(std::uint64_t source, std::int32_t type, std::int32_t vocab, const std::int64_t* keys,
               std::int64_t rows) const;
    std::string take_notice();

private:
    std::size_t owner(std::int64_t key) const;

    std::vector<std::unique_ptr<StreamEngine>> engines_;
};

} // namespace flipscope::gpu
