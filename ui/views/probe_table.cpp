// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/probe_table.h"

#include "core/report/report.h"
#include "ui/models/number_text.h"
#include "ui/models/probe_table_model.h"
#include "ui/views/selection.h"

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace flipscope {

ProbeTable::ProbeTable(Session* session, QWidget* parent)
    : QWidget(parent), m_session(session), m_model(new ProbeTableModel(this)), m_filter(new QLineEdit),
      m_windowOnly(new QCheckBox(tr("This &window only"))), m_columns(new QToolButton), m_csv(new QToolButton),
      m_count(new QLabel), m_message(new QLabel), m_view(new QTableView)
{
    buildControls();
    m_view->setModel(m_model);
    buildColumnMenu();
    sizeColumns();

    m_follow.setSingleShot(true);
    m_follow.setInterval(120);
    connect(&m_follow, &QTimer::timeout, this, [this] { goToCurrent(false); });
    connect(m_filter, &QLineEdit::textChanged, this, &ProbeTable::applyFilter);
    connect(m_windowOnly, &QCheckBox::clicked, this, [this](bool on) {
        m_wantWindow = on;
        applyPlace();
    });
    connect(m_csv, &QToolButton::clicked, this, &ProbeTable::chooseCsv);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (!m_following && now.isValid())
            m_follow.start();
    });
    connect(m_view, &QTableView::clicked, this, [this] { goToCurrent(false); });
    connect(m_view, &QTableView::doubleClicked, this, [this] { goToCurrent(true); });
    connect(m_session, &Session::runsChanged, this, &ProbeTable::follow);
    connect(m_session, &Session::viewChanged, this, [this] {
        if (!waits())
            applyPlace();
    });
    connect(m_session, &Session::rangeChanged, this, [this] {
        if (!waits())
            applyPlace();
    });
    connect(&m_session->path(), &DrilldownPath::changed, this, &ProbeTable::follow);
    reloadTable();
}

void ProbeTable::buildControls()
{
    m_filter->setObjectName(QStringLiteral("probeFilter"));
    m_filter->setPlaceholderText(tr("Filter: flip   kl_pq>0.1   8k-16k   \"text\""));
    m_filter->setToolTip(ProbeFilter::help());
    m_filter->setAccessibleName(tr("Filter of the probe table"));
    m_filter->setAccessibleDescription(ProbeFilter::help());
    m_filter->setClearButtonEnabled(true);
    m_windowOnly->setObjectName(QStringLiteral("windowOnly"));
    m_windowOnly->setToolTip(tr("Only probes in the selected window of the heatmap"));
    m_columns->setText(tr("Columns"));
    m_columns->setObjectName(QStringLiteral("columnMenu"));
    m_columns->setToolTip(tr("Choose the columns shown"));
    m_columns->setPopupMode(QToolButton::InstantPopup);
    m_columns->setFocusPolicy(Qt::TabFocus);
    m_csv->setText(tr("CSV…"));
    m_csv->setObjectName(QStringLiteral("csv"));
    m_csv->setToolTip(tr("Write the rows shown to a CSV file: all columns, every digit"));
    m_csv->setAccessibleName(tr("Export the probes shown as CSV"));
    m_csv->setFocusPolicy(Qt::TabFocus);
    m_count->setObjectName(QStringLiteral("count"));
    m_message->setObjectName(QStringLiteral("message"));
    m_message->setWordWrap(true);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_message->setFocusPolicy(Qt::NoFocus);

    m_view->setObjectName(QStringLiteral("probeView"));
    m_view->setAccessibleName(tr("Probes, worst first"));
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setWordWrap(false);
    m_view->setAlternatingRowColors(true);
    m_view->setShowGrid(false);
    m_view->setTabKeyNavigation(false);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_view->horizontalHeader()->setSectionsMovable(true);
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->installEventFilter(this);

    auto* bar = new QHBoxLayout;
    bar->addWidget(m_filter, 1);
    bar->addWidget(m_windowOnly);
    bar->addWidget(m_count);
    bar->addWidget(m_columns);
    bar->addWidget(m_csv);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->addLayout(bar);
    layout->addWidget(m_message);
    layout->addWidget(m_view, 1);
    setFocusProxy(m_view);
}

void ProbeTable::buildColumnMenu()
{
    auto* menu = new QMenu(m_columns);
    menu->setToolTipsVisible(true);
    const auto& columns = ProbeTableModel::columns();
    for (int i = 0; i < columns.size(); ++i) {
        m_view->setColumnHidden(i, !columns[i].shownByDefault);
        QAction* action = menu->addAction(columns[i].unit.isEmpty()
                                              ? columns[i].title
                                              : QStringLiteral("%1 (%2)").arg(columns[i].title, columns[i].unit));
        action->setObjectName(columns[i].name);
        action->setToolTip(columns[i].description);
        action->setCheckable(true);
        action->setChecked(columns[i].shownByDefault);
        action->setEnabled(i > 0); // a row without its position says nothing
        connect(action, &QAction::toggled, this, [this, i](bool on) { m_view->setColumnHidden(i, !on); });
    }
    m_columns->setMenu(menu);
    auto* header = m_view->horizontalHeader();
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(header, &QHeaderView::customContextMenuRequested, menu,
            [menu, header](const QPoint& at) { menu->popup(header->mapToGlobal(at)); });
    // Turning sorting on sorts by what the header shows, so that comes first.
    m_view->horizontalHeader()->setSortIndicator(m_model->sortColumn(), Qt::DescendingOrder);
    m_view->setSortingEnabled(true);
}

void ProbeTable::sizeColumns()
{
    // By a typical text, never by looking at every row.
    const QFontMetrics metrics(m_view->font());
    const int number = metrics.horizontalAdvance(QStringLiteral("-1.234e-05")) + 16;
    const int token = metrics.horizontalAdvance(QStringLiteral("mmmmmmmmm")) + 16;
    const auto& columns = ProbeTableModel::columns();
    for (int i = 0; i < columns.size(); ++i) {
        const int wanted = columns[i].metric ? number : token;
        int title = 0;
        for (const QString& line : m_model->headerData(i, Qt::Horizontal).toString().split(QLatin1Char('\n')))
            title = std::max(title, metrics.horizontalAdvance(line));
        const bool mark = columns[i].metric && columns[i].metric->kind == ProbeColumn::Kind::Boolean;
        m_view->setColumnWidth(i, std::max(mark ? 0 : wanted, title + metrics.height() + 16)); // room for the arrow
    }
    m_view->verticalHeader()->setDefaultSectionSize(metrics.height() + 6);
}

void ProbeTable::say(const QString& text, bool isError)
{
    m_message->setText(text);
    m_message->setVisible(!text.isEmpty());
    m_message->setAccessibleName(isError ? tr("Filter error: %1").arg(text) : text);
}

bool ProbeTable::waits()
{
    // A dock behind another tab is visible for Qt, at a place that nobody sees.
    m_stale = m_stale || (visibleRegion().isEmpty() && window()->isVisible());
    return m_stale;
}

void ProbeTable::follow()
{
    if (!waits())
        reloadTable();
}

void ProbeTable::catchUp()
{
    if (std::exchange(m_stale, false))
        reloadTable();
}

void ProbeTable::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    catchUp();
}

void ProbeTable::paintEvent(QPaintEvent* event)
{
    catchUp(); // it may have been squeezed to nothing, and was not told that it is seen; its parts are painted after it
    QWidget::paintEvent(event);
}

QTableView* ProbeTable::view()
{
    catchUp();
    return m_view;
}

ProbeTableModel* ProbeTable::model()
{
    catchUp();
    return m_model;
}

void ProbeTable::reloadTable()
{
    const SessionRun* run = shownRun(*m_session);
    const SessionRun* base = m_session->baseline();
    const TablePtr table = run ? run->table : nullptr;
    m_shownRun = run ? run->id : -1;
    const TracePtr trace = base ? base->trace : nullptr;
    if (table != m_shown || trace != m_trace) {
        m_following = true;
        m_shown = table;
        m_trace = trace;
        m_model->setTable(table, HistoryText(trace, &m_session->texts()));
        m_following = false;
    } else {
        m_model->refreshTexts(); // names, colours or other files: the rows stay where they are
    }
    applyPlace();
}

void ProbeTable::applyFilter()
{
    const auto filter = ProbeFilter::parse(m_filter->text());
    m_filterError = filter ? QString() : filter.error();
    m_following = true;
    if (filter)
        m_model->setFilter(*filter); // a wrong line leaves the rows as they were, and says so
    m_following = false;
    applyPlace();
}

void ProbeTable::applyPlace()
{
    m_following = true;
    const Place& place = m_session->path().place();
    // Choosing a window narrows the table down to it. Choosing a probe, here or elsewhere, does not: the other rows of
    // a list must not go away because one of them was clicked.
    const bool inWindow = place.windowStart >= 0;
    m_windowOnly->setEnabled(inWindow);
    if (!inWindow)
        m_windowOnly->setChecked(false);
    else if (place.probe < 0 && place.token < 0)
        m_windowOnly->setChecked(m_wantWindow);
    TokenRange shown = m_session->range();
    if (m_windowOnly->isChecked()) {
        const TokenRange column = m_session->columnProbes(place.windowStart);
        shown = shown.all() ? column : TokenRange{std::max(shown.start, column.start), std::min(shown.end, column.end)};
    }
    if (shown.all())
        m_model->setWindow(std::nullopt);
    else
        m_model->setWindow(std::pair<qint64, qint64>(shown.start, std::max(shown.start, shown.end)));
    const int row = place.probe >= 0 ? m_model->rowOf(place.probe) : -1;
    if (row >= 0) {
        const QModelIndex current = m_view->currentIndex();
        if (current.row() != row || !m_view->selectionModel()->isRowSelected(row)) {
            const int column = current.isValid() ? current.column() : 0;
            m_view->setCurrentIndex(m_model->index(row, column));
            m_view->scrollTo(m_model->index(row, column));
        }
    } else {
        m_view->clearSelection();
    }
    m_following = false;
    m_follow.stop();
    updateCount();
}

void ProbeTable::updateCount()
{
    const int all = m_model->probeCount(), shown = m_model->rowCount();
    m_count->setText(shown == all ? tr("%1 probes").arg(groupedText(all))
                                  : tr("%1 of %2 probes").arg(groupedText(shown), groupedText(all)));
    m_csv->setEnabled(m_shown != nullptr);
    const QString why = whyNoTable(*m_session);
    if (!why.isEmpty())
        say(why, false);
    else if (!m_filterError.isEmpty())
        say(m_filterError, true);
    else if (shown == 0 && all > 0)
        say(m_windowOnly->isChecked() ? tr("No probe of this window passes the filter.")
                                      : tr("No probe passes the filter."),
            false);
    else if (m_shown && m_shown->alignment.top_k)
        say(tr("Top-k lists: KL, JS and TV are lower bounds."), false);
    else
        say({}, false);
}

void ProbeTable::goToCurrent(bool token)
{
    m_follow.stop();
    const QModelIndex current = m_view->currentIndex();
    if (!current.isValid() || m_shownRun < 0)
        return;
    const qint64 position = m_model->probe(current.row()).position;
    Place place = placeAt(*m_session, m_shownRun, position, token ? position + 1 : -1);
    const Place& now = m_session->path().place();
    if (!token && now.run == place.run && now.probe == position)
        return; // already there, maybe deeper
    m_session->path().go(place);
}

bool ProbeTable::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_view || (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride))
        return QWidget::eventFilter(watched, event);
    auto* key = static_cast<QKeyEvent*>(event);
    const bool isCopy = key->matches(QKeySequence::Copy);
    if (event->type() == QEvent::ShortcutOverride) {
        // Here Ctrl+C is this table's, whatever it means in the window.
        if (isCopy)
            event->accept();
        return isCopy;
    }
    if (isCopy) {
        copy();
        return true;
    }
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
        goToCurrent(true);
        return true;
    }
    if (key->key() == Qt::Key_Backspace) {
        m_session->path().up();
        return true;
    }
    return false;
}

void ProbeTable::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        sizeColumns();
}

QString ProbeTable::copyText() const
{
    QVector<int> rows, columns;
    for (const QModelIndex& row : m_view->selectionModel()->selectedRows())
        rows << row.row();
    std::sort(rows.begin(), rows.end());
    for (int i = 0; rows.isEmpty() && i < m_model->rowCount(); ++i)
        rows << i;
    const QHeaderView* header = m_view->horizontalHeader();
    for (int visual = 0; visual < header->count(); ++visual) {
        const int logical = header->logicalIndex(visual);
        if (!header->isSectionHidden(logical))
            columns << logical;
    }
    return m_model->tsv(rows, columns);
}

void ProbeTable::copy() const
{
    QGuiApplication::clipboard()->setText(copyText());
}

Result<void> ProbeTable::writeCsv(const QString& path) const
{
    const SessionRun* run = m_session->run(m_shownRun);
    if (!run || !m_shown)
        return fail(ErrorKind::Usage, "There are no probes to write: choose a run that could be compared.");
    if (auto ok = m_session->checkOutput(path); !ok)
        return ok;
    Analysis analysis;
    analysis.window_tokens = m_session->windowTokens();
    if (const SessionRun* base = m_session->baseline())
        analysis.baseline = base->trace;
    RunAnalysis one;
    one.name = run->name.toStdString();
    one.trace = run->trace;
    one.table = m_model->shownTable();
    analysis.runs.push_back(std::move(one));
    return write_text(path.toStdString(), probes_csv(analysis));
}

void ProbeTable::chooseCsv()
{
    const SessionRun* run = m_session->run(m_shownRun);
    if (!run)
        return;
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Export the probes shown as CSV"),
                                     run->name + QStringLiteral("-probes.csv"), tr("Comma-separated values (*.csv)"));
    if (path.isEmpty())
        return;
    if (const auto written = writeCsv(path); !written)
        say(QString::fromStdString(written.error().message), true);
}

} // namespace flipscope
