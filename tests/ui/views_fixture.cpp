// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views_fixture.h"

#include <QDir>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace flipscope::test {

const std::array<const char*, 8> viewsTexts{" arp", " run", "\n", "\xE2\x9C", "\x93", "\t", "\x1B", "the"};

std::int32_t viewsId(std::int64_t position)
{
    constexpr std::array<std::int32_t, 10> line{7, 0, 7, 1, 3, 4, 5, 6, 7, 2};
    return line[static_cast<std::size_t>(position % 10)];
}

namespace {

bool has(const std::vector<std::int64_t>& positions, std::int64_t position)
{
    return std::find(positions.begin(), positions.end(), position) != positions.end();
}

std::shared_ptr<const RowSource> rowsAt(const ViewsTrace& made, const std::vector<std::int64_t>& positions)
{
    std::vector<double> rows;
    for (const std::int64_t position : positions) {
        std::array<double, 8> row{};
        for (std::size_t i = 0; i < row.size(); ++i)
            row[i] = -std::log(2.0) * static_cast<double>(std::min<std::size_t>(i + 1, 7));
        if (has(made.swapsAt, position))
            std::swap(row[0], row[1]);
        if (has(made.nanAt, position))
            row[3] = std::numeric_limits<double>::quiet_NaN();
        if (has(made.zeroAt, position))
            row[7] = -std::numeric_limits<double>::infinity();
        rows.insert(rows.end(), row.begin(), row.end());
    }
    std::vector<std::byte> bytes(rows.size() * sizeof(double));
    std::memcpy(bytes.data(), rows.data(), bytes.size());
    return rows_in_memory(LogitType::F64, 8, std::move(bytes));
}

ProbeSet probeSet(const ViewsTrace& made, const std::string& name, const std::vector<std::int64_t>& positions)
{
    ProbeSet set;
    set.name = name;
    set.positions = positions;
    set.n_vocab = 8;
    set.scoring = "prefill";
    set.values = "raw";
    set.rows = rowsAt(made, positions);
    return set;
}

void append(ByteStrings& strings, const char* text)
{
    if (strings.offsets.empty())
        strings.offsets.push_back(0);
    strings.bytes += text;
    strings.offsets.push_back(strings.bytes.size());
}

} // namespace

QString write(const QString& folder, const ViewsTrace& made)
{
    Trace trace;
    trace.run_name = made.name.toStdString();
    trace.producer = "made for a test";
    for (std::int64_t t = 0; t < made.tokens; ++t) {
        trace.tokens.ids.push_back(viewsId(t));
        if (made.text)
            append(trace.tokens.text, viewsTexts[static_cast<std::size_t>(viewsId(t))]);
    }
    if (made.text) {
        auto vocabulary = std::make_shared<Vocabulary>();
        for (const char* text : viewsTexts)
            append(vocabulary->text, text);
        trace.vocabulary = vocabulary;
    }
    trace.spans = {{0, 100, "system", ""},
                   {100, 200, "user", ""},
                   {200, made.tokens, "assistant", ""},
                   {205, 225, "tool_call", "{\"name\":\"show\"}"}};
    std::vector<std::int64_t> positions;
    for (std::int64_t t = made.stride - 1; t < made.tokens; t += made.stride)
        positions.push_back(t);
    trace.probes = probeSet(made, {}, positions);
    if (!made.dense.empty())
        trace.dense.push_back(probeSet(made, "call", made.dense));
    const QString path = QDir(folder).filePath(made.name + QStringLiteral(".h5"));
    if (const auto written = write_trace(path.toStdString(), trace); !written)
        qFatal("%s", written.error().message.c_str());
    return path;
}

QStringList writeViews(const QString& folder, bool text)
{
    ViewsTrace base;
    base.name = QStringLiteral("base");
    base.dense = {201, 202, 203, 204};
    base.text = text;
    ViewsTrace run = base;
    run.name = QStringLiteral("run");
    run.swapsAt = {47, 63, 203, 207};
    run.nanAt = {95};
    run.zeroAt = {111};
    return {write(folder, base), write(folder, run)};
}

} // namespace flipscope::test
