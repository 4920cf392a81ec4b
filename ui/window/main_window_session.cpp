// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions as files, several windows, notes.
#include "ui/session/session_file.h"
#include "ui/views/notes_panel.h"
#include "ui/window/locate_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/page_stack.h"

#include <QAction>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <QStandardPaths>
#include <QStatusBar>

namespace flipscope {

namespace {

const QString restoreKey = QStringLiteral("session/restoreAtStart");
const QString folderKey = QStringLiteral("session/folder");

/// Where the session of the last time waits.
QString lastSessionPath()
{
    return QDir(QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation))
        .filePath(QStringLiteral("last.flipscope"));
}

QString startFolder()
{
    const QString stored = QSettings().value(folderKey).toString();
    return QFileInfo(stored).isDir() ? stored : QDir::homePath();
}

} // namespace

bool isSessionFile(const QString& path)
{
    // A damaged one is known by its name, so that what is said is about sessions.
    return is_session(path.toStdString()) || (path.endsWith(QLatin1String(".flipscope")) && QFileInfo(path).isFile());
}

void MainWindow::makeSessionMenu(QMenu* file)
{
    const auto add = [&](const QString& text, const QString& name, const QKeySequence& shortcut, const QString& help,
                         auto slot) {
        QAction* action = file->addAction(text);
        action->setObjectName(name);
        action->setToolTip(help);
        action->setShortcut(shortcut);
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    add(tr("&New window"), QStringLiteral("newWindow"), QKeySequence::New, tr("Another window, with traces of its own"),
        [this] { newWindow(); });
    m_saveSession = add(tr("&Save session"), QStringLiteral("saveSession"), QKeySequence::Save,
                        tr("Which traces are open, how they are shown, what is selected, and all notes"), [this] {
                            if (m_sessionPath.isEmpty())
                                saveSessionAs();
                            else
                                saveSessionTo(m_sessionPath);
                        });
    m_saveSessionAs = add(tr("Save session &as …"), QStringLiteral("saveSessionAs"), Qt::CTRL | Qt::SHIFT | Qt::Key_S,
                          tr("The same under another name"), [this] { saveSessionAs(); });
    QAction* restore = file->addAction(tr("Restore at s&tart"));
    restore->setObjectName(QStringLiteral("restoreAtStart"));
    restore->setToolTip(tr("The next start opens what is open when the program ends"));
    restore->setCheckable(true);
    restore->setChecked(QSettings().value(restoreKey, false).toBool());
    connect(restore, &QAction::toggled, this, [](bool on) { QSettings().setValue(restoreKey, on); });

    m_opener = new SessionOpener(m_session, this);
    connect(m_opener, &SessionOpener::failed, this, &MainWindow::tellProblem);
    connect(m_opener, &SessionOpener::missing, this, [this] {
        auto* dialog = new LocateDialog(m_opener, this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
    connect(m_opener, &SessionOpener::started, this, [this](const QString& path, const QString& page) {
        m_sessionPath = path == lastSessionPath() ? QString() : path;
        if (!page.isEmpty())
            m_pages->showPage(page);
        if (!m_sessionPath.isEmpty())
            recent::remember({m_sessionPath});
    });
}

void MainWindow::makeNotes()
{
    m_notes = new NotesPanel(m_session);
    QDockWidget* dock = addDock(tr("Notes"), QStringLiteral("notesDock"), m_notes, Qt::BottomDockWidgetArea);
    dock->hide();
    connect(m_notes, &NotesPanel::added, dock, [dock] {
        dock->show();
        dock->raise();
    });
}

void MainWindow::openSession(const QString& path)
{
    m_opener->open(path);
}

void MainWindow::openLastSession()
{
    if (QSettings().value(restoreKey, false).toBool() && QFileInfo::exists(lastSessionPath()))
        m_opener->open(lastSessionPath());
}

void MainWindow::keepLastSession() const
{
    if (!QSettings().value(restoreKey, false).toBool())
        return;
    const QString path = lastSessionPath();
    if (m_session->baseline() == nullptr) {
        QFile::remove(path);
        return;
    }
    QDir().mkpath(QFileInfo(path).absolutePath());
    // Nobody is there any more to be told that it failed; the next start is an empty one then.
    (void)flipscope::saveSession(*m_session, m_pages->current(), path);
}

void MainWindow::saveSessionAs()
{
    const QString start =
        m_sessionPath.isEmpty() ? QDir(startFolder()).filePath(QStringLiteral("session.flipscope")) : m_sessionPath;
    auto* dialog = new QFileDialog(this, tr("Save session"), start, tr("Flipscope sessions (*.flipscope)"));
    dialog->setObjectName(QStringLiteral("saveSessionDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("flipscope"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        QSettings().setValue(folderKey, QFileInfo(path).absolutePath());
        saveSessionTo(path);
    });
    dialog->open();
}

void MainWindow::saveSessionTo(const QString& path)
{
    if (const auto saved = flipscope::saveSession(*m_session, m_pages->current(), path); !saved) {
        tellProblem(saved.error());
        return;
    }
    m_sessionPath = QFileInfo(path).absoluteFilePath();
    recent::remember({m_sessionPath});
    statusBar()->showMessage(tr("Saved: %1").arg(m_sessionPath), 6000);
}

MainWindow* MainWindow::newWindow()
{
    auto* window = new MainWindow;
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->move(pos() + QPoint(40, 40));
    window->show();
    return window;
}

} // namespace flipscope
