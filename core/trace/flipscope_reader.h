// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"

namespace flipscope {

/// Reads trace format version 1 (an HDF5 file), after a trial in a process of its own (core/trace/trial.h).
TraceReader flipscope_reader();

/// The same without the trial: what the trial itself does.
Result<TracePtr> open_hdf5_here(const TraceFile& file, const OpenHints& hints, const Job& job);

} // namespace flipscope
