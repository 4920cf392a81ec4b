// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What is said where no window can be opened.
#include "ui/window/display_check.h"

#include <QFile>
#include <QProcess>
#include <QtTest>

using namespace flipscope;

class TestDisplay : public QObject {
    Q_OBJECT
private slots:
    void case_69_packages_of_libraries()
    {
        QCOMPARE(packageOfLibrary(QStringLiteral("libxcb-cursor.so.0")), QStringLiteral("libxcb-cursor0"));
        QCOMPARE(packageOfLibrary(QStringLiteral("libxkbcommon-x11.so.0")), QStringLiteral("libxkbcommon-x11-0"));
        QCOMPARE(packageOfLibrary(QStringLiteral("libX11-xcb.so.1")), QStringLiteral("libx11-xcb1"));
    }

    void case_69_no_display_is_said_plainly()
    {
        const QString program = QStringLiteral(FLIPSCOPE_BIN "/flipscope");
        if (!QFile::exists(program))
            QSKIP("the program is not built");
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QLatin1String(name));
        process.setProcessEnvironment(environment);
        process.start(program, {QStringLiteral("any.h5")}); // asked before any file is
        QVERIFY(process.waitForFinished(20000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 1);
        const QByteArray said = process.readAllStandardError();
        QVERIFY2(said.contains("no display"), said.constData());
        QVERIFY2(!said.contains("qt.qpa"), said.constData());
    }

    void a_platform_that_is_not_there_is_said_plainly()
    {
        const QByteArray before = qgetenv("QT_QPA_PLATFORM");
        qputenv("QT_QPA_PLATFORM", "nosuch:size=1x1");
        const QString problem = displayProblem();
        qputenv("QT_QPA_PLATFORM", "nosuch;offscreen"); // Qt takes the first that works
        const QString second = displayProblem();
        qputenv("QT_QPA_PLATFORM", before);
        QVERIFY2(problem.contains(QStringLiteral("nosuch")) && problem.contains(QStringLiteral("offscreen")),
                 qPrintable(problem));
        QCOMPARE(second, QString());
    }
};

QTEST_GUILESS_MAIN(TestDisplay)
#include "tst_display.moc"
