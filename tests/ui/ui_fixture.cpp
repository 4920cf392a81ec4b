// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/ui_fixture.h"

#include <QMutex>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

namespace flipscope::test {

namespace {

QMutex warningsMutex;
QStringList warnings;

/// Noise that says nothing about the program.
const char* const expected[] = {
    "This plugin does not support propagateSizeHints()",
    "This plugin does not support raise()",
    "This plugin does not support grabbing the keyboard",
    "This plugin supports grabbing the mouse only for popup windows",
    "QStandardPaths: XDG_RUNTIME_DIR",
    "QStandardPaths: runtime directory",
    "QStandardPaths: wrong permissions on runtime directory",
};

QtMessageHandler previous = nullptr;

void collect(QtMsgType type, const QMessageLogContext& context, const QString& text)
{
    const bool noise = std::any_of(std::begin(expected), std::end(expected),
                                   [&](const char* known) { return text.contains(QLatin1String(known)); });
    if (noise)
        return;
    if (type != QtDebugMsg && type != QtInfoMsg) {
        const QMutexLocker lock(&warningsMutex);
        warnings.append(text);
    }
    if (previous != nullptr)
        previous(type, context, text);
    else
        std::fprintf(stderr, "%s\n", qPrintable(text));
}

/// A fixed pseudo-random number in [0, 1) for a row and an id.
float noise(std::int64_t position, std::int32_t id)
{
    std::uint64_t x = static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(id) + 1;
    x ^= x >> 31;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 29;
    return static_cast<float>(x >> 40) / static_cast<float>(1ULL << 24);
}

} // namespace

void isolate()
{
    static QTemporaryDir home;
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}) {
        const QString folder = home.filePath(QString::fromLatin1(name));
        QDir().mkpath(folder);
        qputenv(name, folder.toLocal8Bit());
    }
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    // Not QStandardPaths' test mode: it has one folder for all programs, and tests run beside each other.
    QCoreApplication::setOrganizationName(QStringLiteral("flipscope-test"));
    QCoreApplication::setApplicationName(QStringLiteral("flipscope-test"));
}

void collectWarnings()
{
    previous = qInstallMessageHandler(collect);
}

QStringList takeWarnings()
{
    const QMutexLocker lock(&warningsMutex);
    return std::exchange(warnings, {});
}

QString write(const QString& folder, const MadeTrace& made)
{
    Trace trace;
    trace.run_name = made.name.toStdString();
    trace.producer = "made for a test";
    trace.run = made.settings;
    for (std::int64_t t = 0; t < made.tokens; ++t) {
        trace.tokens.ids.push_back(static_cast<std::int32_t>((t * 7 + t / 64) % made.vocab));
        if (t == made.changedToken)
            trace.tokens.ids.back() = made.changedTo >= 0 ? made.changedTo : (trace.tokens.ids.back() + 1) % made.vocab;
    }
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->text.offsets.push_back(0);
    for (std::int32_t id = 0; id < made.vocab; ++id) {
        vocabulary->text.bytes += " w" + std::to_string(id);
        vocabulary->text.offsets.push_back(vocabulary->text.bytes.size());
    }
    trace.vocabulary = vocabulary;
    trace.tokens.text.offsets.push_back(0);
    for (const std::int32_t id : trace.tokens.ids) {
        trace.tokens.text.bytes += id < made.vocab ? vocabulary->text[static_cast<std::size_t>(id)] : " ?";
        trace.tokens.text.offsets.push_back(trace.tokens.text.bytes.size());
    }
    trace.spans = {{0, 400, "system", ""},
                   {400, 900, "user", ""},
                   {900, 2000, "assistant", ""},
                   {1200, 1300, "tool_call", "{\"name\":\"show\"}"},
                   {2000, 4000, "tool", ""}};

    ProbeSet& probes = trace.probes;
    probes.n_vocab = made.vocab;
    probes.scoring = "prefill";
    probes.values = "raw";
    std::vector<float> rows;
    for (std::int64_t t = 0; t < made.tokens; t += made.stride) {
        probes.positions.push_back(t);
        const auto first = rows.size();
        for (std::int32_t id = 0; id < made.vocab; ++id)
            rows.push_back(noise(t, id));
        const auto top = static_cast<std::size_t>(t / made.stride % made.vocab);
        const bool flip = std::ranges::find(made.flipsAt, t) != made.flipsAt.end();
        rows[first + top] = 6;
        if (flip) // now the neighbour leads
            std::swap(rows[first + top], rows[first + (top + 1) % static_cast<std::size_t>(made.vocab)]);
        if (std::ranges::find(made.nanAt, t) != made.nanAt.end())
            rows[first] = std::numeric_limits<float>::quiet_NaN();
    }
    std::vector<std::byte> bytes(rows.size() * sizeof(float));
    std::memcpy(bytes.data(), rows.data(), bytes.size());
    probes.rows = rows_in_memory(LogitType::F32, made.vocab, std::move(bytes));

    const QString path = QDir(folder).filePath(made.name + QStringLiteral(".h5"));
    const auto written = write_trace(path.toStdString(), trace);
    if (!written)
        qFatal("%s", written.error().message.c_str());
    return path;
}

std::vector<std::int64_t> inWindow(std::int64_t window, std::int64_t count)
{
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < count; ++i)
        positions.push_back(window * 512 + i * 32);
    return positions;
}

QStringList writeUsual(const QString& folder)
{
    std::vector<std::int64_t> late = inWindow(5, 8);
    late.push_back(7 * 512 + 64);
    return {
        write(folder, {.name = QStringLiteral("base"),
                       .flipsAt = {},
                       .nanAt = {},
                       .settings = {{"engine", "made"}, {"kv_cache_dtype", "f16"}}}),
        write(folder, {.name = QStringLiteral("early"),
                       .flipsAt = inWindow(2, 5),
                       .nanAt = {},
                       .settings = {{"engine", "made"}, {"kv_cache_dtype", "q4_0"}}}),
        write(folder, {.name = QStringLiteral("late"),
                       .flipsAt = late,
                       .nanAt = {96},
                       .settings = {{"engine", "other"}, {"kv_cache_dtype", "q4_0"}}}),
        write(folder, {.name = QStringLiteral("same"),
                       .flipsAt = {},
                       .nanAt = {},
                       .settings = {{"engine", "made"}, {"kv_cache_dtype", "f16"}}}),
    };
}

bool idle(const Session& session, int timeout)
{
    return QTest::qWaitFor([&] { return !session.busy(); }, timeout);
}

} // namespace flipscope::test
