// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The metrics of a pair of rows in 80-bit arithmetic, written from their definitions and sharing no code with the
// engines. Slow (long double exponentials for every element) and plain.

#include "core/engine/probe_metrics.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace oracle {

/// Numbers of flipscope::LogitType.
enum Type : std::int32_t { bf16 = 0, f16 = 1, f32 = 2, f64 = 3 };

std::size_t size_of(Type t);
double widen(const unsigned char* row, Type t, std::size_t i);
/// Rounds to the type (to nearest, ties to even) and stores.
void store(unsigned char* row, Type t, std::size_t i, double value);

/// `next` < 0 = none. Fills what an engine fills.
flipscope::ProbeMetrics compare(const unsigned char* p, Type tp, const unsigned char* q, Type tq, int vocab, int next);

} // namespace oracle
