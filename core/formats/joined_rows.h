// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/rows.h"

#include <memory>
#include <vector>

namespace flipscope::formats {

/// The rows of all `parts`, one part behind the other. All have one type and one number of columns, which the caller
/// has checked.
std::shared_ptr<const RowSource> joined_rows(std::vector<std::shared_ptr<const RowSource>> parts);

} // namespace flipscope::formats
