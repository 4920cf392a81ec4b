// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"
#include "hdf5_leaks.h"

#include <QTemporaryDir>
#include <QtTest>
#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

// What the tests of traces share. The traces in tests/data/traces and their expected.json come from make_traces.py.
namespace trace_files {

inline std::filesystem::path data(const std::string& name)
{
    return std::filesystem::path(FLIPSCOPE_TEST_DATA) / "traces" / name;
}

inline std::filesystem::path shared(const std::string& name)
{
    return std::filesystem::path(FLIPSCOPE_SHARED) / "traces" / name;
}

inline nlohmann::json read_json(const std::filesystem::path& path)
{
    std::ifstream in(path);
    return nlohmann::json::parse(in);
}

inline const nlohmann::json& expected()
{
    static const nlohmann::json json = read_json(data("expected.json"));
    return json;
}

/// A number of expected.json, where those that JSON lacks are words.
inline double number(const nlohmann::json& j)
{
    if (!j.is_string())
        return j.get<double>();
    const double inf = std::numeric_limits<double>::infinity();
    return j == "inf" ? inf : j == "-inf" ? -inf : std::numeric_limits<double>::quiet_NaN();
}

/// All rows of a source, widened; empty with a test failure where they cannot be read.
inline std::vector<double> all_values(const flipscope::RowSource& rows)
{
    std::vector<std::byte> raw(static_cast<std::size_t>(rows.rows() * rows.row_bytes()));
    if (const auto read = rows.read(0, rows.rows(), raw); !read) {
        qWarning("%s", read.error().message.c_str());
        return {};
    }
    std::vector<double> out(static_cast<std::size_t>(rows.rows() * rows.columns()));
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = widen(raw.data(), rows.type(), i);
    return out;
}

/// Equal bit for bit: signed zeros, infinities.
inline bool same(double a, double b)
{
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Whether `rows` are the rows of `kind` in expected.json.
inline bool rows_are(const flipscope::RowSource& rows, const std::string& kind)
{
    const auto values = all_values(rows);
    const auto& wanted = expected()["rows"][kind];
    std::size_t i = 0;
    for (const auto& row : wanted)
        for (const auto& value : row) {
            if (i >= values.size() || !same(values[i], number(value)))
                return false;
            ++i;
        }
    return i == values.size() && i > 0;
}

inline const flipscope::Finding* finding(const flipscope::Trace& trace, std::string_view code)
{
    for (const auto& f : trace.findings)
        if (f.code == code)
            return &f;
    return nullptr;
}

inline bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

inline bool is_one_sentence(const std::string& text)
{
    return text.size() > 10 && text.back() == '.' && text.find('\n') == std::string::npos;
}

} // namespace trace_files
