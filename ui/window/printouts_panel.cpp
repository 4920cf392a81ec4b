// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/printouts_panel.h"

#include "core/analysis/kld_card.h"
#include "ui/session/session.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <sstream>

namespace flipscope {

PrintoutsPanel::PrintoutsPanel(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    const auto button = [this](const QString& text, const char* name, const QString& help) {
        auto* made = new QToolButton(this);
        made->setText(text);
        made->setObjectName(QString::fromLatin1(name));
        made->setToolTip(help);
        made->setAutoRaise(true);
        return made;
    };
    auto* paste = button(tr("&Paste a printout"), "pastePrintout",
                         tr("Takes what llama-perplexity --kl-divergence printed from the clipboard"));
    m_remove = button(tr("&Remove"), "removePrintout", tr("Takes the printout of the chosen column off the card"));
    m_note = new QLabel(this);
    m_note->setObjectName(QStringLiteral("printoutsNote"));
    m_note->setWordWrap(true);
    m_table = new QTableWidget(this);
    m_table->setObjectName(QStringLiteral("printoutsTable"));
    m_table->setAccessibleName(tr("Statistics printed by llama-perplexity beside those computed here"));
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionMode(QAbstractItemView::ContiguousSelection);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 8);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(6, 2, 6, 0);
    buttons->addWidget(paste);
    buttons->addWidget(m_remove);
    buttons->addWidget(m_note, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(buttons);
    layout->addWidget(m_table, 1);
    connect(paste, &QToolButton::clicked, this, &PrintoutsPanel::paste);
    connect(m_remove, &QToolButton::clicked, this, &PrintoutsPanel::removeCurrent);
    connect(m_table, &QTableWidget::currentCellChanged, this, &PrintoutsPanel::updateButtons);
    connect(session, &Session::printoutsChanged, this, &PrintoutsPanel::refresh);
    connect(session, &Session::runsChanged, this, &PrintoutsPanel::refresh);
    refresh();
}

void PrintoutsPanel::paste()
{
    std::istringstream in(QApplication::clipboard()->text().toStdString());
    auto log = read_kld_log(in, std::filesystem::path());
    if (!log) {
        m_session->tell(Banner::Level::Error,
                        tr("The clipboard holds no printout of llama-perplexity --kl-divergence: copy its lines, with "
                           "the final block where there is one."));
        return;
    }
    log->name = tr("pasted %1").arg(++m_pasted).toStdString();
    m_session->addPrintout(std::move(*log));
}

void PrintoutsPanel::removeCurrent()
{
    m_session->removePrintout(chosen());
}

/// The printout of the current column; where there is one only, that one. -1 = none is meant: a run's column is.
int PrintoutsPanel::chosen() const
{
    const auto count = static_cast<int>(m_session->printouts().size());
    const int column = m_table->currentColumn();
    if (count == 1)
        return 0;
    return column < count ? column : -1;
}

void PrintoutsPanel::updateButtons()
{
    m_remove->setEnabled(chosen() >= 0);
}

void PrintoutsPanel::refresh()
{
    std::vector<const KldLog*> logs;
    std::vector<const MetricsTable*> tables;
    QStringList columns;
    for (const KldLog& log : m_session->printouts()) {
        logs.push_back(&log);
        columns << tr("printed: %1").arg(QString::fromStdString(log.name));
    }
    if (!logs.empty()) // without one there is nothing to stand beside
        for (const SessionRun* run : m_session->visibleRuns())
            if (run->table) {
                tables.push_back(run->table.get());
                columns << (run->table->alignment.top_k ? tr("%1 (lower bound)").arg(run->name) : run->name);
            }
    const auto lines = kld_card(logs, tables);
    // What was chosen stays chosen while runs are computed.
    const int row = m_table->currentRow(), column = m_table->currentColumn();
    m_table->clear();
    m_table->setColumnCount(static_cast<int>(columns.size()));
    m_table->setRowCount(static_cast<int>(lines.size()));
    m_table->setHorizontalHeaderLabels(columns);
    QStringList labels;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        labels << QString::fromStdString(lines[i].label);
        for (std::size_t c = 0; c < lines[i].cells.size(); ++c) {
            auto* item = new QTableWidgetItem(QString::fromStdString(lines[i].cells[c]));
            item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            m_table->setItem(static_cast<int>(i), static_cast<int>(c), item);
        }
    }
    m_table->setVerticalHeaderLabels(labels);
    m_table->resizeColumnsToContents();
    if (row >= 0 && row < m_table->rowCount() && column < m_table->columnCount())
        m_table->setCurrentCell(row, column);
    updateButtons();
    QString note = logs.empty() ? tr("Open or paste what llama-perplexity --kl-divergence printed.")
                                : tr("Printed: KL(base‖run) in nats over the second half of each chunk, without terms "
                                     "under -16; read-only. Runs: KL(P‖Q) as computed here, over all probes.");
    for (const KldLog* log : logs)
        for (const Finding& finding : log->findings)
            note +=
                QStringLiteral(" %1: %2").arg(QString::fromStdString(log->name), QString::fromStdString(finding.text));
    m_note->setText(note);
}

} // namespace flipscope
