// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/row_stream.h"

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace flipscope {

/// The engine that was asked for, and the CPU from the block on where it fails (ErrorKind::Device, OutOfMemory). Where
/// memory is short for many runs at once, it gets fewer at a time first.
class SteadyEngine {
public:
    /// `threads` of the CPU engine; 0 = one for each core.
    SteadyEngine(Engine& engine, int threads) : engine_(engine), threads_(threads) {}

    /// out[r * rows + i] is row i of run r.
    Result<void> compute(BlockOfRuns& block, std::int32_t vocab, const std::int32_t* next_ids,
                         std::span<ProbeMetrics> out, const std::stop_token& stop);

    bool failed() const { return cpu_ != nullptr; }
    std::string detail() const;
    /// Sentences about trouble that was overcome so far.
    const std::vector<std::string>& notices() const { return notices_; }

private:
    Result<void> by_halves(const RunsBlock& block, std::span<ProbeMetrics> out, const std::stop_token& stop);

    Engine& engine_;
    int threads_;
    std::unique_ptr<Engine> cpu_;
    std::vector<std::string> notices_;
};

} // namespace flipscope
