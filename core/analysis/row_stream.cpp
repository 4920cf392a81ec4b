// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/row_stream.h"

#include "core/analysis/row_parts.h"

#include <algorithm>
#include <system_error>

namespace flipscope {

namespace streaming {

std::size_t aligned(std::int64_t bytes)
{
    constexpr std::size_t line = 64;
    return (static_cast<std::size_t>(bytes) + line - 1) / line * line;
}

std::size_t Side::piece(std::span<const MatchedProbe> pairs, std::size_t from, std::int64_t bytes) const
{
    const std::int64_t together = source.rows_at_once();
    const std::int64_t fit = bytes / std::max<std::int64_t>(1, source.row_bytes());
    const std::int64_t first = pairs[from].*row;
    const std::int64_t end = (first / together + std::max(fit / together, std::int64_t{1})) * together;
    std::size_t n = 1;
    while (from + n < pairs.size() && pairs[from + n].*row == first + static_cast<std::int64_t>(n) &&
           first + static_cast<std::int64_t>(n) < end)
        ++n;
    return n;
}

Result<void> Side::read(std::span<const MatchedProbe> pairs, std::size_t from, std::size_t count,
                        std::span<std::byte> out, std::span<std::string> digests) const
{
    if (auto read = source.read(pairs[from].*row, static_cast<std::int64_t>(count), out); !read)
        return read;
    const auto row_bytes = static_cast<std::size_t>(source.row_bytes());
    for (std::size_t i = 0; i < count; ++i) {
        Hasher hash;
        hash.add(out.subspan(i * row_bytes, row_bytes));
        digests[i] = hash.hex();
    }
    return {};
}

std::array<Side, 2> sides_of(const RowPairs& rows)
{
    return {{{rows.baseline, &MatchedProbe::baseline_row}, {rows.run, &MatchedProbe::run_row}}};
}

Result<std::vector<std::jthread>> start_threads(int count, const std::function<void()>& work)
{
    std::vector<std::jthread> threads;
    try {
        for (int i = 0; i < count; ++i)
            threads.emplace_back(work);
    } catch (const std::system_error& refused) {
        // Those that started do all the work; without any there is nobody to do it.
        if (threads.empty())
            return fail(ErrorKind::OutOfMemory,
                        "The system gives no thread for reading rows ({}): end other programs, or allow more.",
                        refused.code().message());
    }
    return threads;
}

} // namespace streaming

std::string RowHashes::hex() const
{
    Hasher both;
    both.add(baseline.hex());
    both.add(run.hex());
    return both.hex();
}

int reading_threads()
{
    return static_cast<int>(std::clamp(std::thread::hardware_concurrency() * 3 / 4, 1U, 16U));
}

namespace {

/// A pair as the only run of its baseline.
Result<StreamTimes> stream_blocks(const RowPairs& rows, Engine& engine, RowHashes& hashes, const std::stop_token& stop,
                                  const RowUse& use)
{
    const RowsOfRuns one{{rows.baseline, rows.pairs}, {{rows.run, rows.pairs}}};
    const auto compute = [&](const BlockOfRuns& b) {
        return use.compute({b.first, b.rows, b.baseline, b.runs.front()}, engine);
    };
    RowHashes* const its = &hashes;
    return stream_runs(one, engine, {&its, 1}, stop, {compute, use.progress});
}

} // namespace

Result<StreamTimes> stream_rows(const RowPairs& rows, Engine& engine, RowHashes& hashes, const std::stop_token& stop,
                                const RowUse& use)
{
    if (rows.pairs.empty())
        return StreamTimes{};
    auto done = engine.workers() > 0 ? streaming::stream_to_workers(rows, engine, hashes, stop, use)
                                     : stream_blocks(rows, engine, hashes, stop, use);
    if (stop.stop_requested())
        return cancelled();
    return done;
}

} // namespace flipscope
