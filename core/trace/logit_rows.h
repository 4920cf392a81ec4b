// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5_read.h"
#include "core/trace/rows.h"

#include <memory>
#include <vector>

namespace flipscope::h5 {

/// The full-vocabulary rows of one probe group, ready to be read.
struct LogitRows {
    std::shared_ptr<const RowSource> source;
    std::vector<bool> written; ///< per row; empty = all. A capture that was stopped leaves rows that were never written
    bool extendible = false;   ///< written row by row, so that it may end before the positions do
    bool quick = true;         ///< whether one row can be had without unpacking hundreds of megabytes
};

/// Opens `group`/logits and checks it. Rows that cannot be read for want of a compression plug-in still make a source,
/// whose read() says so, and a finding. Layouts that make reading slow become findings too. Needs a Session.
Result<LogitRows> open_logits(const std::shared_ptr<const File>& file, const Group& group, Findings& findings);

/// Warns where the first row holds numbers that no model emits: a sign that its type was misread or mislabelled.
void check_plausible(const RowSource& rows, const std::string& path, Findings& findings);

} // namespace flipscope::h5
