// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/logit_type.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flipscope {

/// What a person says about a file that does not say it itself. Everything is optional; a Flipscope trace needs none
/// of it. Where a file states something and a hint says otherwise, that is an error and not a silent choice, except for
/// the names and settings at the end, which a person may well know better.
struct OpenHints {
    // --- which numbers, and how they lie ---
    std::string array;             ///< name of the array or tensor that holds the rows (.npz, safetensors)
    std::string axes;              ///< a letter per dimension: p probes, v vocabulary, 1 a single entry ("1pv", "vp")
    std::optional<LogitType> type; ///< of elements whose type the file cannot state (two raw bytes: bfloat16)
    std::optional<std::int64_t> vocabulary; ///< columns that count; what is behind them is padding

    // --- where the rows stand in the history ---
    std::filesystem::path tokens;    ///< file with the ids of the history: an array, text, JSON, or another trace
    std::filesystem::path positions; ///< file with a position per row
    std::optional<std::int64_t> first, stride; ///< or: row i stands at first + i * stride
    std::optional<std::int32_t> bos;           ///< id that was fed in place of the first token of each chunk
    int shift = 0; ///< -1, 1: the history without its first token, or with one in front (core/trace/shift.h)

    // --- what the numbers are ---
    std::string scoring, values;       ///< prefill / decode, raw / processed
    std::optional<double> temperature; ///< that the values were divided by
    std::string run_name;
    std::vector<std::pair<std::string, std::string>> settings; ///< added to the run's settings, or replacing them

    bool operator==(const OpenHints&) const = default;
};

} // namespace flipscope
