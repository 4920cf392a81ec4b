// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Owners of device memory, streams and page-locked memory, and the place where failures are planted for tests.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <utility>

namespace flipscope::gpu {

/// FLIPSCOPE_CUDA_FAIL=alloc:N makes the Nth allocation of device memory fail (counted from 1), alloc:N+ that and all
/// later ones; device:N makes the Nth batch fail. So the ways out can be tested on a device that is well.
class PlannedFailure {
public:
    static PlannedFailure from_environment()
    {
        PlannedFailure f;
        const char* text = std::getenv("FLIPSCOPE_CUDA_FAIL");
        if (!text)
            return f;
        const bool alloc = std::strncmp(text, "alloc:", 6) == 0, device = std::strncmp(text, "device:", 7) == 0;
        if (!alloc && !device)
            return f;
        char* end = nullptr;
        const long long n = std::strtoll(text + (alloc ? 6 : 7), &end, 10);
        (alloc ? f.alloc_ : f.device_) = n;
        f.and_later_ = *end == '+';
        return f;
    }
    bool next_allocation_fails() { return hits(alloc_, ++allocations_); }
    bool next_batch_fails() { return hits(device_, ++batches_); }

private:
    bool hits(long long planned, long long now) const
    {
        return planned > 0 && (now == planned || (and_later_ && now > planned));
    }
    long long alloc_ = 0, device_ = 0, allocations_ = 0, batches_ = 0;
    bool and_later_ = false;
};

/// Device memory that only grows.
class DeviceMemory {
public:
    DeviceMemory() = default;
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    DeviceMemory(DeviceMemory&& o) noexcept : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0))
    {
    }
    ~DeviceMemory() { release(); }

    cudaError_t reserve(std::size_t bytes, PlannedFailure& planned)
    {
        if (bytes <= size_)
            return cudaSuccess;
        release();
        if (planned.next_allocation_fails())
            return cudaErrorMemoryAllocation;
        const cudaError_t error = cudaMalloc(&data_, bytes);
        if (error == cudaSuccess)
            size_ = bytes;
        else
            cudaGetLastError(); // a failed allocation leaves the device well; forget the error
        return error;
    }
    void release()
    {
        if (data_)
            cudaFree(data_);
        data_ = nullptr;
        size_ = 0;
    }
    void* data() const { return data_; }

private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Page-locked host memory that only grows.
class PinnedMemory {
public:
    PinnedMemory() = default;
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    ~PinnedMemory() { release(); }

    cudaError_t reserve(std::size_t bytes)
    {
        if (bytes <= size_)
            return cudaSuccess;
        release();
        const cudaError_t error = cudaHostAlloc(&data_, bytes, cudaHostAllocDefault);
        if (error == cudaSuccess)
            size_ = bytes;
        else
            cudaGetLastError();
        return error;
    }
    void release()
    {
        if (data_)
            cudaFreeHost(data_);
        data_ = nullptr;
        size_ = 0;
    }
    void* data() const { return data_; }

private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace flipscope::gpu
