// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rows on their way from memory to a block. Copies run four vectors ahead, to a ring in shared memory past all
// registers. (Loads into registers, two vectors in turn, were waited for as soon as they were issued, because the
// compiler moved what they brought: 38 % of all cycles, see tests/bench/RESULTS.md.) Each thread reads only what it
// copied itself, so there are no barriers, and warps may run apart.

#include "gpu/rows.cuh"

namespace flipscope::gpu {

constexpr int ring_stages = 4; ///< vectors of either row that a thread has on their way

template <class T>
class Ring {
    static constexpr unsigned stage = 2 * block_threads * sizeof(uint4), all = ring_stages * stage;
    static_assert((ring_stages & (ring_stages - 1)) == 0, "places wrap by a mask");

public:
    static constexpr std::size_t bytes = all;

    /// `memory`: `bytes` of shared memory.
    __device__ __forceinline__ explicit Ring(void* memory)
        : mine_(static_cast<unsigned>(__cvta_generic_to_shared(static_cast<uint4*>(memory) + threadIdx.x)))
    {
    }

    /// Sets out with a pair of rows of so many vectors; what was on its way is waited for and dropped.
    __device__ __forceinline__ void start(const void* p, const void* q, int vectors)
    {
        wait<0>();
        p_ = static_cast<const uint4*>(p) + threadIdx.x;
        q_ = static_cast<const uint4*>(q) + threadIdx.x;
#pragma unroll
        for (int s = 0; s < ring_stages; s++)
            copy(s * stage, s * block_threads, vectors - static_cast<int>(threadIdx.x) - s * block_threads);
        p_ += ring_stages * block_threads;
        q_ += ring_stages * block_threads;
    }

    /// The thread's first vectors, without taking them. Beyond the row's end, here and below, come vectors of equal
    /// logits of no weight.
    template <class F>
    __device__ __forceinline__ void peek(F f) const
    {
        wait<0>();
#pragma unroll 1
        for (int s = 0; s < ring_stages; s++)
            f(take(mine_ + s * stage), take(mine_ + s * stage + stage / 2));
    }

    /// Visits all vectors: f(vector of P, of Q, how many are left, this one counted, step). Thread t gets the vectors
    /// t, t + block_threads … in this order; all threads of a warp are there each time, those for which none is left
    /// with rubbish. `step` counts 0 .. steps-1 over and over; it is a constant after unrolling. Written for few
    /// instructions: one here costs as much as one for an eighth of the elements.
    template <int steps, class F>
    __device__ __forceinline__ void run(int vectors, F f)
    {
        static_assert(ring_stages % steps == 0, "a round of the ring ends with the last step");
        const int lane = static_cast<int>(threadIdx.x) % 32;
        unsigned place = mine_;
        for (int left = vectors - static_cast<int>(threadIdx.x);;) {
#pragma unroll
            for (int step = 0; step < steps; step++) {
                if (left + lane <= 0)
                    return;
                wait<ring_stages - 1>();
                uint4 x = take(place + step * stage), y = take(place + step * stage + stage / 2);
                refill(place + step * stage, left, step);
                f(x, y, left, step);
                left -= block_threads;
            }
            place += steps * stage;
            if (place == mine_ + all)
                place = mine_;
            p_ += steps * block_threads;
            q_ += steps * block_threads;
        }
    }

    static __device__ __forceinline__ uint4 nothing()
    {
        constexpr unsigned v = sizeof(typename T::Bits) == 2 ? T::weightless * 0x10001u : T::weightless;
        return make_uint4(v, v, v, v);
    }

private:
    template <int groups>
    static __device__ __forceinline__ void wait()
    {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
    }
    static __device__ __forceinline__ uint4 take(unsigned address)
    {
        uint4 v;
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "r"(address)
                     : "memory");
        return v;
    }
    static __device__ __forceinline__ void put(unsigned address, const uint4& v)
    {
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                     : "memory");
    }
    /// `left`: vectors of the row from there on.
    __device__ __forceinline__ void copy(unsigned place, int ahead, int left) const
    {
        const unsigned to = mine_ + place;
        if (left > 0) {
#if __CUDA_ARCH__ >= 800
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p_ + ahead) : "memory");
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + stage / 2), "l"(q_ + ahead) : "memory");
#else
            put(to, __ldcs(p_ + ahead));
            put(to + stage / 2, __ldcs(q_ + ahead));
#endif
        } else {
            put(to, nothing());
            put(to + stage / 2, nothing());
        }
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.commit_group;" ::: "memory"); // empty ones too: they are counted
#endif
    }

    /// Sends for the vectors that come a round of the ring later, `step` turns from where p_ and q_ are. `left`:
    /// vectors of the row from those taken last on.
    __device__ __forceinline__ void refill(unsigned to, int left, int step) const
    {
        constexpr int ahead = ring_stages * block_threads;
#if __CUDA_ARCH__ >= 800
        asm volatile("{\n\t.reg .pred p;\n\tsetp.gt.s32 p, %4, %5;\n\t"
                     "@p cp.async.cg.shared.global [%0], [%2], 16;\n\t"
                     "@p cp.async.cg.shared.global [%1], [%3], 16;\n\t}"
                     "cp.async.commit_group;" // empty ones too: they are counted
                     ::"r"(to),
                     "r"(to + stage / 2), "l"(p_ + step * block_threads), "l"(q_ + step * block_threads), "r"(left),
                     "n"(ahead)
                     : "memory");
#else
        if (left > ahead) {
            put(to, __ldcs(p_ + step * block_threads));
            put(to + stage / 2, __ldcs(q_ + step * block_threads));
        }
#endif
    }

    unsigned mine_;
    const uint4 *p_ = nullptr, *q_ = nullptr;
};

} // namespace flipscope::gpu
