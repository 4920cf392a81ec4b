// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/rows.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace flipscope {

/// Top-k lists over memory: `ids` and `logprobs` packed, k a row, best first; -1 = missing entry.
std::shared_ptr<const TopKSource> lists_in_memory(std::int64_t k, std::vector<std::int32_t> ids,
                                                  std::vector<float> logprobs);

} // namespace flipscope
