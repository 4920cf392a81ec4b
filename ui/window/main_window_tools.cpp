// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Commands, preferences, layout, copies, help.
#include "core/report/report.h"
#include "ui/capture/capture_dialog.h"
#include "ui/views/comparison_card.h"
#include "ui/window/command_palette.h"
#include "ui/window/compare_page.h"
#include "ui/window/figures.h"
#include "ui/window/help.h"
#include "ui/window/main_window.h"
#include "ui/window/manual.h"
#include "ui/window/page_stack.h"
#include "ui/window/preferences.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QStatusBar>

namespace flipscope {

namespace {

bool isInside(const QWidget* widget, const QWidget* ancestor)
{
    return widget != nullptr && ancestor != nullptr && (widget == ancestor || ancestor->isAncestorOf(widget));
}

} // namespace

/// The manual's page about the view that has the focus, else about the page of the centre.
QString MainWindow::pageOfManual() const
{
    if (m_empty)
        return QStringLiteral("first-steps.md");
    const QWidget* focus = QApplication::focusWidget();
    if (isInside(focus, findChild<QDockWidget*>(QStringLiteral("notesDock"))))
        return QStringLiteral("sessions.md");
    // toolCallsPage: tool-calls.md
    static const QRegularExpression capital(QStringLiteral("([A-Z])"));
    const QString page =
        m_pages->current().remove(QStringLiteral("Page")).replace(capital, QStringLiteral("-\\1")).toLower() +
        QStringLiteral(".md");
    const bool known = m_pages->isVisible() && QFileInfo::exists(manualFolder() + QLatin1Char('/') + page);
    return known ? page : QStringLiteral("window.md");
}

void MainWindow::showManualOfView()
{
    if (!showManualPage(this, pageOfManual()))
        showManual(this); // the pages are not installed: what the program itself knows
}

void MainWindow::showCommands()
{
    auto* commands = new CommandPalette(this);
    commands->setAttribute(Qt::WA_DeleteOnClose);
    commands->open();
}

void MainWindow::showPreferences()
{
    auto* dialog = new PreferencesDialog(m_session, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::showCapture()
{
    if (m_capture == nullptr)
        m_capture = new CaptureDialog(m_session, this);
    m_capture->show();
    m_capture->raise();
    m_capture->activateWindow();
}

bool MainWindow::captures() const
{
    return m_capture != nullptr && m_capture->job()->isRunning();
}

/// It may have run for hours: a window that is closed does not end it without a word, nor hold up others meanwhile.
void MainWindow::askToStopCapture()
{
    const QString name = QStringLiteral("captureRuns");
    if (findChild<QMessageBox*>(name, Qt::FindDirectChildrenOnly) != nullptr)
        return;
    auto* box =
        new QMessageBox(QMessageBox::Question, tr("Flipscope"),
                        tr("A capture is running. Stop it, and close this window?"), QMessageBox::NoButton, this);
    box->setObjectName(name);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(tr("What was captured stays in %1; the same capture goes on from there.")
                                .arg(QFileInfo(m_capture->job()->partial()).fileName()));
    auto* stop = box->addButton(tr("&Stop and close"), QMessageBox::DestructiveRole);
    stop->setObjectName(QStringLiteral("stopAndClose"));
    stop->setToolTip(tr("Closes the file in order, then the window"));
    QPushButton* goOn = box->addButton(tr("&Go on"), QMessageBox::RejectRole);
    goOn->setToolTip(tr("The window stays open, and the capture runs on"));
    box->setDefaultButton(goOn);
    box->setEscapeButton(goOn);
    connect(stop, &QAbstractButton::clicked, this, [this] {
        if (!captures()) { // it ended while the question was read
            close();
            return;
        }
        connect(m_capture->job(), &CaptureJob::ended, this, &QWidget::close,
                static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
        m_capture->job()->stop();
        statusBar()->showMessage(tr("Stopping: the file is being closed …"));
    });
    box->open();
}

void MainWindow::resetLayout()
{
    restoreState(m_firstLayout, 0);
    m_arranged = false;
    arrangeDocks();
    m_docksShown.clear();
    for (QDockWidget* dock : std::as_const(m_docks))
        if (!dock->isHidden())
            m_docksShown.append(dock);
    if (m_empty) // the start page has none
        for (QDockWidget* dock : std::as_const(m_docks))
            dock->hide();
}

void MainWindow::copyMarkdown()
{
    const auto* page = qobject_cast<ComparePage*>(m_pages->page(m_pages->current()));
    const QString text = page != nullptr && page->comparison() != nullptr
                             ? page->card()->markdown()
                             : QString::fromStdString(heatmap_markdown(m_session->heatmap()));
    QApplication::clipboard()->setText(text);
    statusBar()->showMessage(tr("The table is on the clipboard, as Markdown"), 4000);
}

} // namespace flipscope
