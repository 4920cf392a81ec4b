// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

namespace flipscope {

/// By how much the positions of `run` would have to move for its history to be the baseline's: -1 where it has one
/// token more at its start (a BOS that template and tokenizer both put there), 1 where it lacks the baseline's first,
/// 0 where neither is so or the histories agree as they are. One agreeing token proves nothing: four at least must.
int shift_that_fits(const Trace& baseline, const Trace& run);

/// Whether the two then have a probe at a common position: recorded at a stride, they may have none.
bool probes_meet(const Trace& baseline, const Trace& run, int by);

/// The same trace with all positions moved. By -1: without its first token, and without what was recorded there. By 1:
/// with an unknown_id in front. The rows are not touched: what they answered had that token in its context, or lacked
/// it, and a finding says so. Stored numbers of a summary are left out, since they are about other positions.
TracePtr shifted(const Trace& trace, int by);

/// A warning where a history begins with one special token twice: fed so, every position is one late.
void note_doubled_start(Trace& trace);
bool starts_doubled(const Trace& trace);

} // namespace flipscope
