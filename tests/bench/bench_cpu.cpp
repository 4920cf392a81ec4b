// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Speed of the CPU engine in bytes of logits (both rows) a second, beside what the memory gives in the same minute.
//   bench_cpu [ROWS] [TYPE] [VECTORS]    rows a vocabulary (default 96); bf16 (default), f16 or f32; AVX2, SSE4 ... to
//   use
//                                        less than this processor has
// Each figure is the best of several rounds, and every round measures everything, so that a busy minute meets all
// alike. Times are processor time, so that other work on the machine counts less: of the thread, and for two threads of
// both, halved. What two threads lose against one is then what the cores share (caches, memory, clock), not who else
// runs.

#include "core/engine/engine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <hwy/targets.h>
#include <random>
#include <string_view>
#include <vector>

using namespace flipscope;

namespace {

constexpr int rounds = 7;

double seconds_of(clockid_t clock)
{
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Work>
double seconds_of(clockid_t clock, const Work& work)
{
    const double start = seconds_of(clock);
    work();
    return seconds_of(clock) - start;
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

    PairBlock block(MetricSet wanted) const
    {
        const std::int64_t stride = vocab * static_cast<std::int64_t>(size_of(type));
        return {{p.data(), type, stride}, {q.data(), type, stride}, rows, vocab, nullptr, nullptr, wanted};
    }
};

/// Adds up both sides as 64-bit words: what one core can read from this memory.
void read_all(const Data& data)
{
    static volatile std::uint64_t sink = 0;
    std::uint64_t sum = 0;
    for (const auto* side : {&data.p, &data.q}) {
        const auto* words = reinterpret_cast<const std::uint64_t*>(side->data());
        for (std::size_t i = 0; i < side->size() / 8; ++i)
            sum += words[i];
    }
    sink = sum;
    (void)sink;
}

void compute(Engine& engine, const Data& data, MetricSet wanted)
{
    static std::vector<ProbeMetrics> out;
    out.resize(static_cast<std::size_t>(data.rows));
    if (!engine.compute(data.block(wanted), out, {}) || !out[0].valid || !(out[0].kl_pq > 0))
        std::abort();
}

constexpr MetricSet sets[] = {MetricSet::Kl, MetricSet::Core, MetricSet::Full};

/// Best seconds of everything that is measured on one set of rows.
struct Best {
    double read = 1e9, one[3] = {1e9, 1e9, 1e9}, two[3] = {1e9, 1e9, 1e9};

    void round(Engine& single, Engine& both, const Data& data)
    {
        read = std::min(read, seconds_of(CLOCK_THREAD_CPUTIME_ID, [&] { read_all(data); }));
        for (int s = 0; s < 3; ++s) {
            one[s] = std::min(one[s], seconds_of(CLOCK_THREAD_CPUTIME_ID, [&] { compute(single, data, sets[s]); }));
            two[s] = std::min(two[s], seconds_of(CLOCK_PROCESS_CPUTIME_ID, [&] { compute(both, data, sets[s]); }) / 2);
        }
    }
};

/// Takes the vectors of this name instead of the widest.
bool choose_vectors(std::string_view name)
{
    for (auto left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
        const auto target = left & -left;
        if (name != hwy::TargetName(target))
            continue;
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        return true;
    }
    return false;
}

} // namespace

int main(int argc, char** argv)
{
    const int rows = argc > 1 ? std::atoi(argv[1]) : 96;
    const std::string_view name = argc > 2 ? argv[2] : "bf16";
    const LogitType type = name == "f32" ? LogitType::F32 : name == "f16" ? LogitType::F16 : LogitType::BF16;
    if (rows <= 0 || (name != "bf16" && name != "f16" && name != "f32") || (argc > 3 && !choose_vectors(argv[3]))) {
        std::fprintf(stderr, "usage: bench_cpu [ROWS] [bf16|f16|f32] [AVX3|AVX2|SSE4|...]\n");
        return 2;
    }
    const auto one = make_cpu_engine(1), two = make_cpu_engine(2);
    std::printf("%s; %d rows, %s; GB/s of both rows, best of %d rounds; x: two threads over one\n",
                one->detail().c_str(), rows, name_of(type), rounds);
    std::printf("%8s %6s | %8s | %8s %6s | %8s %6s | %8s %6s\n", "vocab", "noise", "read", "KL", "x", "core", "x",
                "full", "x");
    for (const std::int32_t vocab : {248320, 151936})
        for (const float noise : {0.03F, 0.15F, 0.5F}) {
            const Data data(type, vocab, rows, noise);
            Best best;
            for (int i = 0; i < rounds; ++i)
                best.round(*one, *two, data);
            std::printf("%8d %6.2f | %8.2f", vocab, static_cast<double>(noise), data.gigabytes() / best.read);
            for (int s = 0; s < 3; ++s)
                std::printf(" | %8.3f %6.2f", data.gigabytes() / best.one[s], best.one[s] / best.two[s]);
            std::printf("\n");
            std::fflush(stdout);
        }
    return 0;
}
