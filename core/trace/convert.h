// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace flipscope {

struct ConvertOptions {
    std::optional<LogitType> type;          ///< F16 or BF16
    int compression = 0;                    ///< gzip level of the rows, 0 to 9
    std::optional<std::int64_t> begin, end; ///< probes at positions in [begin, end) stay
    std::optional<std::int64_t> top_k;      ///< only the best k of each row stay
    bool drop_text = false;
};

/// What rounding the rows to another type did to them.
struct RoundingLoss {
    LogitType from = LogitType::F32, to = LogitType::F32;
    std::int64_t rows = 0;
    double max_abs_error = 0;   ///< over all finite logits
    std::int64_t flips = 0;     ///< rows whose top token (the lowest id of the largest) is another one
    std::int64_t overflows = 0; ///< finite logits that became -inf
};

struct Conversion {
    std::optional<RoundingLoss> loss; ///< where the type changed
    std::vector<std::string> notes;   ///< what was left out, in sentences
};

/// Writes `trace` to `path` as trace format version 1, changed as `options` say; rows stream through. Where rows are
/// rounded, the top token and the log-sum-exp from before are stored beside them. A positive logit that does not fit
/// into the type is an error. The sentence of an error names the file.
Result<Conversion> convert_trace(const std::filesystem::path& path, const Trace& trace, const ConvertOptions& options,
                                 const Job& job = {});

} // namespace flipscope
