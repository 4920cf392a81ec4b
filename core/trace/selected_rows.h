// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <span>

namespace flipscope {

/// Keeps only the given rows (increasing numbers, each below size()) of a probe set: positions, stored extras and the
/// sources, which go on reading from where they did.
void keep_rows(ProbeSet& set, std::span<const std::int64_t> row_numbers);

/// Keeps only the first `columns` ids of full rows: what is behind them is padding. Extras that were stored about whole
/// rows (`lse`, a `top1` behind them) are left out.
void keep_columns(ProbeSet& set, std::int64_t columns);

} // namespace flipscope
