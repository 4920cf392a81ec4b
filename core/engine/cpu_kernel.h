// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/engine.h"

namespace flipscope {

/// One row of a block, as the vector kernel takes it.
struct RowPair {
    const std::byte* baseline;
    LogitType baseline_type;
    const std::byte* run;
    LogitType run_type;
    std::int32_t vocab;
    std::int32_t next_id; ///< -1 = none
    /// Rows of the same kind that are to be computed next, to be brought nearer meanwhile; null = not known.
    const std::byte* next_baseline = nullptr;
    const std::byte* next_run = nullptr;
};

/// The engine's part of one probe, with the widest vectors this processor has. Reentrant, allocates nothing.
void cpu_row_metrics(const RowPair& pair, MetricSet wanted, ProbeMetrics& out);

/// Name of those vectors, "AVX-512", "AVX2", "SSE4", ...
const char* cpu_vector_name();

} // namespace flipscope
