// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/core/trace/trace_files.h"

// What the tests of foreign formats share. The files in tests/data/formats come from make_formats.py.
namespace format_files {

using trace_files::all_values;
using trace_files::contains;
using trace_files::finding;
using trace_files::is_one_sentence;

inline std::filesystem::path data(const std::string& name)
{
    return std::filesystem::path(FLIPSCOPE_TEST_DATA) / "formats" / name;
}

inline const nlohmann::json& expected()
{
    static const nlohmann::json json = trace_files::read_json(data("expected.json"));
    return json;
}

inline std::string bytes_of(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A file of a test's own.
inline std::filesystem::path write(const QTemporaryDir& folder, const std::string& name, const std::string& content)
{
    const auto path = std::filesystem::path(folder.path().toStdString()) / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

/// Why a file is refused; empty, with a test failure to follow, where it opens.
inline std::string refusal(const std::filesystem::path& path, const flipscope::OpenHints& hints = {})
{
    const auto trace = flipscope::open_trace(path, hints);
    return trace ? std::string() : trace.error().message;
}

/// Whether the rows are those of a table in expected.json, bit for bit.
inline bool rows_are(const flipscope::RowSource& rows, const nlohmann::json& table)
{
    const auto values = all_values(rows);
    std::size_t i = 0;
    for (const auto& row : table)
        for (const auto& value : row)
            if (i >= values.size() || values[i++] != value.get<double>())
                return false;
    return i == values.size() && i > 0;
}

} // namespace format_files
