// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"

namespace flipscope {

/// Reads trace format version 1 (an HDF5 file).
TraceReader flipscope_reader();

} // namespace flipscope
