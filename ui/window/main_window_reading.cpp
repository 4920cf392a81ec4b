// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Files that do not say everything themselves, and printouts of other programs.
#include "ui/window/banner_bar.h"
#include "ui/window/main_window.h"
#include "ui/window/printouts_panel.h"
#include "ui/window/reading_dialog.h"
#include "ui/window/runs_panel.h"

#include <QDockWidget>

namespace flipscope {

void MainWindow::makePrintouts()
{
    auto* panel = new PrintoutsPanel(m_session);
    QDockWidget* dock = addDock(tr("Printouts"), QStringLiteral("printoutsDock"), panel, Qt::BottomDockWidgetArea);
    dock->hide();
    connect(m_session, &Session::printoutsChanged, dock, [this, dock, before = std::size_t{0}]() mutable {
        const std::size_t now = m_session->printouts().size();
        if (now > before) {
            dock->show();
            dock->raise();
        }
        before = now;
    });
    connect(
        m_session, &Session::hintsWanted, this,
        [this](const QString& path, const OpenHints& hints, const QString& why) { askHints(-1, path, hints, why); });
    connect(m_banners, &BannerBar::hintsRequested, this, [this](int id, const QString& path, const QString& why) {
        const SessionRun* run = m_session->run(id);
        askHints(id, path, run != nullptr ? run->hints : OpenHints{}, why);
    });
    connect(m_runs, &RunsPanel::hintsRequested, this, [this](int id) {
        if (const SessionRun* run = m_session->run(id))
            askHints(id, {}, run->hints, {});
    });
}

/// One dialog at a time: of several files that need one, the others keep their banners.
void MainWindow::askHints(int run, const QString& path, const OpenHints& hints, const QString& why)
{
    if (findChild<ReadingDialog*>() != nullptr)
        return;
    auto* dialog = new ReadingDialog(m_session, {run, path, why, hints}, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

} // namespace flipscope
