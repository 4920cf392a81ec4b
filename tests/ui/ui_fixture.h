// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/writer.h"
#include "ui/session/session.h"

#include <QApplication>
#include <QString>
#include <QTemporaryDir>
#include <QtTest>

namespace flipscope::test {

/// Settings, cache and recent files of a test go to a folder of its own. Before the QApplication is made.
void isolate();

/// Collects Qt's warnings from now on; expected ones (known noise of the offscreen platform) are left out.
void collectWarnings();
QStringList takeWarnings();

/// A small made-up session with planted flips, so that every number on the screen is known beforehand.
/// 4,000 tokens, probes at 0, 32, 64 ... 3,968 (125), 64 ids, float32 rows: the chosen first window is 512 tokens,
/// which gives 8 windows of 16 probes (13 in the last).
struct MadeTrace {
    QString name;
    std::vector<std::int64_t> flipsAt; ///< positions where the top token is another
    std::vector<std::int64_t> nanAt;   ///< positions whose row holds a NaN
    std::int64_t tokens = 4000;
    std::int32_t changedToken = -1; ///< position whose id differs: cannot be compared then
    std::int32_t changedTo = -1;    ///< to this id; -1 = to the next one
    std::vector<std::pair<std::string, std::string>> settings;
    std::int32_t vocab = 64;
    std::int64_t stride = 32;
};

/// Writes it as <folder>/<name>.h5 and returns the path.
QString write(const QString& folder, const MadeTrace& made);

/// The session that most tests open: "base" and the runs "early" (5 flips in window 2), "late" (8 in window 5, 1 in
/// window 7, a NaN row in window 0), "same" (bit-identical). Baseline first.
QStringList writeUsual(const QString& folder);

/// Positions of the first `count` probes of window `window` (512 tokens).
std::vector<std::int64_t> inWindow(std::int64_t window, std::int64_t count);

/// Waits until nothing is opened or computed any more.
bool idle(const Session& session, int timeout = 20000);

/// Fails the test if Qt warned about something nobody expects.
#define VERIFY_NO_WARNINGS()                                                                                           \
    do {                                                                                                               \
        const QStringList seen = flipscope::test::takeWarnings();                                                      \
        QVERIFY2(seen.isEmpty(), qPrintable(seen.join(QLatin1Char('\n'))));                                            \
    } while (false)

/// As QTEST_MAIN, with isolate() first.
#define FLIPSCOPE_GUI_TEST(Class)                                                                                      \
    int main(int argc, char** argv)                                                                                    \
    {                                                                                                                  \
        flipscope::test::isolate();                                                                                    \
        QApplication app(argc, argv);                                                                                  \
        Class test;                                                                                                    \
        QTest::qInit(&test, argc, argv);                                                                               \
        flipscope::test::collectWarnings(); /* on top of QTest's own handler */                                        \
        const int result = QTest::qRun();                                                                              \
        QTest::qCleanup();                                                                                             \
        return result;                                                                                                 \
    }

} // namespace flipscope::test
