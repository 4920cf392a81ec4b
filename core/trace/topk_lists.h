// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5_read.h"
#include "core/trace/rows.h"

#include <memory>

namespace flipscope::h5 {

/// Opens `group`/top_ids and top_logprobs and checks them. `n_vocab` 0 = not stated. Needs a Session.
Result<std::shared_ptr<const TopKSource>> open_lists(std::shared_ptr<const File> file, const Group& group,
                                                     std::int64_t n_vocab);

} // namespace flipscope::h5
