// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"

namespace flipscope {

/// Readers of files that hold bare arrays: rows of logits without much of a story. What they are is found by the names
/// of the arrays ("logits", "ids", "positions" and their kin) and by the hints; what neither tells is a finding.
TraceReader npy_reader();         ///< NumPy .npy
TraceReader npz_reader();         ///< NumPy .npz: a ZIP archive of .npy
TraceReader safetensors_reader(); ///< one tensor of all rows, or a tensor per row whose name ends in its position

} // namespace flipscope
