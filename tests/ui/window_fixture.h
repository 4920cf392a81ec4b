// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/ui/ui_fixture.h"

#include "ui/charts/heatmap_view.h"
#include "ui/charts/window_chart.h"
#include "ui/window/heatmap_panel.h"
#include "ui/window/main_window.h"
#include "ui/window/recent_files.h"
#include "ui/window/runs_panel.h"
#include "ui/window/theme.h"

#include <QAction>

#include <memory>

namespace flipscope::test {

/// What the tests of the whole window share: a new window for each test, over the usual files in a folder of its own.
class WindowFixture : public QObject {
protected:
    std::unique_ptr<QTemporaryDir> m_folder;
    QStringList m_files;
    std::unique_ptr<MainWindow> m_window;

    Session& session() { return *m_window->session(); }
    HeatmapView* heatmap() { return m_window->heatmapPanel()->heatmap(); }
    WindowChart* chart() { return m_window->heatmapPanel()->chart(); }
    RunsView* runs() { return m_window->runsPanel()->view(); }
    QAction* action(const char* name) { return m_window->findChild<QAction*>(QLatin1String(name)); }
    template <class T>
    T* child(const char* name)
    {
        return m_window->findChild<T*>(QLatin1String(name));
    }
    const SessionRun* run(const char* name)
    {
        for (const SessionRun& run : session().runs())
            if (run.name == QLatin1String(name))
                return &run;
        return nullptr;
    }
    QRect cell(int row, int column) const
    {
        const QModelIndex index = m_window->runsPanel()->model()->index(row, column);
        return m_window->runsPanel()->view()->visualRect(index);
    }
    void clickCell(int row, int column)
    {
        QTest::mouseClick(runs()->viewport(), Qt::LeftButton, {}, cell(row, column).center());
    }
    void makeWindow()
    {
        m_window = std::make_unique<MainWindow>();
        m_window->resize(1440, 900);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }
    void openUsual()
    {
        m_window->openFiles(m_files);
        QVERIFY(idle(session()));
        QCOMPARE(session().runs().size(), m_files.size());
        QCoreApplication::processEvents();
    }
    void setUp()
    {
        qunsetenv("FLIPSCOPE_ENGINE");
        recent::clear();
        storeTheme(ThemeChoice::Light);
        applyTheme(ThemeChoice::Light);
        m_folder = std::make_unique<QTemporaryDir>();
        m_files = writeUsual(m_folder->path());
        makeWindow();
    }
    void tearDown()
    {
        m_window.reset();
        VERIFY_NO_WARNINGS();
    }
};

} // namespace flipscope::test
