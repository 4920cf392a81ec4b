// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5.h"

#include <string>
#include <vector>

namespace flipscope::h5 {

/// One step of a dataset's compression pipeline.
struct Filter {
    int id = 0;
    std::string name;
    unsigned parameter = 0; ///< the first of its settings
};

/// The pipeline of a dataset creation property list, in writing order.
std::vector<Filter> filters_of(hid_t creation);

/// The steps that this machine cannot undo. Looks for plug-ins.
std::vector<Filter> missing_filters(const std::vector<Filter>& filters);

/// One sentence (no full stop) on what is missing, where it was looked for and how to do without it.
std::string explain_missing(const std::string& dataset, const std::vector<Filter>& missing);

} // namespace flipscope::h5
