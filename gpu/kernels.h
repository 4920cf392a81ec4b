// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the host side of the module asks of the kernels. Everything is queued on a stream; errors are CUDA's own.

#include "core/engine/probe_metrics.h"

#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

namespace flipscope::gpu {

/// Numbers of flipscope::LogitType, which is C++20 and stays outside.
enum : std::int32_t { type_bf16 = 0, type_f16 = 1, type_f32 = 2, type_f64 = 3 };

constexpr std::size_t type_size(std::int32_t type)
{
    return type == type_f64 ? 8 : type == type_f32 ? 4 : 2;
}

/// Rows are laid out so that each starts on this border.
constexpr std::size_t row_alignment = 256;

constexpr std::size_t row_pitch(std::int32_t vocab, std::int32_t type)
{
    const std::size_t bytes = static_cast<std::size_t>(vocab) * type_size(type);
    return (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

/// Pairs of rows of one type in device memory and room for their numbers. All arrays are in device memory too. Pairs
/// that share a baseline's row should be neighbours: it then comes from memory once.
struct DeviceBatch {
    const unsigned char *const *p, *const *q; ///< per pair, on borders of row_alignment
    std::int32_t type, vocab;
    std::int32_t rows;        ///< pairs
    const std::int32_t* next; ///< per pair; may be null
    ProbeMetrics* out;        ///< `rows` of them; the engine's part is filled
    void* state;              ///< rows * row_state_size() bytes of working memory
};

enum class MetricSet {
    Kl,   ///< as Core without entropies and `differing`: what a benchmark of KL alone asks for
    Core, ///< what one visit of the rows gives; js, tv and the overlaps stay NaN, rank 1
    Full,
};

std::size_t row_state_size();

/// The table of exponentials of 16-bit patterns that the fast kernels look up, to be filled once per device.
std::size_t table_size();
cudaError_t fill_table(void* table, cudaStream_t stream);

/// Does this build hold code that the current device can run?
cudaError_t check_code();

/// Rows of one stored type, each wherever it is, widened to another, exactly: row i goes to `to` + i * to_pitch.
cudaError_t widen_rows(const unsigned char* const* from, std::int32_t from_type, void* to, std::int64_t to_pitch,
                       std::int32_t to_type, std::int32_t vocab, std::int32_t rows, cudaStream_t stream);

/// Fills batch.out. `table` as made by fill_table.
cudaError_t compute_metrics(const DeviceBatch& batch, const void* table, MetricSet set, cudaStream_t stream);

} // namespace flipscope::gpu
