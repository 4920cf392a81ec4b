// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// fuzz_trace FILE...: opens each file as a trace, reads every row of it, and says in a line what came out. Exits 1
// where a call took too long or a refusal is not one sentence; a crash speaks for itself. For fuzzers and for broken
// files.
#include "core/trace/open.h"
#include "tests/core/trace/hdf5_leaks.h"

#include <chrono>
#include <fmt/format.h>

namespace {

using Clock = std::chrono::steady_clock;
constexpr double longest_call = 2.0; // seconds

struct Watch {
    double slowest = 0;

    template <class Call>
    auto operator()(Call call)
    {
        const auto start = Clock::now();
        auto result = call();
        slowest = std::max(slowest, std::chrono::duration<double>(Clock::now() - start).count());
        return result;
    }
};

bool is_one_sentence(const std::string& text)
{
    return text.size() > 10 && text.back() == '.' && text.find('\n') == std::string::npos;
}

/// Reads all of a probe set row by row; the number of rows that could be read.
std::int64_t read_rows(const flipscope::ProbeSet& set, Watch& watch, bool& well_said)
{
    std::int64_t good = 0;
    const auto count = [&](const flipscope::Result<void>& read) {
        good += read ? 1 : 0;
        well_said = well_said && (read || is_one_sentence(read.error().message));
    };
    if (set.rows) {
        std::vector<std::byte> row(static_cast<std::size_t>(set.rows->row_bytes()));
        for (std::int64_t i = 0; i < set.rows->rows(); ++i)
            count(watch([&] { return set.rows->read(i, 1, row); }));
    }
    if (set.lists) {
        std::vector<std::int32_t> ids(static_cast<std::size_t>(set.lists->k()));
        std::vector<float> logprobs(ids.size());
        for (std::int64_t i = 0; i < set.lists->rows(); ++i)
            count(watch([&] { return set.lists->read(i, 1, ids, logprobs); }));
    }
    return good;
}

bool try_file(const char* path)
{
    Watch watch;
    bool well_said = true;
    const auto trace = watch([&] { return flipscope::open_trace(path); });
    if (!trace) {
        well_said = is_one_sentence(trace.error().message);
        fmt::print("refused in {:.3f} s: {}\n", watch.slowest, trace.error().message);
    } else {
        const flipscope::Trace& t = **trace;
        std::int64_t rows = read_rows(t.probes, watch, well_said);
        for (const auto& set : t.dense)
            rows += read_rows(set, watch, well_said);
        fmt::print(
            "opened, slowest call {:.3f} s: {}: {} tokens, {} probes, {} dense sets, {} spans, {} continuations, "
            "{} rows read, key {}\n",
            watch.slowest, t.path.string(), t.tokens.ids.size(), t.probes.size(), t.dense.size(), t.spans.size(),
            t.generations.size(), rows, t.content_key);
        for (const auto& finding : t.findings) {
            fmt::print("  {}: {}\n", finding.code, finding.text);
            well_said = well_said && is_one_sentence(finding.text);
        }
    }
    if (!well_said)
        fmt::print(stderr, "{}: not one sentence\n", path);
    if (watch.slowest > longest_call)
        fmt::print(stderr, "{}: a call took {:.1f} s\n", path, watch.slowest);
    return well_said && watch.slowest <= longest_call;
}

} // namespace

int main(int argc, char** argv)
{
    bool good = argc > 1;
    for (int i = 1; i < argc; ++i)
        good = try_file(argv[i]) && good;
    return good ? 0 : 1;
}
