// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plugin_abi.h"
#include "gpu/device_memory.h"
#include "gpu/kernels.h"

#include <string>

namespace flipscope::gpu {

/// What a step came to: a status of plugin_abi.h and, where it is not FS_OK, one sentence.
struct Outcome {
    fs_status status = FS_OK;
    std::string message;
    bool ok() const { return status == FS_OK; }
};

/// Streams blocks of row pairs through a bounded amount of device memory: a block is cut into batches, two of which
/// are under way at a time, each on a stream of its own, so that one is copied to the device while the other is
/// computed. Numbers do not depend on the cutting. One thread at a time.
class StreamEngine {
public:
    /// `memory_limit` bytes of device memory at most; 0 = a share of what is free.
    explicit StreamEngine(std::int64_t memory_limit)
        : limit_(memory_limit), planned_(PlannedFailure::from_environment())
    {
    }
    ~StreamEngine();
    StreamEngine(const StreamEngine&) = delete;
    StreamEngine& operator=(const StreamEngine&) = delete;

    Outcome start();
    Outcome compute(const fs_block& block, ProbeMetrics* out, std::int32_t (*cancelled)(void*), void* context);
    /// A sentence about trouble overcome since the last call.
    std::string take_notice() { return std::exchange(notice_, {}); }

private:
    /// One of the two batches under way.
    struct Slot {
        cudaStream_t stream = nullptr;
        DeviceMemory p, q, wide_p, wide_q, next, out, state;
        PinnedMemory host_out;
        std::int64_t first = 0;
        std::int32_t rows = 0; ///< 0 = nothing under way
    };
    /// How the rows of a block travel.
    struct Plan {
        std::int32_t type;                   ///< in which both rows are compared
        std::size_t pitch_p, pitch_q, pitch; ///< stored rows of each side, compared rows
        bool widen_p, widen_q;
        std::int64_t bytes_per_row;
        std::int32_t rows; ///< of a batch
    };

    Plan plan_for(const fs_block& block);
    Outcome reserve(const fs_block& block, Plan& plan);
    cudaError_t reserve_slot(Slot& slot, const fs_block& block, const Plan& plan);
    cudaError_t send(Slot& slot, const fs_block& block, const Plan& plan);
    Outcome collect(Slot& slot, ProbeMetrics* out);
    Outcome broken(cudaError_t error);
    void drain();

    std::int64_t limit_;
    PlannedFailure planned_;
    DeviceMemory table_;
    Slot slots_[2];
    std::string notice_, broken_;
};

} // namespace flipscope::gpu
