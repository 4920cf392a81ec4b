// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5.h"

namespace flipscope::h5 {

/// Makes `access` (a file access property list) open through our own low-level file driver, over a descriptor that is
/// already open (it is duplicated). The stock drivers do three things a viewer must not: they take a lock, which a
/// capture that is running would trip over; they hand out the state of an earlier opening as long as that one lives,
/// so that a file rewritten on disk would not be seen; and they read zeros behind the end of a cut file.
/// Needs a Session. False where the library refuses.
bool use_read_only_driver(hid_t access, int descriptor);

} // namespace flipscope::h5
