// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5_write.h"
#include "core/trace/trace.h"

namespace flipscope::h5 {

/// `parent`/metrics of a summarised run. Messages are without the file's name and the full stop.
Result<void> write_metrics(hid_t parent, const StoredMetrics& metrics);

} // namespace flipscope::h5
