// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/base/finding.h"
#include "core/trace/trace.h"

// Whether two traces are what they seem to be. Nothing is changed by a check: each says in a sentence what it found.
namespace flipscope {

/// What the files state: settings and engines that differ, prompts, templates and tokenizers, ids made up or not
/// stated. Reads no rows.
Findings check_statements(const Trace& baseline, const Trace& run);

/// Log probabilities of the run that are the baseline's stretched by a constant, as a temperature stretches them. Looks
/// at a few rows of both, and only where not both state that their values are raw.
Findings check_temperature(const Trace& baseline, const Trace& run, const Alignment& alignment);

/// What the numbers show: rows that repeat, flat rows, infinite divergences, tokens that fit one place beside their
/// own, and rows that are bit-identical although settings differ.
Findings check_numbers(const Trace& baseline, const Trace& run, const MetricsTable& table);

} // namespace flipscope
