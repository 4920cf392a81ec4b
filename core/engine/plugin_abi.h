// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The border between the program and the CUDA module, which is loaded at run time. Plain C++17 and C linkage, so that
// the module needs nothing of ours but this header, probe_metrics.h and logit_type's numbers.

#include "core/engine/probe_metrics.h"

#include <cstddef>
#include <cstdint>

extern "C" {

#define FLIPSCOPE_ENGINE_ABI 2

/// Return codes of the module's functions. Every failure also writes one sentence into `error`.
enum fs_status {
    FS_OK = 0,
    FS_NO_DEVICE = 1,     ///< no driver, an old driver, or no device
    FS_OUT_OF_MEMORY = 2, ///< not even the smallest batch fits
    FS_DEVICE_ERROR = 3,  ///< a copy or kernel failed; the engine must not be used any more
    FS_CANCELLED = 4,
    FS_BAD_ARGUMENT = 5,
};

struct fs_rows {
    const void* data;  ///< may be null where fs_engine_holds said that the rows are kept
    std::int32_t type; ///< flipscope::LogitType
    std::int64_t stride;
    std::uint64_t source; ///< names where the rows are from, so that they may be kept for later blocks; 0: they may not
};

/// Rows of the same probes in a baseline and in `count` runs. Results: out[run * rows + row].
struct fs_block {
    fs_rows baseline;
    const fs_rows* runs;
    std::int32_t count;
    std::int64_t rows;
    std::int32_t vocab;
    const std::int32_t* next_ids; ///< per row; may be null
    const std::int64_t* keys;     ///< per row: names it within its source, alike in all; null: no row is kept
};

struct fs_device_info {
    char name[256];
    std::int32_t driver_version, runtime_version; ///< as CUDA counts: 13000 = 13.0; 0 = none found
    std::int32_t device_count;
    std::int64_t total_memory, free_memory; ///< bytes
};

struct fs_engine;

/// FLIPSCOPE_ENGINE_ABI of the module.
using fs_engine_abi_fn = std::int32_t();
/// Opens all devices there are (CUDA_VISIBLE_DEVICES applies); they share the probes of a block. `memory_limit` bytes
/// of memory on each at most, rows that are kept included; 0 = choose. FLIPSCOPE_CUDA_SPLIT=n in the environment works
/// as if there were n devices. `info` is filled as far as known, also on failure.
using fs_engine_open_fn = std::int32_t(std::int64_t memory_limit, fs_engine** engine, fs_device_info* info, char* error,
                                       std::size_t error_size);
/// `cancelled(context)` is asked between batches, by several threads where there are several devices; may be null.
using fs_engine_compute_fn = std::int32_t(fs_engine* engine, const fs_block* block, flipscope::ProbeMetrics* out,
                                          std::int32_t (*cancelled)(void*), void* context, char* error,
                                          std::size_t error_size);
/// 1 where all these rows of a source are kept, in this width and type, until the next fs_engine_compute.
using fs_engine_holds_fn = std::int32_t(fs_engine* engine, std::uint64_t source, std::int32_t type, std::int32_t vocab,
                                        const std::int64_t* keys, std::int64_t rows);
/// Page-locked host memory, or null.
using fs_engine_host_alloc_fn = void*(fs_engine* engine, std::size_t bytes);
using fs_engine_host_free_fn = void(fs_engine* engine, void* memory);
/// Copies a sentence about trouble overcome since the last call ("" = none).
using fs_engine_notice_fn = void(fs_engine* engine, char* text, std::size_t size);
using fs_engine_close_fn = void(fs_engine* engine);
}
