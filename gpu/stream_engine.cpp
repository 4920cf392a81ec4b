// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/stream_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace flipscope::gpu {

namespace {

/// A batch has enough rows to fill a large GPU and little enough memory for a small one.
constexpr std::int32_t most_rows = 1024;
constexpr std::int64_t default_limit = std::int64_t{1} << 30;

/// The part of ProbeMetrics that engines fill.
constexpr std::size_t engine_part = offsetof(ProbeMetrics, flip_top1);

std::string mebibytes(std::int64_t bytes)
{
    return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

/// Types are widened only where they differ: to float32 between the two 16-bit types, else to the wider of the two.
std::int32_t common_type(std::int32_t a, std::int32_t b)
{
    if (a == b)
        return a;
    return a == type_f64 || b == type_f64 ? type_f64 : type_f32;
}

bool known(std::int32_t type)
{
    return type >= type_bf16 && type <= type_f64;
}

} // namespace

StreamEngine::~StreamEngine()
{
    for (Slot& slot : slots_)
        if (slot.stream) {
            cudaStreamSynchronize(slot.stream);
            cudaStreamDestroy(slot.stream);
        }
}

Outcome StreamEngine::broken(cudaError_t error)
{
    broken_ = std::string("The GPU failed while computing (") + cudaGetErrorString(error) +
              "); the results of this block were dropped.";
    return {FS_DEVICE_ERROR, broken_};
}

Outcome StreamEngine::start()
{
    for (Slot& slot : slots_)
        if (const cudaError_t error = cudaStreamCreateWithFlags(&slot.stream, cudaStreamNonBlocking))
            return broken(error);
    if (limit_ <= 0) {
        std::size_t free = 0, total = 0;
        if (const cudaError_t error = cudaMemGetInfo(&free, &total))
            return broken(error);
        limit_ = std::min(default_limit, static_cast<std::int64_t>(free / 2));
    }
    cudaError_t error = table_.reserve(table_size(), planned_);
    if (error == cudaErrorMemoryAllocation)
        return {FS_OUT_OF_MEMORY, "The GPU has not even " + mebibytes(static_cast<std::int64_t>(table_size())) +
                                      " of memory left for the engine's tables."};
    if (error == cudaSuccess)
        error = fill_table(table_.data(), slots_[0].stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(slots_[0].stream);
    return error == cudaSuccess ? Outcome{} : broken(error);
}

StreamEngine::Plan StreamEngine::plan_for(const fs_block& b)
{
    Plan plan{};
    plan.type = common_type(b.baseline.type, b.run.type);
    plan.widen_p = b.baseline.type != plan.type;
    plan.widen_q = b.run.type != plan.type;
    plan.pitch_p = row_pitch(b.vocab, b.baseline.type);
    plan.pitch_q = row_pitch(b.vocab, b.run.type);
    plan.pitch = row_pitch(b.vocab, plan.type);
    plan.bytes_per_row = static_cast<std::int64_t>(plan.pitch_p + plan.pitch_q + (plan.widen_p ? plan.pitch : 0) +
                                                   (plan.widen_q ? plan.pitch : 0) + sizeof(ProbeMetrics) +
                                                   row_state_size() + sizeof(std::int32_t));
    const std::int64_t fit = (limit_ - static_cast<std::int64_t>(table_size())) / 2 / plan.bytes_per_row;
    // A block that would fit whole is still cut in four: then copies and kernels overlap.
    const std::int64_t quarter = std::max<std::int64_t>((b.rows + 3) / 4, 16);
    plan.rows = static_cast<std::int32_t>(
        std::max<std::int64_t>(std::min({fit, quarter, b.rows, static_cast<std::int64_t>(most_rows)}), 0));
    return plan;
}

cudaError_t StreamEngine::reserve_slot(Slot& slot, const fs_block& block, const Plan& plan)
{
    const auto rows = static_cast<std::size_t>(plan.rows);
    cudaError_t error = slot.p.reserve(rows * plan.pitch_p, planned_);
    if (error == cudaSuccess)
        error = slot.q.reserve(rows * plan.pitch_q, planned_);
    if (error == cudaSuccess && plan.widen_p)
        error = slot.wide_p.reserve(rows * plan.pitch, planned_);
    if (error == cudaSuccess && plan.widen_q)
        error = slot.wide_q.reserve(rows * plan.pitch, planned_);
    if (error == cudaSuccess && block.next_ids)
        error = slot.next.reserve(rows * sizeof(std::int32_t), planned_);
    if (error == cudaSuccess)
        error = slot.out.reserve(rows * sizeof(ProbeMetrics), planned_);
    if (error == cudaSuccess)
        error = slot.state.reserve(rows * row_state_size(), planned_);
    if (error == cudaSuccess)
        error = slot.host_out.reserve(rows * sizeof(ProbeMetrics));
    return error;
}

/// Memory for two batches; where the device has not that much, for ever smaller ones.
Outcome StreamEngine::reserve(const fs_block& block, Plan& plan)
{
    const std::int32_t wanted = plan.rows;
    while (plan.rows > 0) {
        cudaError_t error = reserve_slot(slots_[0], block, plan);
        if (error == cudaSuccess)
            error = reserve_slot(slots_[1], block, plan);
        if (error == cudaSuccess) {
            if (plan.rows < wanted)
                notice_ = "The GPU is short of memory: computing in batches of " + std::to_string(plan.rows) +
                          " rows instead of " + std::to_string(wanted) + ".";
            return {};
        }
        if (error != cudaErrorMemoryAllocation)
            return broken(error);
        for (Slot& slot : slots_) // what is held for larger batches is in the way of smaller ones
            for (DeviceMemory* m : {&slot.p, &slot.q, &slot.wide_p, &slot.wide_q, &slot.next, &slot.out, &slot.state})
                m->release();
        plan.rows /= 2;
        // The next block asks for no more than what was had.
        limit_ = std::min(limit_, static_cast<std::int64_t>(table_size()) +
                                      2 * plan.bytes_per_row * std::max<std::int64_t>(plan.rows, 1));
    }
    return {FS_OUT_OF_MEMORY, "The GPU has not enough memory for two pairs of rows of " + std::to_string(block.vocab) +
                                  " logits (" + mebibytes(2 * plan.bytes_per_row) + " needed, limit " +
                                  mebibytes(limit_) + ")."};
}

cudaError_t StreamEngine::send(Slot& slot, const fs_block& b, const Plan& plan)
{
    const auto rows = static_cast<std::size_t>(slot.rows);
    const auto copy = [&](void* to, std::size_t pitch, const fs_rows& from) {
        const auto* first = static_cast<const char*>(from.data) + slot.first * from.stride;
        const std::size_t width = static_cast<std::size_t>(b.vocab) * type_size(from.type);
        if (rows == 1) // the stride says nothing then, and may be anything
            return cudaMemcpyAsync(to, first, width, cudaMemcpyHostToDevice, slot.stream);
        return cudaMemcpy2DAsync(to, pitch, first, static_cast<std::size_t>(from.stride), width, rows,
                                 cudaMemcpyHostToDevice, slot.stream);
    };
    cudaError_t error = copy(slot.p.data(), plan.pitch_p, b.baseline);
    if (error == cudaSuccess)
        error = copy(slot.q.data(), plan.pitch_q, b.run);
    if (error == cudaSuccess && b.next_ids)
        error = cudaMemcpyAsync(slot.next.data(), b.next_ids + slot.first, rows * sizeof(std::int32_t),
                                cudaMemcpyHostToDevice, slot.stream);
    if (error == cudaSuccess && plan.widen_p)
        error = widen_rows(slot.p.data(), static_cast<std::int64_t>(plan.pitch_p), b.baseline.type, slot.wide_p.data(),
                           static_cast<std::int64_t>(plan.pitch), plan.type, b.vocab, slot.rows, slot.stream);
    if (error == cudaSuccess && plan.widen_q)
        error = widen_rows(slot.q.data(), static_cast<std::int64_t>(plan.pitch_q), b.run.type, slot.wide_q.data(),
                           static_cast<std::int64_t>(plan.pitch), plan.type, b.vocab, slot.rows, slot.stream);
    if (error != cudaSuccess)
        return error;
    DeviceBatch batch{};
    batch.p = plan.widen_p ? slot.wide_p.data() : slot.p.data();
    batch.q = plan.widen_q ? slot.wide_q.data() : slot.q.data();
    batch.pitch = static_cast<std::int64_t>(plan.pitch);
    batch.type = plan.type;
    batch.vocab = b.vocab;
    batch.rows = slot.rows;
    batch.runs = 1;
    batch.next = b.next_ids ? static_cast<const std::int32_t*>(slot.next.data()) : nullptr;
    batch.out = static_cast<ProbeMetrics*>(slot.out.data());
    batch.state = slot.state.data();
    error = compute_metrics(batch, table_.data(), MetricSet::Full, slot.stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(slot.host_out.data(), slot.out.data(), rows * sizeof(ProbeMetrics),
                                cudaMemcpyDeviceToHost, slot.stream);
    return error;
}

Outcome StreamEngine::collect(Slot& slot, ProbeMetrics* out)
{
    if (slot.rows == 0)
        return {};
    cudaError_t error = cudaStreamSynchronize(slot.stream);
    if (error == cudaSuccess && planned_.next_batch_fails())
        error = cudaErrorLaunchFailure;
    if (error != cudaSuccess)
        return broken(error);
    const auto* from = static_cast<const ProbeMetrics*>(slot.host_out.data());
    for (std::int32_t i = 0; i < slot.rows; i++)
        std::memcpy(out + slot.first + i, from + i, engine_part);
    slot.rows = 0;
    return {};
}

/// Waits until the device is done with the caller's memory.
void StreamEngine::drain()
{
    for (Slot& slot : slots_) {
        cudaStreamSynchronize(slot.stream);
        slot.rows = 0;
    }
}

Outcome StreamEngine::compute(const fs_block& block, ProbeMetrics* out, std::int32_t (*cancelled)(void*), void* context)
{
    if (!broken_.empty())
        return {FS_DEVICE_ERROR, broken_};
    if (block.vocab < 1 || block.rows < 0 || !known(block.baseline.type) || !known(block.run.type))
        return {FS_BAD_ARGUMENT, "The CUDA engine was asked for rows it does not know (width " +
                                     std::to_string(block.vocab) + ", types " + std::to_string(block.baseline.type) +
                                     " and " + std::to_string(block.run.type) + ")."};
    if (block.rows == 0)
        return {};
    Plan plan = plan_for(block);
    Outcome outcome = reserve(block, plan);
    int turn = 0;
    for (std::int64_t first = 0; outcome.ok() && first < block.rows; first += plan.rows, turn ^= 1) {
        Slot& slot = slots_[turn];
        outcome = collect(slot, out); // the batch before the last; the last one is computed meanwhile
        if (!outcome.ok())
            break;
        if (cancelled && cancelled(context)) {
            outcome = {FS_CANCELLED, "Stopped."};
            break;
        }
        slot.first = first;
        slot.rows = static_cast<std::int32_t>(std::min<std::int64_t>(plan.rows, block.rows - first));
        if (const cudaError_t error = send(slot, block, plan))
            outcome = broken(error);
    }
    for (int i = 0; outcome.ok() && i < 2; i++, turn ^= 1)
        outcome = collect(slots_[turn], out);
    if (!outcome.ok())
        drain();
    return outcome;
}

} // namespace flipscope::gpu
