// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Figures that leave the window: exported, printed, copied.
#include "ui/print/ask_printer.h"
#include "ui/window/drawn_figures.h"
#include "ui/window/export_dialog.h"
#include "ui/window/figures.h"
#include "ui/window/main_window.h"
#include "ui/window/page_stack.h"

#include <QStatusBar>

namespace flipscope {

bool MainWindow::comparisonShown() const
{
    return m_pages->current() == QLatin1String("comparePage") &&
           whyNoFigure(*m_session, DrawnFigure::Compare).isEmpty();
}

/// What is looked at is what a person means.
Result<FigureSpec> MainWindow::shownFigure() const
{
    if (comparisonShown())
        return figureOf(*m_session, DrawnFigure::Compare);
    return figureOf(*m_session, FigureSpec::Chart::Heatmap);
}

void MainWindow::exportFigure()
{
    auto* dialog = new ExportDialog(m_session, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &ExportDialog::exported, this,
            [this](const QString& path) { statusBar()->showMessage(tr("Written: %1").arg(path), 6000); });
    if (comparisonShown())
        dialog->choose(nameOf(DrawnFigure::Compare));
    dialog->open();
}

void MainWindow::printFigure()
{
    auto figure = shownFigure();
    if (!figure) {
        tellProblem(figure.error());
        return;
    }
    askPrinter(this, windowTitle(),
               [spec = std::move(*figure)](QPagedPaintDevice& page) { flipscope::printFigure(spec, page); });
}

void MainWindow::copyFigure()
{
    auto figure = shownFigure();
    const Result<void> copied =
        figure ? flipscope::copyFigure(std::move(*figure)) : Result<void>(tl::unexpected(figure.error()));
    if (!copied)
        tellProblem(copied.error());
    else
        statusBar()->showMessage(
            comparisonShown() ? tr("The comparison is on the clipboard") : tr("The heatmap is on the clipboard"), 4000);
}

} // namespace flipscope
