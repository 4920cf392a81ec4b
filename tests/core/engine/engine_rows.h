// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rows of logits for the engine tests, and the comparison of an engine's numbers with others within what the manual
// promises (resources/manual/metrics.md, "Accuracy").

#include "core/engine/engine.h"
#include "tests/gpu/oracle.h"

#include <string>
#include <vector>

namespace engine_test {

using flipscope::LogitType;
using flipscope::ProbeMetrics;

/// Rows as a file may hold them: aligned to their type and no further, wider than the vocabulary.
class Rows {
public:
    Rows(LogitType type, std::int32_t vocab, std::int64_t rows);
    /// The same from values, rounded to the type.
    Rows(LogitType type, const std::vector<std::vector<double>>& values);

    std::byte* row(std::int64_t i) { return memory_.data() + offset_ + i * stride_; }
    unsigned char* raw(std::int64_t i) { return reinterpret_cast<unsigned char*>(row(i)); }
    void set(std::int64_t row, std::size_t i, double value);
    double get(std::int64_t row, std::size_t i) { return flipscope::widen(this->row(row), type_, i); }
    flipscope::RowView view(std::int64_t first = 0) { return {row(first), type_, stride_}; }
    LogitType type() const { return type_; }
    std::int32_t vocab() const { return vocab_; }
    std::int64_t count() const { return rows_; }

private:
    LogitType type_;
    std::int32_t vocab_;
    std::int64_t rows_, stride_;
    std::size_t offset_;
    std::vector<std::byte> memory_;
};

/// Runs the engine over all rows; a failure ends the test program.
std::vector<ProbeMetrics> compute(flipscope::Engine& engine, Rows& baseline, Rows& run,
                                  const std::vector<std::int32_t>& next = {});

/// One pair of rows.
ProbeMetrics compute_one(flipscope::Engine& engine, LogitType type, const std::vector<double>& baseline,
                         const std::vector<double>& run, std::int32_t next = -1);

/// 1 + the largest finite |logit| of both rows: the scale of what FP64 can do.
double scale_of(Rows& baseline, Rows& run, std::int64_t row);

/// How close the compared numbers came, over many calls.
struct Worst {
    double divergence = 0; ///< kl_pq, kl_qp, js: relative error
    double rest = 0;       ///< others: share of what is allowed
};

/// "" or what is wrong with `got`. `want.valid` = 0 asks for the invalid probe's rules.
std::string difference(const ProbeMetrics& got, const ProbeMetrics& want, double scale, Worst* worst = nullptr);

/// The engine's part equal bit by bit.
bool same_bits(const ProbeMetrics& a, const ProbeMetrics& b);

/// Every engine that must agree everywhere: reference and cpu.
std::vector<std::unique_ptr<flipscope::Engine>> engines();

} // namespace engine_test
