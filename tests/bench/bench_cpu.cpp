// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Speed of the CPU engine in bytes of logits (both rows) a second, beside what the memory gives in the same minute.
//   bench_cpu [ROWS] [TYPE]      rows a vocabulary (default 96), bf16 (default), f16 or f32
// Times are the best of several runs. For one thread processor time is used, so that other work on the machine counts
// less; for more threads there is wall time only, and a busy machine shows in it.

#include "core/engine/engine.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string_view>
#include <vector>

using namespace flipscope;

namespace {

constexpr int repeats = 7;

double wall_seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double thread_seconds()
{
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Work>
double best_of(double (*seconds)(), const Work& work)
{
    double best = 1e9;
    for (int i = 0; i < repeats; ++i) {
        const double start = seconds();
        work();
        best = std::min(best, seconds() - start);
    }
    return best;
}

std::uint16_t to_bf16(float f)
{
    const auto u = std::bit_cast<std::uint32_t>(f);
    return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/// Only for the magnitudes made here: neither subnormal nor infinite.
std::uint16_t to_f16(float f)
{
    if (std::fabs(f) < 0x1p-14F)
        return 0;
    const auto u = std::bit_cast<std::uint32_t>(f);
    return static_cast<std::uint16_t>((u >> 16 & 0x8000) | (((u & 0x7fffffff) - (112U << 23) + 0x1000) >> 13));
}

struct Data {
    LogitType type;
    std::int32_t vocab;
    std::int64_t rows;
    std::vector<std::byte> p, q;

    Data(LogitType t, std::int32_t v, std::int64_t r, float noise) : type(t), vocab(v), rows(r)
    {
        const std::size_t row = static_cast<std::size_t>(v) * size_of(t);
        p.resize(row * static_cast<std::size_t>(r));
        q.resize(p.size());
        // One block of noise, entered at another place in every row: making rows is not what is measured.
        std::mt19937 random(1);
        std::normal_distribution<float> normal;
        std::vector<float> pool(1 << 20), moved(pool.size());
        for (float& x : pool)
            x = 2.5F * normal(random) - 1;
        for (float& x : moved)
            x = noise * normal(random);
        for (std::int64_t i = 0; i < r; ++i)
            for (std::int32_t j = 0; j < v; ++j) {
                const std::size_t at = (static_cast<std::size_t>(i) * 7919 + static_cast<std::size_t>(j)) % pool.size();
                const float l = j == (i * 7919) % v ? 18.F : pool[at];
                set(p, i, j, l);
                set(q, i, j, l + moved[(at * 5 + static_cast<std::size_t>(i)) % pool.size()]);
            }
    }

    void set(std::vector<std::byte>& side, std::int64_t row, std::int32_t id, float value) const
    {
        const auto at = static_cast<std::size_t>(row) * static_cast<std::size_t>(vocab) + static_cast<std::size_t>(id);
        if (type == LogitType::F32)
            reinterpret_cast<float*>(side.data())[at] = value;
        else
            reinterpret_cast<std::uint16_t*>(side.data())[at] =
                type == LogitType::BF16 ? to_bf16(value) : to_f16(value);
    }

    double gigabytes() const { return 1e-9 * static_cast<double>(p.size() + q.size()); }

    PairBlock block() const
    {
        const std::int64_t stride = vocab * static_cast<std::int64_t>(size_of(type));
        return {{p.data(), type, stride}, {q.data(), type, stride}, rows, vocab, nullptr};
    }
};

/// GB/s of adding up both sides as 64-bit words: what one core can read from this memory.
double read_speed(const Data& data)
{
    volatile std::uint64_t sink = 0;
    const double seconds = best_of(thread_seconds, [&] {
        std::uint64_t sum = 0;
        for (const auto* side : {&data.p, &data.q}) {
            const auto* words = reinterpret_cast<const std::uint64_t*>(side->data());
            for (std::size_t i = 0; i < side->size() / 8; ++i)
                sum += words[i];
        }
        sink = sum;
    });
    (void)sink;
    return data.gigabytes() / seconds;
}

double engine_speed(Engine& engine, const Data& data, double (*seconds)())
{
    std::vector<ProbeMetrics> out(static_cast<std::size_t>(data.rows));
    const double best = best_of(seconds, [&] {
        if (!engine.compute(data.block(), out, {}))
            std::abort();
    });
    if (!(out[0].valid && out[0].kl_pq > 0))
        std::abort();
    return data.gigabytes() / best;
}

} // namespace

int main(int argc, char** argv)
{
    const int rows = argc > 1 ? std::atoi(argv[1]) : 96;
    const std::string_view name = argc > 2 ? argv[2] : "bf16";
    const LogitType type = name == "f32" ? LogitType::F32 : name == "f16" ? LogitType::F16 : LogitType::BF16;
    if (rows <= 0 || (name != "bf16" && name != "f16" && name != "f32")) {
        std::fprintf(stderr, "usage: bench_cpu [ROWS] [bf16|f16|f32]\n");
        return 2;
    }
    const auto one = make_cpu_engine(1), two = make_cpu_engine(2);
    std::printf("%s; %d rows, %s; all metrics; GB/s of both rows, best of %d\n", one->detail().c_str(), rows,
                name_of(type), repeats);
    std::printf("%8s %6s | %8s | %12s %9s | %14s %9s\n", "vocab", "noise", "read", "1 thread", "of read", "2 threads",
                "x 1");
    for (const std::int32_t vocab : {248320, 151936})
        for (const float noise : {0.03F, 0.15F, 0.5F}) {
            const Data data(type, vocab, rows, noise);
            const double read = read_speed(data);
            const double single = engine_speed(*one, data, thread_seconds);
            const double wall = engine_speed(*two, data, wall_seconds);
            std::printf("%8d %6.2f | %8.2f | %12.3f %8.1f%% | %14.3f %9.2f\n", vocab, static_cast<double>(noise), read,
                        single, 100 * single / read, wall, wall / single);
            std::fflush(stdout);
        }
    return 0;
}
