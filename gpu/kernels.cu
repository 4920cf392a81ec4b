// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/kernels.h"

#include "gpu/careful_kernel.cuh"
#include "gpu/core_kernel.cuh"
#include "gpu/distance_kernel.cuh"
#include "gpu/rows.cuh"
#include "gpu/second_kernel.cuh"
#include "gpu/state.cuh"

#include <algorithm>

namespace flipscope::gpu {

namespace {

/// No row is vouched for yet, and what only the second visit finds has no value.
__global__ void start_rows(ProbeMetrics* out, RowState* state, int rows, bool fast)
{
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < rows;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
        set_invalid(out[i]);
        out[i].differing = 0;
        state[i].threshold_p = state[i].threshold_q = -INFINITY;
        state[i].shift = state[i].guess = 0;
        state[i].careful = 1;
        state[i].visits = state[i].again = state[i].waiting = 0;
        state[i].doubted = fast ? 0 : 1;
    }
}

/// Large ones become inf, and rows that hold them are not vouched for.
__global__ void fill_exponentials(double* table)
{
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < table_entries;
         i += static_cast<int>(gridDim.x * blockDim.x))
        table[i] = table_entry(i);
}

template <class From, class To>
__global__ void __launch_bounds__(256)
    widen_kernel(const unsigned char* const* from, unsigned char* to, std::int64_t to_pitch, int vocab, int rows)
{
    for (int row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y)) {
        const auto* in = reinterpret_cast<const typename From::Bits*>(from[row]);
        auto* out = reinterpret_cast<typename To::Bits*>(to + to_pitch * row);
        for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < vocab;
             i += static_cast<int>(gridDim.x * blockDim.x)) {
            if constexpr (sizeof(typename To::Bits) == 8)
                out[i] = static_cast<std::uint64_t>(__double_as_longlong(From::to_double(in[i])));
            else
                out[i] = __float_as_uint(From::to_float(in[i]));
        }
    }
}

/// As many blocks as the device runs at once, and no more than there are rows: each then takes row after row.
template <class Kernel>
int grid_for(Kernel kernel, int rows, std::size_t shared = 0)
{
    int device = 0, processors = 1, per_processor = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, block_threads, shared);
    const int most = processors * (per_processor > 0 ? per_processor : 1);
    return rows < most ? rows : most;
}

/// Launches a fast kernel with its table in shared memory.
template <class T, class Kernel, class... Arguments>
void launch_fast(Kernel kernel, const Batch& b, const void* table, cudaStream_t stream, Arguments... arguments)
{
    constexpr std::size_t shared = fast_shared<T>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    kernel<<<grid_for(kernel, b.rows, shared), block_threads, shared, stream>>>(b, static_cast<const double*>(table),
                                                                                arguments...);
}

/// The core kernel over all rows, and over those that a first visit gave a better guess.
template <class T, bool kl_only>
void launch_core(const Batch& b, const void* table, ProbeMetrics* out, RowState* state, RowSums* sums,
                 cudaStream_t stream)
{
    for (int round = 1; round <= 2; round++) {
        launch_fast<T>(core_kernel<T, kl_only>, b, table, stream, state, sums, round == 2);
        finish_kernel<T, kl_only>
            <<<(b.rows + finish_warps - 1) / finish_warps, 32 * finish_warps, 0, stream>>>(b, out, state, sums, round);
    }
}

/// float64 has no fast kernels: its rows all go the careful way.
template <class T>
constexpr bool has_fast = sizeof(typename T::Bits) < 8;

template <class T>
cudaError_t compute_as(const DeviceBatch& d, const void* table, MetricSet set, cudaStream_t stream)
{
    const Batch b{d.p, d.q, d.vocab, d.rows, d.next};
    auto* state = static_cast<RowState*>(d.state);
    auto* sums = reinterpret_cast<RowSums*>(state + d.rows);
    const bool fast = has_fast<T> && d.vocab <= most_vocab;
    start_rows<<<(d.rows + 127) / 128, 128, 0, stream>>>(d.out, state, d.rows, fast);
    if constexpr (has_fast<T>)
        if (fast) {
            (set == MetricSet::Kl ? launch_core<T, true> : launch_core<T, false>)(b, table, d.out, state, sums, stream);
            if (set != MetricSet::Kl)
                rank_kernel<T><<<std::min(d.rows, 65535), block_threads, 0, stream>>>(b, d.out, state);
        }
    careful_kernel<T><<<grid_for(careful_kernel<T>, d.rows), block_threads, 0, stream>>>(b, d.out, state);
    if (set == MetricSet::Full) {
        if constexpr (has_fast<T>)
            if (fast)
                launch_fast<T>(distance_kernel<T>, b, table, stream, d.out, static_cast<const RowState*>(state));
        second_kernel<T><<<grid_for(second_kernel<T>, d.rows), block_threads, 0, stream>>>(b, d.out, state);
    }
    return cudaGetLastError();
}

template <class From, class To>
void launch_widen(const unsigned char* const* from, void* to, std::int64_t to_pitch, int vocab, int rows,
                  cudaStream_t stream)
{
    const dim3 grid(static_cast<unsigned>((vocab + 2047) / 2048), static_cast<unsigned>(rows < 1024 ? rows : 1024));
    widen_kernel<From, To><<<grid, 256, 0, stream>>>(from, static_cast<unsigned char*>(to), to_pitch, vocab, rows);
}

} // namespace

std::size_t row_state_size()
{
    return sizeof(RowState) + sizeof(RowSums);
}

std::size_t table_size()
{
    return table_entries * sizeof(double);
}

cudaError_t fill_table(void* table, cudaStream_t stream)
{
    fill_exponentials<<<64, 256, 0, stream>>>(static_cast<double*>(table));
    return cudaGetLastError();
}

cudaError_t check_code()
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, second_kernel<F64>);
}

cudaError_t widen_rows(const unsigned char* const* from, std::int32_t from_type, void* to, std::int64_t to_pitch,
                       std::int32_t to_type, std::int32_t vocab, std::int32_t rows, cudaStream_t stream)
{
    const bool wide = to_type == type_f64;
    if (from_type == type_bf16)
        (wide ? launch_widen<Bf16, F64> : launch_widen<Bf16, F32>)(from, to, to_pitch, vocab, rows, stream);
    else if (from_type == type_f16)
        (wide ? launch_widen<F16, F64> : launch_widen<F16, F32>)(from, to, to_pitch, vocab, rows, stream);
    else
        launch_widen<F32, F64>(from, to, to_pitch, vocab, rows, stream);
    return cudaGetLastError();
}

cudaError_t compute_metrics(const DeviceBatch& batch, const void* table, MetricSet set, cudaStream_t stream)
{
    switch (batch.type) {
    case type_bf16:
        return compute_as<Bf16>(batch, table, set, stream);
    case type_f16:
        return compute_as<F16>(batch, table, set, stream);
    case type_f32:
        return compute_as<F32>(batch, table, set, stream);
    case type_f64:
        return compute_as<F64>(batch, table, set, stream);
    default:
        return cudaErrorInvalidValue;
    }
}

} // namespace flipscope::gpu
