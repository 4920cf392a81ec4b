// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/steady_engine.h"

#include <fmt/format.h>
#include <utility>

namespace flipscope {

Result<void> SteadyEngine::compute(BlockOfRuns& block, std::int32_t vocab, const std::int32_t* next_ids,
                                   std::span<ProbeMetrics> out, const std::stop_token& stop)
{
    const auto for_engine = [&] { // names are for rows that may stay; without them several GPUs share rows evenly
        const std::int64_t* keys = block.baseline.source != 0 ? block.keys.data() : nullptr;
        return RunsBlock{block.baseline, block.runs, block.rows, vocab, next_ids, keys};
    };
    if (!cpu_) {
        auto done = engine_.compute_runs(for_engine(), out, stop);
        if (!done && done.error().kind == ErrorKind::OutOfMemory && block.runs.size() > 1) {
            // What comes first may push out what comes later: nothing counts on the engine's rows any more.
            if (auto read = block.read_rest(); !read)
                return read;
            done = by_halves(for_engine(), out, stop);
        }
        for (std::string& notice : engine_.take_notices())
            notices_.push_back(std::move(notice));
        if (done || engine_.name() == "cpu" ||
            (done.error().kind != ErrorKind::Device && done.error().kind != ErrorKind::OutOfMemory))
            return done;
        notices_.push_back(fmt::format("The rest was computed on the CPU: {}", done.error().message));
        cpu_ = make_cpu_engine(threads_);
    }
    if (auto read = block.read_rest(); !read)
        return read;
    return cpu_->compute_runs(for_engine(), out, stop);
}

/// Ever fewer runs at a time; one alone is not divided any more.
Result<void> SteadyEngine::by_halves(const RunsBlock& block, std::span<ProbeMetrics> out, const std::stop_token& stop)
{
    const std::size_t half = block.runs.size() / 2, rows = static_cast<std::size_t>(block.rows);
    for (const auto& [first, count] : {std::pair{std::size_t{0}, half}, std::pair{half, block.runs.size() - half}}) {
        RunsBlock part = block;
        part.runs = block.runs.subspan(first, count);
        const std::span of_part = out.subspan(first * rows, count * rows);
        auto done = engine_.compute_runs(part, of_part, stop);
        if (!done && done.error().kind == ErrorKind::OutOfMemory && count > 1)
            done = by_halves(part, of_part, stop);
        if (!done)
            return done;
    }
    return {};
}

std::string SteadyEngine::detail() const
{
    return cpu_ ? fmt::format("{}, then the CPU ({})", engine_.detail(), cpu_->detail()) : engine_.detail();
}

} // namespace flipscope
