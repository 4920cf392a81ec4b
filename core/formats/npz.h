// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job.h"
#include "core/formats/array.h"

namespace flipscope::formats {

/// The arrays in a .npz file, which is a ZIP archive (ZIP64 too) of .npy files. Members that are stored are read where
/// they lie; packed ones are unpacked into temporary files when they are first asked for. Members that are no arrays
/// are left out.
Result<std::vector<Array>> read_npz(const std::filesystem::path& content, const std::filesystem::path& shown,
                                    const Job& job);

} // namespace flipscope::formats
