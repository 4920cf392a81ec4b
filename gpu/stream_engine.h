// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plugin_abi.h"
#include "gpu/device_memory.h"
#include "gpu/kernels.h"
#include "gpu/resident_rows.h"

#include <string>
#include <vector>

namespace flipscope::gpu {

/// What a step came to: a status of plugin_abi.h and, where it is not FS_OK, one sentence.
struct Outcome {
    fs_status status = FS_OK;
    std::string message;
    bool ok() const { return status == FS_OK; }
};

/// Streams rows of a block through a bounded amount of one device's memory: they are cut into batches, two of which
/// are under way at a time, each on a stream of its own, so that one is copied to the device while the other is
/// computed. A baseline's row travels once for all runs. Rows that have names stay on the device while they fit, and
/// are not copied again. Numbers do not depend on the cutting, nor on where rows are. One thread at a time.
class StreamEngine {
public:
    /// `memory_limit` bytes of device memory at most; 0 = a share of what is free.
    StreamEngine(int device, std::int64_t memory_limit)
        : device_(device), limit_(memory_limit), planned_(PlannedFailure::from_environment())
    {
    }
    ~StreamEngine();
    StreamEngine(const StreamEngine&) = delete;
    StreamEngine& operator=(const StreamEngine&) = delete;

    /// `sharers`: engines that use this device.
    Outcome start(int sharers);
    /// The rows of the block that `rows` lists, in rising order.
    Outcome compute(const fs_block& block, const std::vector<std::int64_t>& rows, ProbeMetrics* out,
                    std::int32_t (*cancelled)(void*), void* context);
    bool holds(const RowName& name) const { return resident_.holds(name); }
    /// A sentence about trouble overcome since the last call.
    std::string take_notice() { return std::exchange(notice_, {}); }

private:
    /// One of the two batches under way.
    struct Slot {
        cudaStream_t stream = nullptr;
        DeviceMemory p, q, wide_p, wide_q, places, out, state;
        PinnedMemory host_places, host_out;
        const std::int64_t* rows = nullptr; ///< of the block
        std::int32_t count = 0;             ///< 0 = nothing under way
    };
    /// What is computed: a block's baseline against those of its runs that have one type.
    struct Work {
        const fs_block& block;
        std::vector<std::int32_t> runs; ///< numbers in the block
        ProbeMetrics* out;
        std::int64_t first_batch; ///< rows used from there on stay where they are
    };
    /// How the rows of a block travel.
    struct Plan {
        std::int32_t type;                   ///< in which all rows are compared
        std::size_t pitch_p, pitch_q, pitch; ///< stored rows of each side, compared rows
        bool widen_p, widen_q;
        std::int64_t bytes_per_row; ///< of the baseline, with all that belongs to it
        std::int32_t rows;          ///< of a batch
    };

    Outcome compute_alike(const Work& work, const std::vector<std::int64_t>& rows, std::int32_t (*cancelled)(void*),
                          void* context);
    Plan plan_for(const Work& work, std::int64_t rows) const;
    Outcome reserve(const Work& work, Plan& plan);
    cudaError_t reserve_slot(Slot& slot, const Work& work, const Plan& plan);
    cudaError_t bring(Slot& slot, const fs_block& block, const fs_rows& from, std::size_t pitch, unsigned char* room,
                      std::int64_t first_batch, const unsigned char** places);
    Outcome send(Slot& slot, const Work& work, const Plan& plan);
    Outcome collect(Slot& slot, const Work& work);
    Outcome broken(cudaError_t error);
    void drain();

    int device_;
    std::int64_t limit_;
    std::int64_t batch_ = 0; ///< number of the latest
    PlannedFailure planned_;
    DeviceMemory table_;
    Slot slots_[2];
    ResidentRows resident_;
    std::string notice_, broken_;
};

} // namespace flipscope::gpu
