// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/windows.h"
#include "core/trace/trace.h"

#include <string>

namespace flipscope {

/// What is left of a run's difference when that of the noise floor (a repeat of the baseline, the same model on a
/// second engine) is taken away: plain differences, which may be below 0.
struct AboveFloor {
    double kl_pq_mean = 0; ///< nats; NaN where either has no value
    double flip_rate = 0;
};
AboveFloor above_floor(const WindowStats& run, const WindowStats& floor);

/// A sentence where both traces state their engine and these differ: without a floor nobody knows how much of the
/// difference is theirs. Empty otherwise.
std::string engine_warning(const Trace& baseline, const Trace& run);

} // namespace flipscope
