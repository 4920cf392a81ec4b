// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/run_window.h"

#include "ui/charts/chart_style.h"
#include "ui/window/display_check.h"
#include "ui/window/main_window.h"
#include "ui/window/preferences.h"
#include "ui/window/theme.h"

#include <QApplication>

#include <cstdio>

namespace flipscope {

int run_window(int& argc, char** argv, const WindowRequest& request)
{
    if (const QString problem = displayProblem(); !problem.isEmpty()) {
        std::fprintf(stderr, "flipscope: %s\n", problem.toLocal8Bit().constData());
        return 1;
    }
    const QApplication app(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("flipscope"));
    QCoreApplication::setApplicationName(QStringLiteral("flipscope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(FLIPSCOPE_VERSION));
    QGuiApplication::setDesktopFileName(QStringLiteral("flipscope"));
    QLocale::setDefault(QLocale(QLocale::English)); // numbers on the screen look like those in files
    loadExportFonts();
    applyTheme(storedTheme());
    preferences::applyEngine();
    preferences::applyLimits();

    MainWindow window;
    QStringList files;
    for (const std::string& file : request.files)
        files.append(QString::fromLocal8Bit(file.data(), static_cast<qsizetype>(file.size())));
    window.show();
    if (files.isEmpty() && request.baseline.empty())
        window.openLastSession();
    window.openFiles(files,
                     QString::fromLocal8Bit(request.baseline.data(), static_cast<qsizetype>(request.baseline.size())));
    return QApplication::exec();
}

} // namespace flipscope
