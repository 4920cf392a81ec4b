// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"

#include <optional>
#include <string>
#include <string_view>

namespace flipscope {

/// A table as the bytes of a cache entry: for the same machine and version of the program, not for exchange. Ends in a
/// checksum over everything, the key included.
std::string table_to_bytes(const MetricsTable& table, std::string_view key);

/// nullopt when the bytes are damaged, cut, of another version or of another key.
std::optional<MetricsTable> table_from_bytes(std::string_view bytes, std::string_view key);

} // namespace flipscope
