// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// A module that fails as it is told to by FLIPSCOPE_FAKE_CASE: "abi" is of another build, "device" finds no device.
// With "memory" it opens, computes nothing, and counts the pieces of its memory.

#include "core/engine/plugin_abi.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE std::int32_t fs_engine_abi()
{
    const char* what = std::getenv("FLIPSCOPE_FAKE_CASE");
    return what && std::strcmp(what, "abi") == 0 ? 999 : FLIPSCOPE_ENGINE_ABI;
}
static int pieces = 0;
FAKE int fake_pieces()
{
    return pieces;
}
FAKE std::int32_t fs_engine_open(std::int64_t, fs_engine** engine, fs_device_info*, char* error, std::size_t size)
{
    if (const char* what = std::getenv("FLIPSCOPE_FAKE_CASE"); what && std::strcmp(what, "memory") == 0) {
        *engine = reinterpret_cast<fs_engine*>(&pieces);
        return FS_OK;
    }
    *engine = nullptr;
    std::snprintf(error, size, "the module's own sentence");
    return FS_NO_DEVICE;
}
FAKE std::int32_t fs_engine_compute(fs_engine*, const fs_block*, flipscope::ProbeMetrics*, std::int32_t (*)(void*),
                                    void*, char*, std::size_t)
{
    return FS_DEVICE_ERROR;
}
FAKE std::int32_t fs_engine_holds(fs_engine*, std::uint64_t, std::int32_t, std::int32_t, const std::int64_t*,
                                  std::int64_t)
{
    return 0;
}
FAKE void* fs_engine_host_alloc(fs_engine*, std::size_t bytes)
{
    ++pieces;
    return std::malloc(bytes);
}
FAKE void fs_engine_host_free(fs_engine*, void* memory)
{
    --pieces;
    std::free(memory);
}
FAKE void fs_engine_notice(fs_engine*, char* text, std::size_t)
{
    *text = 0;
}
FAKE void fs_engine_close(fs_engine*) {}
