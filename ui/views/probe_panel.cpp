// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/probe_panel.h"

#include "ui/models/number_text.h"
#include "ui/views/selection.h"
#include "ui/views/share_delegate.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHash>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QScrollArea>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace flipscope {

namespace {

constexpr int topCount = 10;

/// A label whose words wrap. A layout asks many times how high it is, and each time QLabel lays out its text anew.
class WrappedLabel final : public QLabel {
public:
    explicit WrappedLabel(const QString& text = {}) : QLabel(text) { setWordWrap(true); }

    int heightForWidth(int width) const override
    {
        if (text() != m_text || font() != m_font) {
            m_heights.clear();
            m_text = text();
            m_font = font();
        }
        const auto known = m_heights.constFind(width);
        return known != m_heights.constEnd() ? *known : *m_heights.insert(width, QLabel::heightForWidth(width));
    }

private:
    mutable QString m_text;
    mutable QFont m_font;
    mutable QHash<int, int> m_heights; ///< by width
};

} // namespace

ProbePanel::ProbePanel(Session* session, QWidget* parent)
    : QWidget(parent), m_session(session), m_top(new TopTokensModel(this)), m_terms(new KlTermsModel(this)),
      m_runs(new RunsAtPositionModel(this))
{
    build();
    connect(&m_reader, &DetailReader::answered, this, [this](int run, const auto& detail) { take(run, *detail); });
    connect(m_session, &Session::runsChanged, this, &ProbePanel::reload);
    connect(&m_session->path(), &DrilldownPath::changed, this, &ProbePanel::reload);
    reload();
}

QTableView* ProbePanel::makeTable(QAbstractItemModel* model, const QString& name, int stretchColumn, int secondStretch)
{
    auto* table = new QTableView;
    table->setModel(model);
    table->setItemDelegate(new ShareDelegate(table));
    table->setAccessibleName(name);
    table->verticalHeader()->hide();
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setTabKeyNavigation(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table->setFrameShape(QFrame::NoFrame);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setMinimumSectionSize(24);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    for (const int column : {stretchColumn, secondStretch}) {
        if (column >= 0)
            table->horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
    }
    table->installEventFilter(this);
    m_tables << table;
    return table;
}

QLabel* ProbePanel::makeTitle(const QString& text, QWidget* buddy)
{
    auto* label = new WrappedLabel(text);
    QFont font = label->font();
    font.setBold(true);
    label->setFont(font);
    label->setBuddy(buddy);
    m_sections << label << buddy;
    return label;
}

void ProbePanel::build()
{
    m_heading = new WrappedLabel;
    m_heading->setObjectName(QStringLiteral("heading"));
    QFont big = m_heading->font();
    big.setBold(true);
    big.setPointSizeF(big.pointSizeF() * 1.2);
    m_heading->setFont(big);
    m_copy = new QToolButton;
    m_copy->setText(tr("Copy"));
    m_copy->setToolTip(tr("Copy everything about this probe as text (Ctrl+C)"));
    m_copy->setAccessibleName(tr("Copy the probe as text"));
    m_copy->setFocusPolicy(Qt::TabFocus);
    connect(m_copy, &QToolButton::clicked, this, &ProbePanel::copy);
    m_sides = new WrappedLabel;
    m_message = new WrappedLabel;
    m_next = new WrappedLabel;
    m_numbers = new WrappedLabel;
    m_message->setObjectName(QStringLiteral("message"));
    m_next->setObjectName(QStringLiteral("next"));
    m_numbers->setObjectName(QStringLiteral("numbers"));
    for (QLabel* label : {m_sides, m_message, m_next, m_numbers}) {
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        label->setFocusPolicy(Qt::NoFocus);
    }
    for (QLabel* label : {m_sides, m_next})
        label->setTextFormat(Qt::PlainText);
    m_message->setTextFormat(Qt::PlainText);

    auto* inner = new QWidget;
    auto* layout = new QVBoxLayout(inner);
    layout->setContentsMargins(6, 6, 6, 6);
    layout->setSpacing(4);
    auto* top = new QHBoxLayout;
    top->addWidget(m_heading, 1);
    top->addWidget(m_copy, 0, Qt::AlignTop);
    layout->addLayout(top);
    layout->addWidget(m_sides);
    layout->addWidget(m_message);
    layout->addWidget(m_numbers);
    QTableView* tokens =
        makeTable(m_top, tr("Most probable next tokens of both sides"), TopTokensModel::TokenP, TopTokensModel::TokenQ);
    layout->addSpacing(6);
    layout->addWidget(makeTitle(tr("Most probable next tokens"), tokens));
    layout->addWidget(tokens);
    layout->addWidget(m_next);
    QTableView* terms = makeTable(m_terms, tr("What makes up KL(P‖Q)"), KlTermsModel::Token);
    layout->addSpacing(6);
    layout->addWidget(makeTitle(tr("What makes up KL(P‖Q)"), terms));
    layout->addWidget(terms);
    QTableView* runs =
        makeTable(m_runs, tr("Runs at this position"), RunsAtPositionModel::Run, RunsAtPositionModel::Top);
    layout->addSpacing(6);
    layout->addWidget(makeTitle(tr("Runs at this position"), runs));
    layout->addWidget(runs);
    layout->addStretch(1);
    m_sections << m_sides << m_next << m_numbers << m_copy;
    connect(runs, &QTableView::activated, this, [this](const QModelIndex& index) {
        const RunAtPosition& run = m_runs->runs()[static_cast<std::size_t>(index.row())];
        if (!run.isBaseline)
            m_session->path().go(placeAt(*m_session, run.run, m_position, m_session->path().place().token));
    });

    auto* scroll = new QScrollArea;
    scroll->setWidget(inner);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setAccessibleName(tr("Probe"));
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(scroll);
    fitTables();
}

void ProbePanel::setSectionsVisible(bool visible)
{
    for (QWidget* section : m_sections)
        section->setVisible(visible);
}

void ProbePanel::clearAll(const QString& heading, const QString& message)
{
    m_reader.cancel();
    m_reading = false;
    m_position = -1;
    m_run = -1;
    m_baseTrace = m_runTrace = nullptr;
    m_table = nullptr;
    m_numberRows.clear();
    m_heading->setText(heading);
    m_message->setText(message);
    m_message->setVisible(!message.isEmpty());
    m_top->clear();
    m_terms->clear();
    m_runs->setRuns({}, {});
    setSectionsVisible(false);
}

void ProbePanel::reload()
{
    const Place& place = m_session->path().place();
    const SessionRun* run = shownRun(*m_session);
    const SessionRun* base = m_session->baseline();
    if (const QString why = whyNoTable(*m_session); !why.isEmpty())
        return clearAll(tr("Probe"), why);
    if (place.probe < 0) {
        return clearAll(tr("Probe"), place.token >= 0 ? tr("No probe predicts token %1.").arg(groupedText(place.token))
                                                      : tr("Choose a probe: a row of the table, or a coloured token."));
    }
    if (m_lookup.table() != run->table)
        m_lookup = ProbeLookup(run->table);
    const ProbeMetrics* probe = m_lookup.at(place.probe);
    const QString heading =
        tr("Probe %1 (predicts token %2)").arg(groupedText(place.probe), groupedText(place.probe + 1));
    if (!probe)
        return clearAll(
            heading, tr("%1 has no probe at %2 that the baseline has too.").arg(run->name, groupedText(place.probe)));

    const bool same = m_position == place.probe && m_run == run->id && m_table == run->table &&
                      m_baseTrace == base->trace && m_runTrace == run->trace;
    m_position = place.probe;
    m_run = run->id;
    m_table = run->table;
    m_baseTrace = base->trace;
    m_runTrace = run->trace;
    m_heading->setText(heading);
    m_sides->setText(tr("P = %1 (baseline), Q = %2").arg(base->name, run->name));
    QStringList notes;
    if (run->table->alignment.top_k)
        notes << tr("Top-k lists: KL, JS and TV are lower bounds.");
    if (m_lookup.isDense(m_position))
        notes << tr("A dense probe: not counted in windows.");
    if (!probe->valid)
        notes << tr("This probe is invalid: a NaN, a +inf or nothing but −inf in one of the two rows.");
    m_note = notes.join(QLatin1Char(' '));
    setSectionsVisible(true);
    showNumbers(*probe, run->table->alignment.top_k);
    if (same && (m_reading || m_top->rowCount() > 0 || !m_message->text().isEmpty())) {
        // Names, colours or other runs changed; what is on the screen stays right.
        showRuns(m_position);
        if (!m_reading)
            request(m_position);
        return;
    }
    m_top->clear();
    m_terms->clear();
    m_next->clear();
    m_message->setText(m_note);
    m_message->setVisible(!m_note.isEmpty());
    m_reading = true; // tables that wait for their rows keep their height
    showRuns(m_position);
    request(m_position);
}

void ProbePanel::showNumbers(const ProbeMetrics& probe, bool lowerBound)
{
    m_numberRows = numbersOf(probe, lowerBound);
    QString html = QStringLiteral("<table cellspacing='0'>");
    for (const NumberRow& row : m_numberRows) {
        html += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td align='right'>%2</td><td>&nbsp;%3</td></tr>")
                    .arg(row.name.toHtmlEscaped(), row.value.toHtmlEscaped(), row.unit.toHtmlEscaped());
    }
    m_numbers->setText(html + QStringLiteral("</table>"));
}

void ProbePanel::showRuns(qint64 position)
{
    std::vector<RunAtPosition> rows;
    const double nan = std::nan("");
    const SessionRun* base = m_session->baseline();
    if (const ProbeMetrics* probe = m_lookup.at(position)) {
        rows.push_back({base->id, base->name, probe->argmax_p, probe->p_top, probe->p_top, nan, false, false, true});
    }
    for (const SessionRun* run : m_session->visibleRuns()) {
        if (!run->table)
            continue;
        const ProbeMetrics* probe = probeAt(*run->table, position);
        if (!probe)
            continue;
        // Without a flip the run's top token is the baseline's, and its probability is known already.
        const double known = probe->valid && !probe->flip ? probe->q_top : nan;
        rows.push_back({run->id, run->name, probe->argmax_q, known, probe->q_top, probe->kl_pq, probe->flip != 0,
                        probe->tied != 0, false});
    }
    m_runs->setRuns(std::move(rows), HistoryText(base ? base->trace : nullptr, &m_session->texts()));
    fitTables();
}

void ProbePanel::request(qint64 position)
{
    QVector<DetailReader::Request> requests;
    requests.push_back({m_run, m_baseTrace, m_runTrace});
    for (const RunAtPosition& at : m_runs->runs()) {
        const SessionRun* run = m_session->run(at.run);
        if (run && run->trace && !at.isBaseline && at.run != m_run && at.flip)
            requests.push_back({at.run, m_baseTrace, run->trace});
    }
    m_reading = true;
    m_reader.read(requests, position, topCount);
}

void ProbePanel::take(int run, const Result<ProbeDetail>& detail)
{
    if (run != m_run) {
        if (detail && !detail->top_q.empty())
            m_runs->setTopProbability(run, detail->top_q.front().q);
        return;
    }
    m_reading = false;
    if (!detail) {
        m_top->clear();
        m_terms->clear();
        m_next->clear();
        const QString why = QString::fromStdString(detail.error().message);
        m_message->setText(m_note.isEmpty() ? why : QStringLiteral("%1 %2").arg(m_note, why));
        m_message->show();
        fitTables();
        return;
    }
    const SessionRun* base = m_session->baseline();
    const SessionRun* shown = m_session->run(m_run);
    if (!base || !shown)
        return;
    const HistoryText history(base->trace, &m_session->texts());
    m_message->setText(m_note);
    m_message->setVisible(!m_note.isEmpty());
    m_top->setDetail(*detail, history, base->name, shown->name);
    m_terms->setDetail(*detail, history);
    if (!detail->top_q.empty())
        m_runs->setTopProbability(run, detail->top_q.front().q);
    showNext(detail->next);
    fitTables();
}

void ProbePanel::showNext(const TokenShare& next)
{
    if (next.id < 0) {
        m_next->setText(tr("The history ends here: it has no next token."));
        return;
    }
    const HistoryText history(m_baseTrace, &m_session->texts());
    const auto rank = [](std::int64_t r) { return r > 0 ? groupedText(r) : QStringLiteral("–"); };
    m_next->setText(tr("➤ next in the history: %1 (id %2), p %3 (rank %4), q %5 (rank %6)")
                        .arg(history.idLabel(next.id))
                        .arg(next.id)
                        .arg(probabilityText(next.p), rank(next.rank_p), probabilityText(next.q), rank(next.rank_q)));
}

void ProbePanel::fitTables()
{
    for (QTableView* table : m_tables) {
        if (m_reading && table->model() != m_runs)
            continue;
        const int rowHeight = table->fontMetrics().height() + 5;
        table->verticalHeader()->setDefaultSectionSize(rowHeight);
        table->setFixedHeight(table->horizontalHeader()->sizeHint().height() + rowHeight * table->model()->rowCount() +
                              2);
    }
}

QString ProbePanel::heading() const
{
    return m_heading->text();
}

QString ProbePanel::message() const
{
    return m_message->text();
}

bool ProbePanel::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride)
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Copy)) {
        if (event->type() == QEvent::KeyPress)
            copy();
        else
            event->accept();
        return true;
    }
    if (key->key() == Qt::Key_Backspace && event->type() == QEvent::KeyPress) {
        m_session->path().up();
        return true;
    }
    return false;
}

void ProbePanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        fitTables();
}

void ProbePanel::copy() const
{
    QGuiApplication::clipboard()->setText(copyText());
}

} // namespace flipscope
