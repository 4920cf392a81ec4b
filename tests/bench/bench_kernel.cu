// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// How fast the kernels of the CUDA module are, beside the device's own copy rate and beside a plain kernel.
//   bench_kernel [vocab [pairs [types]]]     types: any of b (bfloat16), h (float16), f (float32); all three by default
// Rows are made on the device: bulk about -1 with a spread of 2.5, one winner at 18, and noise between both traces. A
// pair of traces, and 8 runs against one baseline. GB/s count two rows a pair, whether the baseline's is shared or not;
// the copy counts what is read and written. Medians of 9 runs over data larger than the L2. The KL set's numbers are
// held against the full set's, those of what the program calls.

#include "gpu/kernels.h"
#include "gpu/state.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

namespace {

using namespace flipscope;
using namespace flipscope::gpu;

void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
        std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
    }
}

__device__ unsigned hash(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

__device__ float normal(unsigned seed)
{
    const float u = (static_cast<float>(hash(2 * seed + 1)) + 1) * (1.0f / 4294967297.0f);
    const float v = static_cast<float>(hash(2 * seed + 0x9e3779b9U)) * (1.0f / 4294967296.0f);
    return sqrtf(-2 * logf(u)) * cospif(2 * v);
}

template <class T>
__device__ T rounded(float x);
template <>
__device__ __nv_bfloat16 rounded(float x)
{
    return __float2bfloat16(x);
}
template <>
__device__ __half rounded(float x)
{
    return __float2half(x);
}
template <>
__device__ float rounded(float x)
{
    return x;
}

template <class T>
__global__ void make_rows(unsigned char* p, unsigned char* q, std::int64_t pitch, int vocab, int pairs, int runs,
                          float sd)
{
    const std::int64_t n = static_cast<std::int64_t>(vocab) * pairs;
    for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < n;
         i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
        const int pair = static_cast<int>(i / vocab), row = pair / runs, id = static_cast<int>(i % vocab);
        const auto seed = static_cast<unsigned>(static_cast<std::int64_t>(row) * vocab + id);
        const float l = id == row * 7919LL % vocab ? 18.0f : 2.5f * normal(seed) - 1;
        const float k = l + sd * normal(static_cast<unsigned>(i) ^ 0xabcdef12u) + 0.7f * static_cast<float>(pair % 3);
        reinterpret_cast<T*>(p + pitch * row)[id] = rounded<T>(l);
        reinterpret_cast<T*>(q + pitch * pair)[id] = rounded<T>(k);
    }
}

/// Where the rows of each pair are: `runs` neighbours share the baseline's.
__global__ void fill_places(const unsigned char** places, const unsigned char* p, const unsigned char* q,
                            std::int64_t pitch, int pairs, int runs)
{
    const int pair = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (pair < pairs) {
        places[pair] = p + pitch * (pair / runs);
        places[pairs + pair] = q + pitch * pair;
    }
}

/// What one would write first: KL(P||Q) by FP64 exp, sum w (l - k) / S - (lse_p - lse_q).
__global__ void plain(const __nv_bfloat16* p, const __nv_bfloat16* q, std::int64_t pitch, int vocab, double* out)
{
    __shared__ double parts[3][8];
    const __nv_bfloat16 *l = p + blockIdx.x * pitch, *k = q + blockIdx.x * pitch;
    double v[3] = {0, 0, 0};
    for (int i = static_cast<int>(threadIdx.x); i < vocab; i += 256) {
        const double a = __bfloat162float(l[i]), b = __bfloat162float(k[i]), w = exp(a);
        v[0] += w;
        v[1] += exp(b);
        v[2] += w * (a - b);
    }
    for (int c = 0; c < 3; c++) {
        for (int o = 16; o > 0; o /= 2)
            v[c] += __shfl_down_sync(~0u, v[c], o);
        if (threadIdx.x % 32 == 0)
            parts[c][threadIdx.x / 32] = v[c];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int c = 0; c < 3; c++)
            for (int w = 1; w < 8; w++)
                v[c] += parts[c][w];
        out[blockIdx.x] = v[2] / v[0] - (log(v[0]) - log(v[1]));
    }
}

template <class F>
double median_ms(F f)
{
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<float> times;
    for (int i = 0; i < 11; i++) {
        check(cudaEventRecord(begin));
        f();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 2) // the first two warm up
            times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

} // namespace

int main(int argc, char** argv)
{
    const int vocab = argc > 1 ? std::atoi(argv[1]) : 248320, rows = argc > 2 ? std::atoi(argv[2]) : 2048;
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    int driver = 0;
    check(cudaDriverGetVersion(&driver));
    std::printf("%s, driver for CUDA %d, built with %d; %d pairs of rows of %d\n", properties.name, driver,
                CUDART_VERSION, rows, vocab);

    const std::size_t room = row_pitch(vocab, type_f32) * static_cast<std::size_t>(rows);
    unsigned char *p = nullptr, *q = nullptr;
    void *table = nullptr, *state = nullptr;
    ProbeMetrics* out = nullptr;
    const unsigned char** places = nullptr;
    double* plain_out = nullptr;
    check(cudaMalloc(&p, room));
    check(cudaMalloc(&q, room));
    check(cudaMalloc(&table, table_size()));
    check(cudaMalloc(&state, row_state_size() * static_cast<std::size_t>(rows)));
    check(cudaMalloc(&out, sizeof(ProbeMetrics) * static_cast<std::size_t>(rows)));
    check(cudaMalloc(&plain_out, sizeof(double) * static_cast<std::size_t>(rows)));
    check(cudaMalloc(&places, 2 * sizeof(*places) * static_cast<std::size_t>(rows)));
    check(fill_table(table, nullptr));

    const std::size_t copied = room / 2;
    const double copy = 2.0 * static_cast<double>(copied) /
                        median_ms([&] { check(cudaMemcpyAsync(q, p, copied, cudaMemcpyDeviceToDevice)); }) / 1e6;
    std::printf("copy on the device: %.0f GB/s read and written\n", copy);

    const char* types = argc > 3 ? argv[3] : "bhf";
    for (const std::int32_t type : {type_bf16, type_f16, type_f32})
        for (const float sd : {0.03f, 0.15f, 0.5f})
            for (const int runs : {1, 8}) {
                if (!std::strchr(types, "bhf"[type]))
                    continue;
                const auto pitch = static_cast<std::int64_t>(row_pitch(vocab, type));
                if (type == type_bf16)
                    make_rows<__nv_bfloat16><<<2048, 256>>>(p, q, pitch, vocab, rows, runs, sd);
                else if (type == type_f16)
                    make_rows<__half><<<2048, 256>>>(p, q, pitch, vocab, rows, runs, sd);
                else
                    make_rows<float><<<2048, 256>>>(p, q, pitch, vocab, rows, runs, sd);
                fill_places<<<(rows + 255) / 256, 256>>>(places, p, q, pitch, rows, runs);
                check(cudaDeviceSynchronize());
                const double bytes = 2.0 * static_cast<double>(type_size(type)) * vocab * rows;
                std::printf("%s noise %.2f %s:",
                            type == type_bf16  ? "bfloat16"
                            : type == type_f16 ? "float16"
                                               : "float32",
                            sd, runs == 1 ? "pair  " : "8 runs");
                if (type == type_bf16 && runs == 1) {
                    const double rate =
                        bytes / 1e6 / median_ms([&] {
                            plain<<<rows, 256>>>(reinterpret_cast<__nv_bfloat16*>(p),
                                                 reinterpret_cast<__nv_bfloat16*>(q), pitch / 2, vocab, plain_out);
                        });
                    std::printf(" plain FP64 %.0f GB/s %.1f %%,", rate, 100 * rate / copy);
                }
                std::vector<ProbeMetrics> alone(static_cast<std::size_t>(rows)), full(alone.size());
                const auto fetch = [&](std::vector<ProbeMetrics>& to) {
                    check(cudaMemcpy(to.data(), out, to.size() * sizeof(ProbeMetrics), cudaMemcpyDeviceToHost));
                };
                for (const MetricSet set : {MetricSet::Kl, MetricSet::Core, MetricSet::Full}) {
                    const DeviceBatch batch{places, places + rows, type, vocab, rows, nullptr, out, state};
                    const double rate =
                        bytes / 1e6 / median_ms([&] { check(compute_metrics(batch, table, set, nullptr)); });
                    std::printf(" %s %.0f GB/s %.1f %%,",
                                set == MetricSet::Kl     ? "KL"
                                : set == MetricSet::Core ? "core"
                                                         : "full",
                                rate, 100 * rate / copy);
                    if (set == MetricSet::Kl)
                        fetch(alone);
                }
                fetch(full);
                double apart = 0; // KL and argmaxes of the two sets: check_cuda vouches for the full one
                for (std::size_t i = 0; i < full.size(); i++) {
                    const double pq = std::fabs(alone[i].kl_pq / full[i].kl_pq - 1);
                    const double qp = std::fabs(alone[i].kl_qp / full[i].kl_qp - 1);
                    const bool same = alone[i].argmax_p == full[i].argmax_p && alone[i].argmax_q == full[i].argmax_q &&
                                      alone[i].tied == full[i].tied;
                    apart = same && pq + qp >= 0 ? std::max({apart, pq, qp}) : INFINITY; // NaN is not >= 0
                }
                std::vector<RowState> states(static_cast<std::size_t>(rows));
                check(cudaMemcpy(states.data(), state, states.size() * sizeof(RowState), cudaMemcpyDeviceToHost));
                const auto careful =
                    std::count_if(states.begin(), states.end(), [](auto& s) { return s.careful != 0; });
                const auto twice = std::count_if(states.begin(), states.end(), [](auto& s) { return s.visits > 1; });
                std::printf(" %ld rows twice, %ld the careful way, first KL %.4g, KL alone within %.1e of that\n",
                            static_cast<long>(twice), static_cast<long>(careful), full[0].kl_pq, apart);
                std::fflush(stdout);
            }
    return 0;
}
