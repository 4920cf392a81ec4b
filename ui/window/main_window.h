// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"
#include "ui/window/recent_files.h"

#include <QMainWindow>

class QAction;
class QActionGroup;
class QStackedWidget;
class QTableView;

namespace flipscope {

struct FigureSpec;

class BannerBar;
class CaptureDialog;
class HeatmapModel;
class HeatmapPanel;
class JobIndicator;
class NotesPanel;
class PageStack;
class RunsPanel;
class SessionOpener;
class StartPage;

/// The window: one session, the views over it, and the menus.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    Session* session() const { return m_session; }
    HeatmapPanel* heatmapPanel() const { return m_heatmap; }
    PageStack* pages() const { return m_pages; }
    RunsPanel* runsPanel() const { return m_runs; }
    BannerBar* bannerBar() const { return m_banners; }
    QTableView* heatmapTable(); ///< filled by now

    /// Traces, folders, or a session file (which takes the place of what is open).
    void openFiles(const QStringList& paths, const QString& baseline = {});
    SessionOpener* sessionOpener() const { return m_opener; }
    const QString& sessionPath() const { return m_sessionPath; } ///< file of the session; empty = never saved
    void openSession(const QString& path);
    void openLastSession(); ///< that of the last time, where a person wants it back
    MainWindow* newWindow();
    void saveSessionTo(const QString& path);

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    // main_window.cpp
    void makeCentre();
    void makeDocks();
    QDockWidget* addDock(const QString& title, const QString& name, QWidget* widget, Qt::DockWidgetArea area);
    void makeStatusBar();
    void restoreLayout();
    void arrangeDocks();
    void saveLayout() const;
    void runsChanged();
    void showEmpty(bool empty);
    void rememberFiles();
    void tellProblem(const Error& error);

    // main_window_session.cpp
    void makeSessionMenu(QMenu* file);
    void makeNotes();
    void saveSessionAs();
    void keepLastSession() const;

    // main_window_figures.cpp
    bool comparisonShown() const;
    Result<FigureSpec> shownFigure() const;
    void exportFigure();
    void exportNumbers();
    void printFigure();
    void copyFigure();

    // main_window_tools.cpp
    void showCommands();
    void showPreferences();
    void showCapture();
    bool captures() const; ///< a capture of this window is running
    void askToStopCapture();
    void showManualOfView();
    QString pageOfManual() const;
    void resetLayout();
    void copyMarkdown();

    // main_window_reading.cpp
    void makePrintouts();
    void askHints(int run, const QString& path, const OpenHints& hints, const QString& why);

    // heatmap as a table
    void makeTable();
    void fillTable();
    void fillNow();
    void tableChosen(const QModelIndex& current);
    void tableFollows();
    void tableShown();

    // main_window_menus.cpp
    void makeMenus();
    void makeFileMenu();
    void makeViewMenu();
    void makeGoMenu();
    void goToBrokenCall();
    void makeHelpMenu();
    void fillRecent();
    void fillViewMenus();
    void updateActions();
    void chooseFiles();
    void chooseFolder();
    void openSample();
    void openSet(const QStringList& paths); ///< instead of what is open
    void otherWindowSize();

    Session* m_session;
    QStackedWidget* m_centre = nullptr; ///< start page, or pages
    PageStack* m_pages = nullptr;
    StartPage* m_start = nullptr;
    BannerBar* m_banners = nullptr;
    HeatmapPanel* m_heatmap = nullptr;
    RunsPanel* m_runs = nullptr;
    NotesPanel* m_notes = nullptr;
    JobIndicator* m_job = nullptr;
    CaptureDialog* m_capture = nullptr; ///< made when it is first wanted; it keeps what was filled in
    SessionOpener* m_opener = nullptr;
    QString m_sessionPath;
    QByteArray m_firstLayout; ///< of the docks, before anybody moved them
    HeatmapModel* m_tableModel = nullptr;
    QTableView* m_table = nullptr;
    bool m_tableStale = false; ///< nobody has looked at it since something changed
    QVector<QDockWidget*> m_docks;
    QVector<QDockWidget*> m_docksShown; ///< while the start page hides them all
    bool m_empty = false;
    bool m_arranged = false; ///< docks have their sizes: from the last time, or the first ones
    bool m_tableFollowing = false;
    RecentEntry m_remembered;

    QMenu *m_recentMenu = nullptr, *m_byMenu = nullptr, *m_windowMenu = nullptr, *m_metricMenu = nullptr,
          *m_scaleMenu = nullptr, *m_docksMenu = nullptr;
    QAction *m_sample = nullptr, *m_reload = nullptr, *m_verify = nullptr, *m_exportFigure = nullptr,
            *m_exportNumbers = nullptr, *m_copyFigure = nullptr, *m_print = nullptr, *m_closeAll = nullptr,
            *m_up = nullptr, *m_down = nullptr, *m_back = nullptr, *m_forward = nullptr, *m_stop = nullptr,
            *m_saveSession = nullptr, *m_saveSessionAs = nullptr, *m_bookmark = nullptr, *m_copyMarkdown = nullptr;
};

/// Whether a file is a session, not a trace: by its content, or by its name where that is damaged.
bool isSessionFile(const QString& path);

} // namespace flipscope
