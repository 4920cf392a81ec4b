// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Several runs in one pass, rows that stay on the device, several devices: whatever is shared and wherever rows are, a
// probe's numbers must be those of its pair computed alone, bit for bit. What is right is checked in check_cuda.cpp.

#include "tests/gpu/checking.h"
#include "tests/gpu/patterns.h"

#include <chrono>
#include <cstdlib>

namespace checking {

namespace {

/// Some traces of the same probes; the last is of another type.
struct Traces {
    int vocab, rows;
    std::vector<Rows> traces;
    std::vector<std::int32_t> next;
    std::vector<std::int64_t> keys;

    Traces(int vocab, int rows) : vocab(vocab), rows(rows)
    {
        for (int t = 0; t < 4; t++)
            traces.emplace_back(t == 3 ? oracle::f16 : oracle::bf16, vocab, rows);
        for (int i = 0; i < rows; i++) {
            // Patterns that have no infinity: what matters here is that rows are told apart.
            patterns::fill(i % 6, vocab, traces[0].row(i), oracle::bf16, traces[1].row(i), oracle::bf16);
            Rows spare(oracle::bf16, vocab, 1);
            patterns::fill((i + 1) % 6, vocab, spare.row(0), oracle::bf16, traces[2].row(i), oracle::bf16);
            patterns::fill((i + 2) % 6, vocab, spare.row(0), oracle::bf16, traces[3].row(i), oracle::f16);
            next.push_back(i % 7 == 3 ? -1 : i * 31 % vocab);
            keys.push_back(32LL * i + 31); // positions of probes
        }
    }
    fs_rows view(int trace, bool named) { return traces[trace].view(named ? 100 + trace : 0); }
    fs_rows absent(int trace)
    {
        fs_rows view = this->view(trace, true);
        view.data = nullptr;
        view.stride = 0;
        return view;
    }
    bool held(Opened& e, int trace)
    {
        return module.holds(e.engine, 100 + trace, traces[trace].type, vocab, keys.data(), rows) == 1;
    }
};

using Numbers = std::vector<ProbeMetrics>;

void compare_bits(const Numbers& got, const Numbers& want, std::size_t first, const std::string& what)
{
    for (std::size_t i = 0; i < want.size(); i++)
        report(same_bits(got[first + i], want[i]), what + ", row " + std::to_string(i));
}

Numbers alone(Opened& e, Traces& t, int p, int q)
{
    Numbers out(t.rows);
    const Pair pair(t.view(p, false), t.view(q, false), t.rows, t.vocab, t.next.data());
    const std::string error = e.compute(pair.block, out.data());
    report(error.empty(), error);
    return out;
}

void check_runs(Opened& e, Traces& t, bool named, const std::string& what)
{
    const fs_rows runs[3] = {t.view(1, named), t.view(3, named), t.view(2, named)}; // types in turn
    const fs_block block{t.view(0, named), runs, 3, t.rows, t.vocab, t.next.data(), t.keys.data()};
    Numbers out(3 * static_cast<std::size_t>(t.rows));
    std::memset(out.data(), 0xee, out.size() * sizeof(ProbeMetrics));
    const std::string error = e.compute(block, out.data());
    report(error.empty(), what + ": " + error);
    Opened plain(0);
    for (int r = 0; r < 3; r++)
        compare_bits(out,
                     alone(plain, t, 0,
                           r == 0   ? 1
                           : r == 1 ? 3
                                    : 2),
                     static_cast<std::size_t>(r * t.rows), what + ", run " + std::to_string(r));
}

/// All pairs and directions of rows that are on the device, with nothing to read them from.
void check_resident(Opened& e, Traces& t, const std::string& what)
{
    for (int trace = 0; trace < 4; trace++)
        report(t.held(e, trace), what + ": trace " + std::to_string(trace) + " is not kept");
    Opened plain(0);
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) {
            Numbers out(t.rows);
            const Pair pair(t.absent(p), t.absent(q), t.rows, t.vocab, t.next.data(), t.keys.data());
            const std::string error = e.compute(pair.block, out.data());
            report(error.empty(), what + ": " + error);
            compare_bits(out, alone(plain, t, p, q), 0, what + ", kept pair");
        }
}

void check_eviction(Traces& t)
{
    const std::int64_t row = (2 * t.vocab + 255) / 256 * 256;
    setenv("FLIPSCOPE_CUDA_KEEP", std::to_string(row * (t.rows + t.rows / 2)).c_str(), 1); // one trace and a half
    {
        Opened e(0);
        for (int round = 0; round < 2; round++)
            check_runs(e, t, true, "too much to keep, round " + std::to_string(round));
        const Pair first(t.view(0, true), t.view(0, true), t.rows, t.vocab, t.next.data(), t.keys.data());
        Numbers out(t.rows);
        report(e.compute(first.block, out.data()).empty() && t.held(e, 0) && !t.held(e, 1),
               "what was used last is not what is kept");
        const Pair gone(t.absent(1), t.absent(2), t.rows, t.vocab, t.next.data(), t.keys.data());
        report(module.compute(e.engine, &gone.block, out.data(), nullptr, nullptr, e.error, sizeof e.error) ==
                   FS_BAD_ARGUMENT,
               "rows that are not kept are computed from nothing");
        report(e.compute(first.block, out.data()).empty(), "after that the engine is of no more use");
    }
    setenv("FLIPSCOPE_CUDA_KEEP", "0", 1);
    {
        Opened e(0);
        check_runs(e, t, true, "nothing kept");
        report(!t.held(e, 0), "a row is kept where none may be");
    }
    unsetenv("FLIPSCOPE_CUDA_KEEP");
}

void check_lost_memory(Traces& t)
{
    for (const int n : {2, 4, 8, 20}) { // somewhere among the batches' and the kept rows' memory
        setenv("FLIPSCOPE_CUDA_FAIL", ("alloc:" + std::to_string(n)).c_str(), 1);
        Opened e(0);
        unsetenv("FLIPSCOPE_CUDA_FAIL");
        check_runs(e, t, true, "allocation " + std::to_string(n) + " failed");
    }
}

/// How long a look from another side takes: 96 probes of 151,936 ids, all on the device.
void time_resident()
{
    Traces t(151936, 96);
    Opened e(0);
    Numbers out(t.rows);
    for (int trace = 1; trace < 3; trace++) {
        const Pair pair(t.view(0, true), t.view(trace, true), t.rows, t.vocab, t.next.data(), t.keys.data());
        report(e.compute(pair.block, out.data()).empty(), e.error);
    }
    for (const auto& [p, q] : {std::pair{1, 2}, std::pair{2, 0}, std::pair{0, 1}}) {
        const Pair pair(t.absent(p), t.absent(q), t.rows, t.vocab, t.next.data(), t.keys.data());
        const auto begin = std::chrono::steady_clock::now();
        report(e.compute(pair.block, out.data()).empty(), e.error);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        std::printf("%d kept pairs of %d ids, another pair or direction: %.2f ms\n", t.rows, t.vocab, took.count());
    }
}

} // namespace

void check_sessions()
{
    Traces t(5003, 333);
    {
        Opened e(0);
        std::printf("%d device(s)\n", e.info.device_count);
        check_runs(e, t, false, "runs in one pass");
        check_runs(e, t, true, "runs in one pass, kept");
        check_resident(e, t, "kept");
        check_runs(e, t, true, "runs in one pass, all kept already");
    }
    check_eviction(t);
    check_lost_memory(t);
    setenv("FLIPSCOPE_CUDA_SPLIT", "3", 1);
    {
        Opened e(0);
        check_runs(e, t, false, "three devices");
        check_runs(e, t, true, "three devices, kept");
        check_resident(e, t, "three devices, kept");
    }
    unsetenv("FLIPSCOPE_CUDA_SPLIT");
    time_resident();
}

} // namespace checking
