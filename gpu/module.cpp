// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The module's functions, by the names of plugin_abi.h. No exception leaves them.

#include "core/engine/plugin_abi.h"
#include "gpu/device_set.h"
#include "gpu/kernels.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

struct fs_engine {
    flipscope::gpu::DeviceSet devices;
};

namespace {

void put(const std::string& text, char* to, std::size_t size)
{
    if (!to || size == 0)
        return;
    const std::size_t n = text.size() < size - 1 ? text.size() : size - 1;
    std::memcpy(to, text.data(), n);
    to[n] = 0;
}

/// 13000 -> "13.0", as CUDA counts.
std::string version(int v)
{
    return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
}

/// Why no device can be had. Driver and build are both named: which of the two to change is then plain.
std::string why_no_device(cudaError_t error, int driver, int runtime)
{
    const std::string build = "this build needs CUDA " + version(runtime);
    if (driver == 0)
        return "No CUDA driver was found (" + build + "): install NVIDIA's driver to compute on the GPU.";
    if (error == cudaErrorInsufficientDriver)
        return "The NVIDIA driver is too old: it supports CUDA " + version(driver) + ", " + build +
               "; update the driver to compute on the GPU.";
    if (error == cudaErrorNoDevice) {
        const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
        if (visible)
            return "No CUDA device is visible: CUDA_VISIBLE_DEVICES is \"" + std::string(visible) +
                   "\" (driver supports CUDA " + version(driver) + ", " + build + ").";
        return "There is no CUDA device (driver supports CUDA " + version(driver) + ", " + build + ").";
    }
    return std::string("The CUDA driver does not answer: ") + cudaGetErrorString(error) + " (driver supports CUDA " +
           version(driver) + ", " + build + ").";
}

std::int32_t open(std::int64_t memory_limit, fs_engine** engine, fs_device_info* info, char* error,
                  std::size_t error_size)
{
    int driver = 0, count = 0;
    cudaDriverGetVersion(&driver); // stays 0 without a driver
    info->driver_version = driver;
    info->runtime_version = CUDART_VERSION;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count == 0)
        status = cudaErrorNoDevice;
    if (status != cudaSuccess) {
        put(why_no_device(status, driver, CUDART_VERSION), error, error_size);
        return FS_NO_DEVICE;
    }
    info->device_count = count;

    cudaDeviceProp properties{};
    status = cudaGetDeviceProperties(&properties, 0);
    if (status == cudaSuccess)
        status = cudaSetDevice(0);
    if (status == cudaSuccess) {
        put(properties.name, info->name, sizeof info->name);
        status = flipscope::gpu::check_code();
    }
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
        status == cudaErrorUnsupportedPtxVersion) {
        put(std::string("This build has no code for ") + properties.name + " (compute capability " +
                std::to_string(properties.major) + "." + std::to_string(properties.minor) + ").",
            error, error_size);
        return FS_NO_DEVICE;
    }
    std::size_t free = 0, total = 0;
    if (status == cudaSuccess)
        status = cudaMemGetInfo(&free, &total);
    if (status != cudaSuccess) {
        put(std::string("The GPU ") + info->name + " cannot be used: " + cudaGetErrorString(status) + ".", error,
            error_size);
        return FS_NO_DEVICE;
    }
    info->total_memory = static_cast<std::int64_t>(total);
    info->free_memory = static_cast<std::int64_t>(free);

    const char* split = std::getenv("FLIPSCOPE_CUDA_SPLIT");
    const int engines = split ? std::atoi(split) : count;
    auto made = std::make_unique<fs_engine>();
    const flipscope::gpu::Outcome outcome = made->devices.start(count, engines > 0 ? engines : count, memory_limit);
    if (!outcome.ok()) {
        put(outcome.message, error, error_size);
        return outcome.status;
    }
    *engine = made.release();
    return FS_OK;
}

} // namespace

#define FLIPSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

FLIPSCOPE_EXPORT std::int32_t fs_engine_abi()
{
    return FLIPSCOPE_ENGINE_ABI;
}

FLIPSCOPE_EXPORT std::int32_t fs_engine_open(std::int64_t memory_limit, fs_engine** engine, fs_device_info* info,
                                             char* error, std::size_t error_size)
{
    *engine = nullptr;
    *info = {};
    try {
        return open(memory_limit, engine, info, error, error_size);
    } catch (const std::bad_alloc&) {
        put("Memory ran out while the CUDA engine was opened.", error, error_size);
        return FS_OUT_OF_MEMORY;
    }
}

FLIPSCOPE_EXPORT std::int32_t fs_engine_compute(fs_engine* engine, const fs_block* block, flipscope::ProbeMetrics* out,
                                                std::int32_t (*cancelled)(void*), void* context, char* error,
                                                std::size_t error_size)
{
    try {
        const flipscope::gpu::Outcome outcome = engine->devices.compute(*block, out, cancelled, context);
        put(outcome.message, error, error_size);
        return outcome.status;
    } catch (const std::bad_alloc&) {
        put("Memory ran out in the CUDA engine.", error, error_size);
        return FS_OUT_OF_MEMORY;
    }
}

FLIPSCOPE_EXPORT std::int32_t fs_engine_holds(fs_engine* engine, std::uint64_t source, std::int32_t type,
                                              std::int32_t vocab, const std::int64_t* keys, std::int64_t rows)
{
    return engine->devices.holds(source, type, vocab, keys, rows) ? 1 : 0;
}

FLIPSCOPE_EXPORT void* fs_engine_host_alloc(fs_engine*, std::size_t bytes)
{
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, bytes, cudaHostAllocDefault) == cudaSuccess)
        return memory;
    cudaGetLastError();
    return nullptr;
}

FLIPSCOPE_EXPORT void fs_engine_host_free(fs_engine*, void* memory)
{
    if (memory)
        cudaFreeHost(memory);
}

FLIPSCOPE_EXPORT void fs_engine_notice(fs_engine* engine, char* text, std::size_t size)
{
    put(engine->devices.take_notice(), text, size);
}

FLIPSCOPE_EXPORT void fs_engine_close(fs_engine* engine)
{
    delete engine;
}
