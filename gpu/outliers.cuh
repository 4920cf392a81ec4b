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
#include "gpu/lanes.cuh"
#include "gpu/state.cuh"

namespace flipscope::gpu {

/// Where a block lists them: their number is counted in shared memory, they go to the row's sums.
struct Outliers {
    RowSums* row;
    int* count; ///< may exceed the room; then the row goes the careful way

    __device__ __forceinline__ void add(int i, std::uint32_t x, std::uint32_t y) const
    {
        const int at = atomicAdd(count, 1);
        if (at < max_outliers) {
            row->id[at] = i;
            row->p[at] = x;
            row->q[at] = y;
        }
    }
};

/// Takes the elements that reach `limit_p` or `limit_q` out of a pair of vectors: they are listed, and in their place
/// stand two equal logits of no weight. Of vectors beyond the row's end all are replaced and none is listed. One vector
/// in eight of a warp comes here.
template <class T>
__device__ __forceinline__ void set_aside(const Outliers& list, uint4& x, uint4& y, int vector, bool beyond,
                                          typename Lanes<T>::Value limit_p, typename Lanes<T>::Value limit_q)
{
    using L = Lanes<T>;
    constexpr int in_word = per_load<T> / 4;
    constexpr unsigned nothing = in_word == 2 ? T::weightless * 0x10001u : T::weightless;
    unsigned xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned below = L::below(L::value(xs[i]), limit_p) & L::below(L::value(ys[i]), limit_q);
        const unsigned reach = beyond ? ~0U : ~below;
        if (reach == 0)
            continue;
#pragma unroll
        for (int j = in_word * i; j < in_word * (i + 1); j++)
            if (!beyond && (reach >> (j % in_word * 16) & 1) != 0)
                list.add(vector * per_load<T> + j, element_of<T>(xs, j), element_of<T>(ys, j));
        xs[i] = (xs[i] & ~reach) | (nothing & reach);
        ys[i] = (ys[i] & ~reach) | (nothing & reach);
    }
    x = make_uint4(xs[0], xs[1], xs[2], xs[3]);
    y = make_uint4(ys[0], ys[1], ys[2], ys[3]);
}

/// e^x - 1 - x for any x.
__device__ __forceinline__ double phi_far(double x)
{
    return fabs(x) <= 0.5 ? phi_exact(x) : exp(x) - 1 - x;
}

} // namespace flipscope::gpu
