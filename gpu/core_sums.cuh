// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The sums of a row pair, vector by vector: the part of the core kernel that costs time. See core_kernel.cuh for what
// they are for. An instruction more for an element costs 3 % of the whole, so it is written for few instructions:
// tables in place of exponentials, FP64 only where its digits count, FP32 for the small rest of a series.
//
// A warp takes one of three ways for the 8 elements (4 of float32) of each of its lanes. With d = (k - l) - D0:
// 1. All |d| <= 0.2: e^d - 1 - d by a polynomial, from one weight e^l. Good to 1.6e-10 of each term, however small d
// is.
//    For KL alone of 16-bit logits the same with a longer polynomial up to 0.65, on every other vector: way 2 is held
//    up by shared memory and this by instructions, so that the two together take less than either.
// 2. Else, from two weights e^l and e^k that were both looked up: sum v - sum w - sum w d. It cancels, so its error
//    is that of the large sums; put_together() asks whether the result is so much larger that this does not matter.
//    It does not where differences above 0.2 are common, and those are the rows that come here often.
// 3. In place of 2 where weights are computed or its error did matter: e^d - 1 - d without cancellation for any d.

#include "gpu/exponential.cuh"
#include "gpu/lanes.cuh"
#include "gpu/state.cuh"
#include "gpu/weights.cuh"

namespace flipscope::gpu {

/// Guesses up to here leave differences that are wanted in FP32 below 4 (exact_differences()).
constexpr float most_exact_guess = 3.25f;

/// What the sums of a block come to. Run's weights are up to e^D0: w e^d.
struct CoreTotals {
    double s = 0;     ///< sum w
    double g = 0;     ///< sum w (e^d - 1 - d)
    double a = 0;     ///< sum w (e^d - 1)
    double b = 0;     ///< sum w (e^d d - e^d + 1)
    double pl = 0;    ///< sum w l
    double qk = 0;    ///< sum w e^d k
    double noise = 0; ///< size of the sums whose difference went into g and b by way 2
    double differing = 0, largest = 0;
};

/// The sums of one thread. `kl_only` leaves out what only the other numbers need; it serves the benchmark.
template <class T, bool kl_only>
struct CoreSums {
    double s = 0, g = 0, wd = 0, e = 0, pl = 0, qk = 0; // ways 1 and 3
    double s2 = 0, t2 = 0, wd2 = 0, vd2 = 0, qk2 = 0;   // way 2; v and what contains it without e^-D0
    float largest = 0;                                  ///< |k - l|
    unsigned differing = 0;

    __device__ __forceinline__ void note_largest(const uint4& x, const uint4& y)
    {
#pragma unroll
        for (int j = 0; j < per_load<T>; j++)
            largest = fmaxf(largest, fabsf(T::to_float(element<T>(y, j)) - T::to_float(element<T>(x, j))));
    }

    __device__ __forceinline__ void add(double w, double d, double dd, double phi, double l, double k)
    {
        s += w;
        g = fma(w, phi, g);
        wd = fma(w, d, wd);
        e = fma(w, fma(phi, d, dd), e); // sum w (e^d - 1) d
        if constexpr (!kl_only) {
            pl = fma(w, l, pl);
            qk = fma(fma(w, phi + d, w), k, qk); // w e^d = w + w (e^d - 1)
        }
    }
    __device__ __forceinline__ void add_looked_up(double w, double v, double d, double l, double k)
    {
        s2 += w;
        t2 += v;
        wd2 = fma(w, d, wd2);
        vd2 = fma(v, d, vd2);
        if constexpr (!kl_only) {
            pl = fma(w, l, pl);
            qk2 = fma(v, k, qk2);
        }
    }

    /// One 16-byte vector of each row. `guess` is D0, a float's value. `careful` takes way 3 in place of 2. `odd`:
    /// every other vector, for the longer polynomial.
    __device__ __forceinline__ void add_vector(const Weights<T>& weights, const uint4& vx, const uint4& vy,
                                               double guess, bool careful, const double* powers,
                                               [[maybe_unused]] bool odd)
    {
        constexpr int n = per_load<T>;
        const unsigned x[4] = {vx.x, vx.y, vx.z, vx.w}, y[4] = {vy.x, vy.y, vy.z, vy.w};
        const float guess_f = static_cast<float>(guess);
        float d[n], most = 0;
#pragma unroll
        for (int j = 0; j < n; j++) {
            const float kl = T::to_float(element_of<T>(y, j)) - T::to_float(element_of<T>(x, j));
            if constexpr (!kl_only)
                largest = fmaxf(largest, fabsf(kl));
            d[j] = kl - guess_f;
            most = j == 0 ? fabsf(d[0]) : fmaxf(most, fabsf(d[j]));
        }
        double w[n];
        weights.all(x, w);
        const auto l = [&](int j) { return T::to_double(element_of<T>(x, j)); };
        const auto k = [&](int j) { return T::to_double(element_of<T>(y, j)); };
        // The whole warp takes one way: lanes that part would wait for each other anyway. d is wanted in FP64: a small
        // logit beside a large one loses digits in FP32. Where l and k are needed for themselves, this costs little;
        // else it is worth asking whether any logit of the vectors is that small. (`ask` below.)
        constexpr bool ask = kl_only && sizeof(typename T::Bits) == 2;
        bool quick = most <= small_x, medium = false;
        if constexpr (ask) {
            const bool sharp = exact_differences<T>(x, y), near = fabsf(guess_f) <= most_exact_guess;
            quick = sharp && most <= (near ? small_x : -1);
            medium = sharp && most <= (near ? medium_x : -1);
        }
        if (__all_sync(~0U, quick)) {
#pragma unroll
            for (int j = 0; j < n; j++) {
                const double exact = ask ? static_cast<double>(d[j]) : (k(j) - l(j)) - guess, square = exact * exact;
                add(w[j], exact, square, phi_small(exact, square, d[j]), l(j), k(j));
            }
        } else if (ask && odd && __all_sync(~0U, medium)) {
#pragma unroll
            for (int j = 0; j < n; j++) {
                const double exact = static_cast<double>(d[j]), square = exact * exact;
                add(w[j], exact, square, phi_medium(exact, square, d[j]), 0, 0);
            }
        } else if (Weights<T>::looked_up && !careful && !__all_sync(~0U, most <= small_x)) {
            double v[n];
            weights.all(y, v);
#pragma unroll
            for (int j = 0; j < n; j++)
                add_looked_up(w[j], v[j], (k(j) - l(j)) - guess, l(j), k(j));
        } else {
#pragma unroll
            for (int j = 0; j < n; j++) {
                const double exact = (k(j) - l(j)) - guess;
                add(w[j], exact, exact * exact, phi_any(exact, powers), l(j), k(j));
            }
        }
    }

    /// Leaves them, summed over each warp, for totals_from().
    __device__ __forceinline__ void leave(RowSums& row) const
    {
        double sums[core_sums] = {s,  g,  wd,  e,   pl,  qk,
                                  s2, t2, wd2, vd2, qk2, static_cast<double>(differing_total<T>(differing))};
        float most = largest;
        const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
        for (int c = 0; c < core_sums; c++) {
            const bool wanted = !kl_only || (c != 4 && c != 5 && c < 10);
#pragma unroll
            for (int o = 16; wanted && o > 0; o /= 2)
                sums[c] += __shfl_down_sync(~0u, sums[c], o);
            if (threadIdx.x % 32 == 0)
                row.sums[warp][c] = sums[c];
        }
        for (int o = 16; o > 0; o /= 2)
            most = fmaxf(most, __shfl_down_sync(~0u, most, o));
        if (threadIdx.x % 32 == 0)
            row.largest[warp] = most;
    }
};

/// `sums` as above, over the whole row; `scale` is e^-D0.
__device__ __forceinline__ CoreTotals totals_from(const double (&sums)[core_sums], double scale)
{
    const double t = scale * sums[7], grown = t - sums[6]; // way 2: sum w e^d, sum w (e^d - 1)
    CoreTotals all;
    all.s = sums[0] + sums[6];
    all.g = sums[1] + (grown - sums[8]);
    all.a = (sums[2] + sums[1]) + grown;
    all.b = (sums[3] - sums[1]) + (scale * sums[9] - grown);
    all.pl = sums[4];
    all.qk = sums[5] + scale * sums[10];
    all.noise = sums[6] + t;
    all.differing = sums[11];
    return all;
}

} // namespace flipscope::gpu
