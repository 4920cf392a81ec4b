// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The border between the program and the CUDA module, which is loaded at run time. Plain C++17 and C linkage, so that
// the module needs nothing of ours but this header, probe_metrics.h and logit_type's numbers.

#include "core/engine/probe_metrics.h"

#include <cstddef>
#include <cstdint>

extern "C" {

#define FLIPSCOPE_ENGINE_ABI 1

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
    const void* data;
    std::int32_t type; ///< flipscope::LogitType
    std::int64_t stride;
};

struct fs_block {
    fs_rows baseline, run;
    std::int64_t rows;
    std::int32_t vocab;
    const std::int32_t* next_ids; ///< may be null
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
/// Opens device 0 (CUDA_VISIBLE_DEVICES applies). `memory_limit` bytes of device memory at most, 0 = choose.
/// `info` is filled as far as known, also on failure.
using fs_engine_open_fn = std::int32_t(std::int64_t memory_limit, fs_engine** engine, fs_device_info* info, char* error,
                                       std::size_t error_size);
/// `cancelled(context)` is asked between batches; may be null.
using fs_engine_compute_fn = std::int32_t(fs_engine* engine, const fs_block* block, flipscope::ProbeMetrics* out,
                                          std::int32_t (*cancelled)(void*), void* context, char* error,
                                          std::size_t error_size);
/// Page-locked host memory, or null.
using fs_engine_host_alloc_fn = void*(fs_engine* engine, std::size_t bytes);
using fs_engine_host_free_fn = void(fs_engine* engine, void* memory);
/// Copies a sentence about trouble overcome since the last call ("" = none).
using fs_engine_notice_fn = void(fs_engine* engine, char* text, std::size_t size);
using fs_engine_close_fn = void(fs_engine* engine);
}
