// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Elements that are kept out of the core kernel's sums.
//
// One token often has nearly all of a row's probability. If its logit moved by e, lse_Q - lse_P is near e, a guess from
// a sample without it is off by e, and G and a - ln(1+a) are both near e^2/2: their difference, the divergence, loses
// its digits. So what reaches the second largest logit of a sample of either row (one element in some thousand) is set
// aside, and the parts are put together by the chain rule: with the rest R as one token more,
//   KL(P||Q) = sum over {R, set aside} of P phi(x)  +  P(R) KL(P(.|R) || Q(.|R)),   x = ln Q - ln P of each,
// a form B whose terms are all >= 0.
//
// The list also answers what else is asked about the top: the two largest logits of both rows are always in it.

#include "gpu/exponential.cuh"
#include "gpu/reduce.cuh"
#include "gpu/rows.cuh"

namespace flipscope::gpu {

constexpr int max_outliers = 512;

template <class T>
struct Outliers {
    int id[max_outliers];
    typename T::Bits p[max_outliers], q[max_outliers];
    std::uint16_t order[max_outliers]; ///< places of the list by rising id
    int count;                         ///< may exceed the room; then the row goes the careful way

    __device__ __forceinline__ void add(int i, typename T::Bits x, typename T::Bits y)
    {
        const int at = atomicAdd(&count, 1);
        if (at < max_outliers) {
            id[at] = i;
            p[at] = x;
            q[at] = y;
        }
    }
};

/// Takes the elements that reach `most_p` or `most_q` out of a pair of vectors: they are listed, and in their place
/// stand two equal logits of no weight. Rare, so it may be slow.
template <class T>
__device__ __forceinline__ void set_aside(Outliers<T>& list, uint4& x, uint4& y, int vector, float most_p, float most_q)
{
    constexpr int n = per_load<T>;
    unsigned xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
    for (int j = 0; j < n; j++)
        if (T::to_float(element<T>(x, j)) >= most_p || T::to_float(element<T>(y, j)) >= most_q) {
            list.add(vector * n + j, element<T>(x, j), element<T>(y, j));
            constexpr unsigned nothing = T::weightless;
            if constexpr (n == 8) {
                const unsigned keep = j & 1 ? 0x0000ffffu : 0xffff0000u, put = j & 1 ? nothing << 16 : nothing;
                xs[j / 2] = (xs[j / 2] & keep) | put;
                ys[j / 2] = (ys[j / 2] & keep) | put;
            } else {
                xs[j] = ys[j] = nothing;
            }
        }
    x = make_uint4(xs[0], xs[1], xs[2], xs[3]);
    y = make_uint4(ys[0], ys[1], ys[2], ys[3]);
}

/// Orders the list by id: threads listed their finds as they came, and sums must not depend on that.
template <class T>
__device__ __forceinline__ void sort_outliers(Outliers<T>& list)
{
    for (int i = static_cast<int>(threadIdx.x); i < list.count; i += block_threads) {
        int before = 0;
        for (int j = 0; j < list.count; j++)
            before += list.id[j] < list.id[i];
        list.order[before] = static_cast<std::uint16_t>(i);
    }
    __syncthreads();
}

/// The two largest logits of one side of the list, once it is ordered. All threads of one warp; all get the result.
template <class T>
__device__ __forceinline__ Top2 largest_aside(const Outliers<T>& list, const typename T::Bits* side)
{
    Top2 top;
    for (int j = static_cast<int>(threadIdx.x) % 32; j < list.count; j += 32)
        top.see(T::to_double(side[list.order[j]]), list.id[list.order[j]]);
    return warp_top2(top);
}

/// e^x - 1 - x for any x.
__device__ __forceinline__ double phi_far(double x)
{
    return fabs(x) <= 0.5 ? phi_exact(x) : exp(x) - 1 - x;
}

} // namespace flipscope::gpu
