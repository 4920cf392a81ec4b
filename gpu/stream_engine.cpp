// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/stream_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace flipscope::gpu {

namespace {

/// A batch has enough pairs to fill a large GPU and little enough memory for a small one.
constexpr std::int64_t most_pairs = 1024;
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

bool named(const fs_block& block, const fs_rows& rows)
{
    return block.keys && rows.source != 0;
}

/// Tests may ask for less than would fit: FLIPSCOPE_CUDA_KEEP=bytes.
std::int64_t keep_at_most(std::int64_t otherwise)
{
    const char* text = std::getenv("FLIPSCOPE_CUDA_KEEP");
    return text ? std::strtoll(text, nullptr, 10) : otherwise;
}

} // namespace

StreamEngine::~StreamEngine()
{
    cudaSetDevice(device_);
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

Outcome StreamEngine::start(int sharers)
{
    std::size_t free = 0, total = 0;
    if (const cudaError_t error = cudaSetDevice(device_))
        return broken(error);
    for (Slot& slot : slots_)
        if (const cudaError_t error = cudaStreamCreateWithFlags(&slot.stream, cudaStreamNonBlocking))
            return broken(error);
    if (const cudaError_t error = cudaMemGetInfo(&free, &total))
        return broken(error);
    const auto room = static_cast<std::int64_t>(free) / sharers;
    // Rows are kept in half of a given limit, or in three quarters of what is free beyond the batches.
    const std::int64_t whole = limit_;
    limit_ = whole > 0 ? whole / 2 : std::min(default_limit, room / 2);
    resident_.set_limit(static_cast<std::size_t>(keep_at_most(whole > 0 ? whole / 2 : (room - limit_) / 4 * 3)));
    if (whole > 0 && resident_.limit() == 0)
        limit_ = whole;
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

StreamEngine::Plan StreamEngine::plan_for(const Work& work, std::int64_t rows) const
{
    const fs_block& b = work.block;
    const auto runs = static_cast<std::int64_t>(work.runs.size());
    const std::int32_t run_type = b.runs[work.runs.front()].type;
    Plan plan{};
    plan.type = common_type(b.baseline.type, run_type);
    plan.widen_p = b.baseline.type != plan.type;
    plan.widen_q = run_type != plan.type;
    plan.pitch_p = row_pitch(b.vocab, b.baseline.type);
    plan.pitch_q = row_pitch(b.vocab, run_type);
    plan.pitch = row_pitch(b.vocab, plan.type);
    const std::size_t a_pair = plan.pitch_q + (plan.widen_q ? plan.pitch : 0) + sizeof(ProbeMetrics) +
                               row_state_size() + 2 * sizeof(void*) + sizeof(std::int32_t);
    plan.bytes_per_row = static_cast<std::int64_t>(plan.pitch_p + (plan.widen_p ? plan.pitch : 0)) +
                         runs * static_cast<std::int64_t>(a_pair);
    const std::int64_t fit = (limit_ - static_cast<std::int64_t>(table_size())) / 2 / plan.bytes_per_row;
    // What would fit whole is still cut in four: then copies and kernels overlap.
    const std::int64_t quarter = std::max<std::int64_t>((rows + 3) / 4, 16);
    const std::int64_t most = std::max<std::int64_t>(most_pairs / runs, 1);
    plan.rows = static_cast<std::int32_t>(std::max<std::int64_t>(std::min({fit, quarter, rows, most}), 0));
    return plan;
}

cudaError_t StreamEngine::reserve_slot(Slot& slot, const Work& work, const Plan& plan)
{
    const auto rows = static_cast<std::size_t>(plan.rows), pairs = rows * work.runs.size();
    const std::size_t places = pairs * (2 * sizeof(void*) + sizeof(std::int32_t));
    cudaError_t error = slot.p.reserve(rows * plan.pitch_p, planned_);
    if (error == cudaSuccess)
        error = slot.q.reserve(pairs * plan.pitch_q, planned_);
    if (error == cudaSuccess && plan.widen_p)
        error = slot.wide_p.reserve(rows * plan.pitch, planned_);
    if (error == cudaSuccess && plan.widen_q)
        error = slot.wide_q.reserve(pairs * plan.pitch, planned_);
    if (error == cudaSuccess)
        error = slot.places.reserve(places, planned_);
    if (error == cudaSuccess)
        error = slot.out.reserve(pairs * sizeof(ProbeMetrics), planned_);
    if (error == cudaSuccess)
        error = slot.state.reserve(pairs * row_state_size(), planned_);
    if (error == cudaSuccess)
        error = slot.host_places.reserve(places);
    if (error == cudaSuccess)
        error = slot.host_out.reserve(pairs * sizeof(ProbeMetrics));
    return error;
}

/// Memory for two batches; where the device has not that much, for ever smaller ones.
Outcome StreamEngine::reserve(const Work& work, Plan& plan)
{
    const std::int32_t wanted = plan.rows;
    while (plan.rows > 0) {
        cudaError_t error = reserve_slot(slots_[0], work, plan);
        if (error == cudaSuccess)
            error = reserve_slot(slots_[1], work, plan);
        if (error == cudaSuccess) {
            if (plan.rows < wanted)
                notice_ = "The GPU is short of memory: computing in batches of " + std::to_string(plan.rows) +
                          " rows instead of " + std::to_string(wanted) + ".";
            return {};
        }
        if (error != cudaErrorMemoryAllocation)
            return broken(error);
        for (Slot& slot : slots_) // what is held for larger batches is in the way of smaller ones
            for (DeviceMemory* m : {&slot.p, &slot.q, &slot.wide_p, &slot.wide_q, &slot.places, &slot.out, &slot.state})
                m->release();
        plan.rows /= 2;
        // The next block asks for no more than what was had.
        limit_ = std::min(limit_, static_cast<std::int64_t>(table_size()) +
                                      2 * plan.bytes_per_row * std::max<std::int64_t>(plan.rows, 1));
    }
    return {FS_OUT_OF_MEMORY, "The GPU has not enough memory for two sets of rows of " +
                                  std::to_string(work.block.vocab) + " logits (" + mebibytes(2 * plan.bytes_per_row) +
                                  " needed, limit " + mebibytes(limit_) + ")."};
}

/// Brings the rows of a slot from one side to the device and says where each is. Named rows go where they stay, the
/// others, and those for which there is no place, to `room`, row by row as far as they follow each other in memory.
cudaError_t StreamEngine::bring(Slot& slot, const fs_block& block, const fs_rows& from, std::size_t pitch,
                                unsigned char* room, std::int64_t first_batch, const unsigned char** places)
{
    const std::size_t width = static_cast<std::size_t>(block.vocab) * type_size(from.type);
    const auto source = [&](std::int32_t i) {
        return static_cast<const unsigned char*>(from.data) + slot.rows[i] * from.stride;
    };
    const auto copy = [&](unsigned char* to, std::int32_t i, std::int32_t count) {
        if (count == 1) // the stride says nothing then, and may be anything
            return cudaMemcpyAsync(to, source(i), width, cudaMemcpyHostToDevice, slot.stream);
        return cudaMemcpy2DAsync(to, pitch, source(i), static_cast<std::size_t>(from.stride), width,
                                 static_cast<std::size_t>(count), cudaMemcpyHostToDevice, slot.stream);
    };
    cudaError_t error = cudaSuccess;
    for (std::int32_t i = 0; error == cudaSuccess && i < slot.count;) {
        unsigned char* kept = nullptr;
        if (named(block, from)) {
            const RowName name{from.source, block.keys[slot.rows[i]], from.type, block.vocab};
            kept = resident_.find(name, batch_);
            if (!kept && from.data) {
                kept = resident_.add(name, pitch, batch_, first_batch, planned_);
                if (kept)
                    error = copy(kept, i, 1);
            }
            if (!kept && !from.data)
                return cudaErrorInvalidResourceHandle;
        }
        if (kept) {
            places[i++] = kept;
            continue;
        }
        std::int32_t end = i + 1;
        while (!named(block, from) && end < slot.count && slot.rows[end] == slot.rows[end - 1] + 1)
            end++;
        error = copy(room + static_cast<std::size_t>(i) * pitch, i, end - i);
        for (; i < end; i++)
            places[i] = room + static_cast<std::size_t>(i) * pitch;
    }
    return error;
}

Outcome StreamEngine::send(Slot& slot, const Work& work, const Plan& plan)
{
    const fs_block& b = work.block;
    const auto rows = static_cast<std::size_t>(slot.count), runs = work.runs.size(), pairs = rows * runs;
    batch_++;
    // Places of P, of Q and next ids, per pair; the pairs of a row are neighbours.
    auto* p = static_cast<const unsigned char**>(slot.host_places.data());
    auto* q = p + pairs;
    auto* next = reinterpret_cast<std::int32_t*>(q + pairs);
    auto* device_p = static_cast<const unsigned char**>(slot.places.data());
    const auto to_device = [&] {
        return cudaMemcpyAsync(slot.places.data(), slot.host_places.data(),
                               pairs * (2 * sizeof(void*) + sizeof(std::int32_t)), cudaMemcpyHostToDevice, slot.stream);
    };
    std::vector<const unsigned char*> at(rows);
    cudaError_t error = bring(slot, b, b.baseline, plan.pitch_p, static_cast<unsigned char*>(slot.p.data()),
                              work.first_batch, at.data());
    for (std::size_t i = 0; i < pairs; i++) {
        p[i] = at[i / runs];
        next[i] = b.next_ids ? b.next_ids[slot.rows[i / runs]] : -1;
    }
    for (std::size_t r = 0; error == cudaSuccess && r < runs; r++) {
        error =
            bring(slot, b, b.runs[work.runs[r]], plan.pitch_q,
                  static_cast<unsigned char*>(slot.q.data()) + r * rows * plan.pitch_q, work.first_batch, at.data());
        for (std::size_t i = 0; i < rows; i++)
            q[i * runs + r] = at[i];
    }
    if (error == cudaErrorInvalidResourceHandle)
        return {FS_BAD_ARGUMENT, "The CUDA engine was asked for rows that it does not keep any more."};
    // Rows of another type are widened from where they are, and the places then say where they were widened to.
    const auto widen = [&](const unsigned char** of, std::int32_t type, std::size_t step, DeviceMemory& wide) {
        const std::size_t count = pairs / step;
        std::vector<const unsigned char*> from(count);
        for (std::size_t i = 0; i < count; i++)
            from[i] = of[i * step];
        cudaError_t e = cudaMemcpyAsync(slot.places.data(), from.data(), count * sizeof(void*), cudaMemcpyHostToDevice,
                                        slot.stream); // from pageable memory: done when it returns
        if (e == cudaSuccess)
            e = widen_rows(device_p, type, wide.data(), static_cast<std::int64_t>(plan.pitch), plan.type, b.vocab,
                           static_cast<std::int32_t>(count), slot.stream);
        for (std::size_t i = 0; i < pairs; i++)
            of[i] = static_cast<const unsigned char*>(wide.data()) + i / step * plan.pitch;
        return e;
    };
    if (error == cudaSuccess && plan.widen_p)
        error = widen(p, b.baseline.type, runs, slot.wide_p);
    if (error == cudaSuccess && plan.widen_q)
        error = widen(q, b.runs[work.runs.front()].type, 1, slot.wide_q);
    if (error == cudaSuccess)
        error = to_device();
    if (error != cudaSuccess)
        return broken(error);
    DeviceBatch batch{};
    batch.p = device_p;
    batch.q = device_p + pairs;
    batch.type = plan.type;
    batch.vocab = b.vocab;
    batch.rows = static_cast<std::int32_t>(pairs);
    batch.next = reinterpret_cast<const std::int32_t*>(device_p + 2 * pairs);
    batch.out = static_cast<ProbeMetrics*>(slot.out.data());
    batch.state = slot.state.data();
    error = compute_metrics(batch, table_.data(), MetricSet::Full, slot.stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(slot.host_out.data(), slot.out.data(), pairs * sizeof(ProbeMetrics),
                                cudaMemcpyDeviceToHost, slot.stream);
    return error == cudaSuccess ? Outcome{} : broken(error);
}

Outcome StreamEngine::collect(Slot& slot, const Work& work)
{
    if (slot.count == 0)
        return {};
    cudaError_t error = cudaStreamSynchronize(slot.stream);
    if (error == cudaSuccess && planned_.next_batch_fails())
        error = cudaErrorLaunchFailure;
    if (error != cudaSuccess)
        return broken(error);
    const auto* from = static_cast<const ProbeMetrics*>(slot.host_out.data());
    for (std::int32_t i = 0; i < slot.count; i++)
        for (const std::int32_t run : work.runs)
            std::memcpy(work.out + run * work.block.rows + slot.rows[i], from++, engine_part);
    slot.count = 0;
    return {};
}

/// Waits until the device is done with the caller's memory.
void StreamEngine::drain()
{
    for (Slot& slot : slots_) {
        cudaStreamSynchronize(slot.stream);
        slot.count = 0;
    }
}

Outcome StreamEngine::compute(const fs_block& block, const std::vector<std::int64_t>& rows, ProbeMetrics* out,
                              std::int32_t (*cancelled)(void*), void* context)
{
    if (!broken_.empty())
        return {FS_DEVICE_ERROR, broken_};
    if (const cudaError_t error = cudaSetDevice(device_))
        return broken(error);
    const std::int64_t first_batch = batch_ + 1;
    const auto hold = [&](const fs_rows& side) { // what is there and will be used does not give way to what comes
        if (named(block, side))
            for (const std::int64_t row : rows)
                resident_.find({side.source, block.keys[row], side.type, block.vocab}, first_batch);
    };
    hold(block.baseline);
    for (std::int32_t r = 0; r < block.count; r++)
        hold(block.runs[r]);
    Outcome outcome;
    for (std::int32_t type = type_bf16; outcome.ok() && type <= type_f64; type++) {
        Work work{block, {}, out, first_batch};
        for (std::int32_t r = 0; r < block.count; r++)
            if (block.runs[r].type == type)
                work.runs.push_back(r);
        if (!work.runs.empty() && !rows.empty())
            outcome = compute_alike(work, rows, cancelled, context);
    }
    return outcome;
}

Outcome StreamEngine::compute_alike(const Work& work, const std::vector<std::int64_t>& rows,
                                    std::int32_t (*cancelled)(void*), void* context)
{
    const auto count = static_cast<std::int64_t>(rows.size());
    Plan plan = plan_for(work, count);
    Outcome outcome = reserve(work, plan);
    int turn = 0;
    for (std::int64_t first = 0; outcome.ok() && first < count; first += plan.rows, turn ^= 1) {
        Slot& slot = slots_[turn];
        outcome = collect(slot, work); // the batch before the last; the last one is computed meanwhile
        if (!outcome.ok())
            break;
        if (cancelled && cancelled(context)) {
            outcome = {FS_CANCELLED, "Stopped."};
            break;
        }
        slot.rows = rows.data() + first;
        slot.count = static_cast<std::int32_t>(std::min<std::int64_t>(plan.rows, count - first));
        outcome = send(slot, work, plan);
    }
    for (int i = 0; outcome.ok() && i < 2; i++, turn ^= 1)
        outcome = collect(slots_[turn], work);
    if (!outcome.ok())
        drain();
    return outcome;
}

} // namespace flipscope::gpu
