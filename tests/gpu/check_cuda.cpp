// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Checks the CUDA module on a device against 80-bit arithmetic, over types, widths and distributions; then its
// behaviour: numbers independent of batches, bounded memory, planted failures, cancelling; then check_sessions.cpp.
//   check_cuda MODULE.so [small|tiny]    `small` is meant for compute-sanitizer's memcheck, `tiny` for its racecheck
// Exit 0 all right, 1 something is wrong, 77 no device (the reason is printed).

#include "tests/gpu/checking.h"
#include "tests/gpu/patterns.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>

using namespace checking;

namespace {

struct Worst {
    double kl = 0, js = 0, rest = 0; ///< kl, js: relative error; rest: share of what is allowed
} worst;

/// Compares one probe with the oracle's. `scale` = 1 + the largest finite |logit|.
void compare(const ProbeMetrics& got, const ProbeMetrics& want, double scale, const std::string& where)
{
    report(got.differing == want.differing,
           where + " differing " + std::to_string(got.differing) + " instead of " + std::to_string(want.differing));
    report(got.valid == want.valid, where + " valid");
    if (got.valid != want.valid)
        return;
    if (!want.valid) {
        report(std::isnan(got.kl_pq) && std::isnan(got.js) && std::isnan(got.nll_p) && std::isnan(got.lse_q) &&
                   std::isnan(got.max_abs_dlogit) && got.argmax_p == -1 && got.argmax_q == -1 && got.flip == 0,
               where + " an invalid row has numbers");
        return;
    }
    const auto divergence = [&](double g, double w, const char* name, double& most) {
        char text[120];
        std::snprintf(text, sizeof text, " %s %.17g instead of %.17g (relative %.2g)", name, g, w,
                      std::fabs(g - w) / w);
        const bool same = g == w;
        report(g >= 0 && (same || std::fabs(g - w) <= 1e-9 * std::max(w, 1e-12)), where + text);
        if (!same && w >= 1e-12 && std::isfinite(w))
            most = std::max(most, std::fabs(g - w) / w);
    };
    divergence(got.kl_pq, want.kl_pq, "kl_pq", worst.kl);
    divergence(got.kl_qp, want.kl_qp, "kl_qp", worst.kl);
    divergence(got.js, want.js, "js", worst.js);
    const auto number = [&](double g, double w, const char* name) {
        char text[120];
        std::snprintf(text, sizeof text, " %s %.17g instead of %.17g", name, g, w);
        const double allowed = std::max(1e-9 * std::fabs(w), 1e-14 * scale);
        const bool same = g == w || (std::isnan(g) && std::isnan(w));
        report(same || std::fabs(g - w) <= allowed, where + text);
        if (!same && std::isfinite(w))
            worst.rest = std::max(worst.rest, std::fabs(g - w) / allowed);
    };
    number(got.tv, want.tv, "tv");
    number(got.p_top, want.p_top, "p_top");
    number(got.q_top, want.q_top, "q_top");
    number(got.entropy_p, want.entropy_p, "entropy_p");
    number(got.entropy_q, want.entropy_q, "entropy_q");
    number(got.nll_p, want.nll_p, "nll_p");
    number(got.nll_q, want.nll_q, "nll_q");
    number(got.dp, want.dp, "dp");
    number(got.lse_p, want.lse_p, "lse_p");
    number(got.lse_q, want.lse_q, "lse_q");
    const auto exact = [&](double g, double w, const char* name) {
        report(g == w || (std::isnan(g) && std::isnan(w)),
               where + " " + name + " " + std::to_string(g) + " instead of " + std::to_string(w));
    };
    exact(got.margin, want.margin, "margin");
    exact(got.max_abs_dlogit, want.max_abs_dlogit, "max_abs_dlogit");
    exact(got.top5_overlap, want.top5_overlap, "top5_overlap");
    exact(got.top10_overlap, want.top10_overlap, "top10_overlap");
    exact(got.argmax_p, want.argmax_p, "argmax_p");
    exact(got.argmax_q, want.argmax_q, "argmax_q");
    exact(got.rank, want.rank, "rank");
    exact(got.flip, want.flip, "flip");
    exact(got.tied, want.tied, "tied");
}

template <class F>
void in_parallel(int n, F f)
{
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned t = 0; t < std::min<unsigned>(cores, static_cast<unsigned>(n)); t++)
        threads.emplace_back([&] {
            for (int i = next++; i < n; i = next++)
                f(i);
        });
    for (std::thread& t : threads)
        t.join();
}

/// One cell of the grid: one distinct pair for each pattern, repeated over `rows` rows. All are compared with the
/// oracle, repeats with each other by bits, and the whole with the same computed in small batches.
void check_cell(fs_engine* engine, fs_engine* tight, oracle::Type tp, oracle::Type tq, int vocab, int rows)
{
    const int distinct = patterns::count();
    rows = std::max(rows, 1);
    Rows p(tp, vocab, rows), q(tq, vocab, rows);
    std::vector<int> next(static_cast<std::size_t>(rows));
    std::vector<ProbeMetrics> want(static_cast<std::size_t>(distinct)), got(static_cast<std::size_t>(rows)),
        again = got;
    std::vector<double> scale(want.size(), 1);
    // With fewer rows than patterns every pattern still gets its turn: block after block of one row.
    const int used = std::max(rows, distinct);
    Rows all_p(tp, vocab, distinct), all_q(tq, vocab, distinct);
    in_parallel(distinct, [&](int i) {
        patterns::fill(i, vocab, all_p.row(i), tp, all_q.row(i), tq);
        want[i] = oracle::compare(all_p.row(i), tp, all_q.row(i), tq, vocab, i % 5 == 4 ? -1 : i * 7919 % vocab);
        for (int j = 0; j < vocab; j++)
            for (const double x : {oracle::widen(all_p.row(i), tp, j), oracle::widen(all_q.row(i), tq, j)})
                if (std::isfinite(x))
                    scale[i] = std::max(scale[i], 1 + std::fabs(x));
    });
    const std::string cell = "types " + std::to_string(tp) + "/" + std::to_string(tq) + " vocab " +
                             std::to_string(vocab) + " rows " + std::to_string(rows);
    for (int first = 0; first < used; first += rows) {
        for (int i = 0; i < rows; i++) {
            const int k = (first + i) % distinct;
            std::memcpy(p.row(i), all_p.row(k), oracle::size_of(tp) * static_cast<std::size_t>(vocab));
            std::memcpy(q.row(i), all_q.row(k), oracle::size_of(tq) * static_cast<std::size_t>(vocab));
            next[i] = k % 5 == 4 ? -1 : k * 7919 % vocab;
        }
        const Pair pair(p.view(), q.view(), rows, vocab, next.data());
        const fs_block& block = pair.block;
        char error[512] = "";
        std::memset(got.data(), 0xee, got.size() * sizeof(ProbeMetrics)); // what is not written shows
        int status = module.compute(engine, &block, got.data(), nullptr, nullptr, error, sizeof error);
        report(status == FS_OK, cell + ": " + error);
        if (status != FS_OK)
            return;
        std::memset(again.data(), 0x11, again.size() * sizeof(ProbeMetrics));
        status = module.compute(tight, &block, again.data(), nullptr, nullptr, error, sizeof error);
        report(status == FS_OK, cell + " with little memory: " + error);
        for (int i = 0; i < rows; i++) {
            const int k = (first + i) % distinct;
            const std::string where = cell + " row " + std::to_string(i) + " (" + patterns::name(k) + ")";
            report(status != FS_OK || same_bits(got[i], again[i]), where + " depends on the batch");
            if (i < distinct)
                compare(got[i], want[k], scale[k], where);
            else
                report(same_bits(got[i], got[i - distinct]), where + " differs from its repeat");
        }
    }
}

void check_failures()
{
    const int vocab = 1000, rows = 40;
    const oracle::Type t = oracle::bf16;
    Rows p(t, vocab, rows), q(t, vocab, rows);
    for (int i = 0; i < rows; i++)
        patterns::fill(0, vocab, p.row(i), t, q.row(i), t);
    const std::vector<int> next(rows, 1);
    const Pair pair(p.view(), q.view(), rows, vocab, next.data());
    const fs_block& block = pair.block;
    std::vector<ProbeMetrics> right(rows), out(rows);
    char error[512] = "";
    {
        Opened e(0);
        report(module.compute(e.engine, &block, right.data(), nullptr, nullptr, error, sizeof error) == FS_OK, error);
        int asked = 0;
        const auto stop_at_second = [](void* n) -> std::int32_t { return ++*static_cast<int*>(n) == 2; };
        report(module.compute(e.engine, &block, out.data(), stop_at_second, &asked, error, sizeof error) ==
                   FS_CANCELLED,
               "cancelling does not cancel");
        report(module.compute(e.engine, &block, out.data(), nullptr, nullptr, error, sizeof error) == FS_OK &&
                   same_bits(out[rows - 1], right[rows - 1]),
               "after cancelling the engine is of no more use");
    }
    for (int n = 2; n <= 9; n += 7) { // the table is the first allocation, a slot has five here
        setenv("FLIPSCOPE_CUDA_FAIL", ("alloc:" + std::to_string(n)).c_str(), 1);
        Opened e(0);
        const int status = module.compute(e.engine, &block, out.data(), nullptr, nullptr, error, sizeof error);
        bool same = status == FS_OK;
        for (int i = 0; i < rows && same; i++)
            same = same_bits(out[i], right[i]);
        const std::string notice = e.notice();
        std::printf("alloc:%d: %s\n", n, notice.c_str());
        report(same && !notice.empty() && e.notice().empty(), "a failed allocation is not overcome");
    }
    setenv("FLIPSCOPE_CUDA_FAIL", "alloc:2+", 1);
    {
        Opened e(0);
        const int status = module.compute(e.engine, &block, out.data(), nullptr, nullptr, error, sizeof error);
        std::printf("alloc:2+: %s\n", error);
        report(status == FS_OUT_OF_MEMORY, "no memory at all is not said");
    }
    setenv("FLIPSCOPE_CUDA_FAIL", "alloc:1", 1);
    report(Opened(0).status == FS_OUT_OF_MEMORY, "no memory for the table is not said");
    setenv("FLIPSCOPE_CUDA_FAIL", "device:2", 1);
    {
        Opened e(0);
        const int status = module.compute(e.engine, &block, out.data(), nullptr, nullptr, error, sizeof error);
        std::printf("device:2: %s\n", error);
        report(status == FS_DEVICE_ERROR, "a failed batch is not said");
        report(module.compute(e.engine, &block, out.data(), nullptr, nullptr, error, sizeof error) == FS_DEVICE_ERROR,
               "a broken engine goes on");
    }
    unsetenv("FLIPSCOPE_CUDA_FAIL");
    {
        Opened e(1000); // less than one pair of rows
        const int status = e.status == FS_OK
                               ? module.compute(e.engine, &block, out.data(), nullptr, nullptr, error, sizeof error)
                               : e.status;
        report(status == FS_OUT_OF_MEMORY, "a limit below one pair of rows is not said");
    }
    {
        Opened e(0);
        fs_block bad = block;
        bad.vocab = 0;
        report(module.compute(e.engine, &bad, out.data(), nullptr, nullptr, error, sizeof error) == FS_BAD_ARGUMENT,
               "a width of 0 is taken");
        bad = block;
        fs_rows unknown = pair.run;
        unknown.type = 9;
        bad.runs = &unknown;
        report(module.compute(e.engine, &bad, out.data(), nullptr, nullptr, error, sizeof error) == FS_BAD_ARGUMENT,
               "type 9 is taken");
    }
}

/// 1.5 GB of rows through an engine that may use 64 MiB.
void check_bounded_memory()
{
    const int vocab = 248320, rows = 1500;
    const std::int64_t limit = 64 << 20;
    Rows one(oracle::bf16, vocab, 1), other(oracle::bf16, vocab, 1);
    patterns::fill(0, vocab, one.row(0), oracle::bf16, other.row(0), oracle::bf16);
    Opened e(limit);
    // A repeat of one row must give one number.
    const Pair single(one.view(), other.view(), 1, vocab, nullptr);
    std::vector<ProbeMetrics> out(1);
    char error[512] = "";
    module.compute(e.engine, &single.block, out.data(), nullptr, nullptr, error, sizeof error);
    Rows p(oracle::bf16, vocab, rows), q(oracle::bf16, vocab, rows);
    for (int i = 0; i < rows; i++) {
        std::memcpy(p.row(i), one.row(0), 2 * static_cast<std::size_t>(vocab));
        std::memcpy(q.row(i), other.row(0), 2 * static_cast<std::size_t>(vocab));
    }
    const std::vector<int> next(rows, -1);
    std::vector<ProbeMetrics> many(rows);
    const Pair pair(p.view(), q.view(), rows, vocab, next.data());
    const fs_block& big = pair.block;
    const std::int64_t before = e.info.free_memory;
    report(module.compute(e.engine, &big, many.data(), nullptr, nullptr, error, sizeof error) == FS_OK, error);
    Opened probe(limit); // says how much is free now
    const std::int64_t taken = before - probe.info.free_memory;
    std::printf("1.5 GB of rows within a limit of 64 MiB took %lld MiB of device memory\n",
                static_cast<long long>(taken >> 20));
    report(taken <= limit + (32 << 20), "memory is not bounded");
    for (int i = 0; i < rows; i++)
        report(same_bits(many[i], out[0]), "bounded: row " + std::to_string(i));
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: check_cuda MODULE.so [small|tiny]\n");
        return 2;
    }
    const bool small = argc > 2 && std::strcmp(argv[2], "small") == 0;
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    module.open = reinterpret_cast<fs_engine_open_fn*>(dlsym(library, "fs_engine_open"));
    module.compute = reinterpret_cast<fs_engine_compute_fn*>(dlsym(library, "fs_engine_compute"));
    module.holds = reinterpret_cast<fs_engine_holds_fn*>(dlsym(library, "fs_engine_holds"));
    module.notice = reinterpret_cast<fs_engine_notice_fn*>(dlsym(library, "fs_engine_notice"));
    module.close = reinterpret_cast<fs_engine_close_fn*>(dlsym(library, "fs_engine_close"));

    int status = 0;
    {
        Opened e(0);
        status = e.status;
        if (status == FS_NO_DEVICE) {
            std::printf("Not checked: %s\n", e.error);
            return 77;
        }
        std::printf("%s, driver for CUDA %d, module built for %d\n", e.info.name, e.info.driver_version,
                    e.info.runtime_version);
    }
    using namespace oracle;
    const bool tiny = argc > 2 && std::strcmp(argv[2], "tiny") == 0;
    const std::vector<std::pair<Type, Type>> types =
        tiny ? std::vector<std::pair<Type, Type>>{{bf16, bf16}, {f64, f64}, {f16, f32}}
             : std::vector<std::pair<Type, Type>>{{bf16, bf16}, {f16, f16}, {f32, f32},  {f64, f64},
                                                  {bf16, f16},  {f16, f32}, {bf16, f64}, {f32, bf16}};
    const std::vector<int> vocabs = tiny    ? std::vector<int>{5003}
                                    : small ? std::vector<int>{1, 111, 5003}
                                            : std::vector<int>{1, 2, 3, 111, 32000, 49152, 128256, 151936, 248320};
    for (const int vocab : vocabs) {
        for (const auto& [tp, tq] : types) {
            const bool large = vocab > 40000;
            for (const int rows : tiny    ? std::vector<int>{39}
                                  : small ? std::vector<int>{1, 47}
                                          : std::vector<int>{1, 99, 989}) {
                if ((large && rows == 989 && tp != bf16) || (vocab > 130000 && rows > 100) || (large && rows == 1))
                    continue; // too much for a check; the decomposition is that of the others
                Opened e(0);
                Opened tight(
                    (std::int64_t{6} * (2 * vocab * static_cast<std::int64_t>(size_of(tp) + size_of(tq) + 16) + 4096)) +
                    (2 << 20));
                check_cell(e.engine, tight.engine, tp, tq, vocab, rows);
            }
        }
        std::printf("vocab %d: %lld checks, %d wrong; worst relative error of KL %.1e, of JS %.1e; others %.0e of what "
                    "is allowed\n",
                    vocab, checks, failures, worst.kl, worst.js, worst.rest);
        std::fflush(stdout);
    }
    if (!tiny)
        check_failures();
    if (!tiny)
        check_sessions();
    if (!small && !tiny)
        check_bounded_memory();
    std::printf("%lld checks, %d wrong\n", checks, failures);
    return failures ? 1 : 0;
}
