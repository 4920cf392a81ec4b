// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/tool_calls_page.h"

#include "ui/models/tool_call_filter.h"
#include "ui/models/tool_call_model.h"
#include "ui/views/branch_view.h"
#include "ui/views/selection.h"
#include "ui/window/page.h"

#include <QAction>
#include <QCheckBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace flipscope {

PageKind toolCallsPage()
{
    return {
        QStringLiteral("toolCallsPage"), QCoreApplication::translate("flipscope::Pages", "Tool calls"),
        lineIcon([](QPainter& p) {
            p.drawPolyline(QPolygonF{{5, 2.5}, {2, 2.5}, {2, 13.5}, {5, 13.5}});
            p.drawPolyline(QPolygonF{{11, 2.5}, {14, 2.5}, {14, 13.5}, {11, 13.5}});
            p.drawLine(QPointF(5.5, 5.5), QPointF(10.5, 10.5));
            p.drawLine(QPointF(10.5, 5.5), QPointF(5.5, 10.5));
        }),
        [](Session* session, QWidget* parent) { return new ToolCallsPage(session, parent); },
        QCoreApplication::translate(
            "flipscope::Pages",
            "The baseline's tool calls and what became of each in every run: the same, another one, broken, or none")};
}

ToolCallsPage::ToolCallsPage(Session* session, QWidget* parent)
    : QWidget(parent), m_session(session), m_results(CallResults::of(session)), m_model(new ToolCallModel(this)),
      m_filter(new ToolCallFilter(m_model, this))
{
    makeHead();
    makeTable();
    m_branches = new BranchView;
    auto* content = new QSplitter(Qt::Vertical);
    content->setObjectName(QStringLiteral("toolCallsSplitter"));
    content->addWidget(m_table);
    content->addWidget(m_branches);
    content->setSizes({300, 340});
    content->setChildrenCollapsible(false);
    m_why = new QLabel;
    m_why->setObjectName(QStringLiteral("whyNoCalls"));
    m_why->setAlignment(Qt::AlignCenter);
    m_why->setWordWrap(true);
    m_why->setMargin(24);
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_why);
    m_stack->addWidget(content);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_head);
    layout->addWidget(m_stack, 1);
    // Shortcuts, since a table takes letters for a search in its cells.
    for (const bool backwards : {false, true}) {
        auto* key = new QShortcut(backwards ? Qt::Key_P : Qt::Key_N, this);
        key->setContext(Qt::WidgetWithChildrenShortcut);
        connect(key, &QShortcut::activated, this, [this, backwards] { nextBroken(backwards); });
    }
    connect(m_results, &CallResults::changed, this, [this] {
        m_stale = true;
        if (isVisible())
            refresh();
    });
}

void ToolCallsPage::makeHead()
{
    m_head = new QWidget;
    m_summary = new QTextBrowser;
    m_summary->setObjectName(QStringLiteral("toolCallsSummary"));
    m_summary->setAccessibleName(tr("Summary of each run"));
    m_summary->setFrameShape(QFrame::NoFrame);
    m_summary->setOpenLinks(false);
    connect(m_summary, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& link) { firstBrokenOf(link.path().toInt()); });
    m_brokenOnly = new QCheckBox(tr("&Broken only"));
    m_brokenOnly->setObjectName(QStringLiteral("brokenOnly"));
    m_brokenOnly->setToolTip(tr("Shows only calls that at least one run breaks"));
    connect(m_brokenOnly, &QCheckBox::toggled, this, [this](bool on) { m_filter->setBrokenOnly(on); });
    const auto button = [this](const QString& text, const QString& name, const QString& tip, bool backwards) {
        auto* made = new QToolButton;
        made->setText(text);
        made->setObjectName(name);
        made->setToolTip(tip);
        made->setAccessibleName(tip);
        made->setFocusPolicy(Qt::StrongFocus);
        connect(made, &QToolButton::clicked, this, [this, backwards] { nextBroken(backwards); });
        return made;
    };
    m_previous = button(QStringLiteral("◄ P"), QStringLiteral("previousBroken"), tr("Previous broken call (P)"), true);
    m_next = button(QStringLiteral("N ►"), QStringLiteral("nextBroken"), tr("Next broken call (N, or T from anywhere)"),
                    false);
    auto* tools = new QVBoxLayout;
    auto* steps = new QHBoxLayout;
    steps->addWidget(m_previous);
    steps->addWidget(m_next);
    tools->addWidget(m_brokenOnly);
    tools->addLayout(steps);
    tools->addStretch();
    auto* row = new QHBoxLayout(m_head);
    row->setContentsMargins(8, 4, 8, 4);
    row->addWidget(m_summary, 1);
    row->addLayout(tools);
}

void ToolCallsPage::makeTable()
{
    m_table = new QTableView;
    m_table->setObjectName(QStringLiteral("toolCallsTable"));
    m_table->setAccessibleName(tr("Tool calls of the baseline and what became of them in each run"));
    m_table->setModel(m_filter);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 6);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &ToolCallsPage::showCall);
    connect(m_table, &QTableView::activated, this, &ToolCallsPage::goToHistory);
}

void ToolCallsPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_stale)
        refresh();
}

void ToolCallsPage::refresh()
{
    m_stale = false;
    QVector<ToolCallModel::Run> runs;
    for (const RunCallResults& run : m_results->runs())
        runs.append({run.name, run.calls, run.problem});
    m_model->setCalls(m_results->baseline(), runs);
    QString why;
    if (!m_results->baseline())
        why = tr("Open a baseline and a run that carry continuations: what became of each tool call stands here.");
    else if (runs.isEmpty())
        why = tr("Open another trace to compare its tool calls with those of %1.").arg(m_session->baseline()->name);
    else if (m_model->rowCount() == 0)
        why = tr("There are no tool calls in continuations that both traces have. Record continuations from the points "
                 "before each assistant turn: flipscope-capture does so by default.");
    m_why->setText(why);
    m_stack->setCurrentIndex(why.isEmpty() ? 1 : 0);
    showSummary();
    if (!why.isEmpty())
        return;
    fitColumns();
    // The selection stays where a person left it until a call is asked for.
    if (!m_table->currentIndex().isValid())
        m_branches->clear(m_next->isEnabled() ? tr("Choose a call, or press N for the next broken one.")
                                              : tr("No call is broken. Choose one to see its text."));
}

/// All runs side by side as long as their outcomes can be read; the arguments make room first.
void ToolCallsPage::fitColumns()
{
    const int runs = m_model->columnCount() - ToolCallModel::FirstRun;
    int room = width() - m_table->style()->pixelMetric(QStyle::PM_ScrollBarExtent) - 4;
    for (const int column : {ToolCallModel::Number, ToolCallModel::Position, ToolCallModel::Tool}) {
        m_table->resizeColumnToContents(column);
        room -= m_table->columnWidth(column);
    }
    const int letter = m_table->fontMetrics().averageCharWidth();
    const int arguments = std::clamp(room - runs * 22 * letter, 20 * letter, 38 * letter);
    const int outcome = std::clamp((room - arguments) / std::max(runs, 1), 12 * letter, 22 * letter);
    m_table->setColumnWidth(ToolCallModel::Arguments, arguments);
    for (int column = ToolCallModel::FirstRun; column < m_model->columnCount(); ++column)
        m_table->setColumnWidth(column, outcome);
}

void ToolCallsPage::showSummary()
{
    QString html;
    const TraceCallsPtr& baseline = m_results->baseline();
    if (baseline)
        html += QStringLiteral("<p style='margin:2px 0'><b>%1</b>: %2</p>")
                    .arg(m_session->baseline()->name.toHtmlEscaped(),
                         baseline->dialect == nullptr
                             ? tr("no calls in a known dialect")
                             : tr("%1 calls in continuations, %2 in the forced history; dialect %3")
                                   .arg(baseline->calls())
                                   .arg(baseline->in_history.calls.size())
                                   .arg(QString::fromUtf8(baseline->dialect->name.data(),
                                                          static_cast<qsizetype>(baseline->dialect->name.size()))));
    for (const RunCallResults& run : m_results->runs()) {
        QString text = run.calls ? QString::fromStdString(run.calls->summary.text) : run.problem;
        if (run.calls)
            for (const Finding& finding : run.calls->findings)
                text += QStringLiteral(" · ") + QString::fromStdString(finding.text);
        text = text.toHtmlEscaped();
        const bool breaks = run.calls && std::ranges::any_of(run.calls->rows, &CallRow::broken);
        if (breaks)
            text += QStringLiteral(" · <a href='first:%1'>%2</a>").arg(run.id).arg(tr("first broken ►"));
        html += QStringLiteral("<p style='margin:2px 0'><b>%1</b>: %2</p>").arg(run.name.toHtmlEscaped(), text);
    }
    m_summary->setHtml(html);
    const int lines = 1 + static_cast<int>(m_results->runs().size());
    m_summary->setFixedHeight(std::min(6, std::max(2, lines)) * (m_summary->fontMetrics().height() + 4) + 8);
    const bool broken = m_model->nextBroken({}).isValid();
    m_previous->setEnabled(broken);
    m_next->setEnabled(broken);
}

void ToolCallsPage::goToCurrent()
{
    if (m_stale)
        refresh();
    if (m_table->currentIndex().isValid())
        showCall(m_table->currentIndex());
    else
        nextBroken();
}

void ToolCallsPage::firstBrokenOf(int run)
{
    for (std::size_t r = 0; r < m_results->runs().size(); ++r) {
        if (m_results->runs()[r].id != run)
            continue;
        for (int row = 0; row < m_model->rowCount(); ++row) {
            const QModelIndex cell = m_model->index(row, ToolCallModel::FirstRun + static_cast<int>(r));
            if (!cell.data(ToolCallModel::BrokenRole).toBool())
                continue;
            m_table->setCurrentIndex(m_filter->mapFromSource(cell));
            m_table->scrollTo(m_table->currentIndex());
            m_table->setFocus();
            return;
        }
    }
}

bool ToolCallsPage::nextBroken(bool backwards)
{
    if (m_stale)
        refresh();
    const QModelIndex from = m_filter->mapToSource(m_table->currentIndex());
    QModelIndex next = m_model->nextBroken(from, backwards);
    if (!next.isValid() && from.isValid())
        next = m_model->nextBroken({}, backwards); // round again
    if (!next.isValid())
        return false;
    m_table->setCurrentIndex(m_filter->mapFromSource(next));
    m_table->scrollTo(m_table->currentIndex());
    return true;
}

void ToolCallsPage::showCall(const QModelIndex& shown)
{
    QModelIndex index = m_filter->mapToSource(shown);
    if (index.isValid() && index.column() < ToolCallModel::FirstRun) // a whole row: its first run that broke, or any
        for (int column = ToolCallModel::FirstRun; column < m_model->columnCount(); ++column) {
            const QModelIndex cell = m_model->index(shown.isValid() ? index.row() : 0, column);
            const bool better = m_model->callAt(index) == nullptr || cell.data(ToolCallModel::BrokenRole).toBool();
            if (m_model->callAt(cell) != nullptr && better) {
                index = cell;
                if (cell.data(ToolCallModel::BrokenRole).toBool())
                    break;
            }
        }
    const CallRow* row = m_model->callAt(index);
    if (row == nullptr) {
        m_branches->clear(index.isValid() ? index.data(Qt::ToolTipRole).toString() : tr("Choose a call."));
        return;
    }
    const RunCallResults& run = m_results->runs()[static_cast<std::size_t>(index.column() - ToolCallModel::FirstRun)];
    m_branches->show(run.name, run.calls, static_cast<std::size_t>(index.data(ToolCallModel::RowRole).toInt()),
                     m_results->forced(run.id), &m_session->texts());
    m_session->path().go(placeAt(*m_session, run.id, -1, row->start_position));
}

void ToolCallsPage::goToHistory(const QModelIndex& shown)
{
    showCall(shown);
    if (auto* overview = window()->findChild<QAction*>(QStringLiteral("overviewPageAction")))
        overview->trigger();
}

} // namespace flipscope
