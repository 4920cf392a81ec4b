// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/token_view.h"

#include "ui/models/number_text.h"
#include "ui/views/selection.h"
#include "ui/views/token_gutter.h"
#include "ui/views/token_legend.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace flipscope {

TokenView::TokenView(Session* session, QWidget* parent)
    : QWidget(parent), m_session(session), m_area(new TokenArea), m_bar(new QWidget), m_message(new QLabel),
      m_style(ChartStyle::ofPalette())
{
    buildBar();
    m_message->setObjectName(QStringLiteral("message"));
    m_message->setWordWrap(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->setSpacing(4);
    layout->addWidget(m_bar);
    layout->addWidget(m_message);
    layout->addWidget(m_area, 1);
    buildFooter();
    setFocusProxy(m_area);

    m_follow.setSingleShot(true);
    m_follow.setInterval(120);
    connect(&m_follow, &QTimer::timeout, this, [this] { commit(m_area->current()); });
    m_area->setMarks([this](qint64 token) { return mark(token); });
    m_area->setDescriptions([this](qint64 token) { return toolTipOf(token); });
    m_area->setInvalidColor(m_style.invalid);
    connect(m_area, &TokenArea::clicked, this, &TokenView::commit);
    connect(m_area, &TokenArea::activated, this, &TokenView::commit);
    connect(m_area, &TokenArea::moved, this, [this] {
        m_follow.start();
        updateStatus();
    });
    connect(m_area, &TokenArea::flipRequested, this, &TokenView::goToFlip);
    connect(m_area, &TokenArea::upRequested, this, [this] { m_session->path().up(); });
    connect(m_area, &TokenArea::findRequested, this, &TokenView::showFind);
    connect(m_area, &TokenArea::findAgain, this, &TokenView::findFrom);
    connect(m_area, &TokenArea::goToRequested, this, &TokenView::showGoTo);
    connect(m_session, &Session::runsChanged, this, &TokenView::reloadHistory);
    connect(m_session, &Session::viewChanged, this, &TokenView::reloadColours);
    connect(&m_session->path(), &DrilldownPath::changed, this, [this] {
        const SessionRun* run = shownRun(*m_session);
        if ((run ? run->table : nullptr) != m_probes.table())
            reloadColours();
        updateMessage();
        followPlace();
    });
    reloadHistory();
}

void TokenView::buildBar()
{
    m_bar->setObjectName(QStringLiteral("bar"));
    m_barLabel = new QLabel;
    m_barEdit = new QLineEdit;
    m_barEdit->setObjectName(QStringLiteral("barEdit"));
    m_barEdit->setAccessibleName(tr("Text to find in the history"));
    m_barEdit->setToolTip(tr("Text as it stands in the history, or #1234 for the token with that id"));
    m_barEdit->setClearButtonEnabled(true);
    m_barEdit->installEventFilter(this);
    m_barLabel->setBuddy(m_barEdit);
    m_barNote = new QLabel;
    m_barNote->setObjectName(QStringLiteral("barNote"));
    const auto button = [this](Qt::ArrowType arrow, const QString& name) {
        auto* b = new QToolButton;
        b->setArrowType(arrow);
        b->setAutoRaise(true);
        b->setToolTip(name);
        b->setAccessibleName(name);
        b->setFocusPolicy(Qt::TabFocus);
        return b;
    };
    m_regex = new QToolButton;
    m_regex->setObjectName(QStringLiteral("regex"));
    m_regex->setText(QStringLiteral(".*"));
    m_regex->setCheckable(true);
    m_regex->setAutoRaise(true);
    m_regex->setToolTip(tr("Read what is typed as a regular expression: [0-9]+ finds numbers"));
    m_regex->setAccessibleName(tr("Find a regular expression"));
    m_regex->setFocusPolicy(Qt::TabFocus);
    connect(m_regex, &QToolButton::toggled, this, &TokenView::search);
    m_findPrevious = button(Qt::UpArrow, tr("Previous match (Shift+F3)"));
    m_findNext = button(Qt::DownArrow, tr("Next match (F3)"));
    auto* close = new QToolButton;
    close->setText(QStringLiteral("×"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close (Esc)"));
    close->setAccessibleName(tr("Close the search line"));
    close->setFocusPolicy(Qt::TabFocus);
    auto* layout = new QHBoxLayout(m_bar);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_barLabel);
    layout->addWidget(m_barEdit, 1);
    layout->addWidget(m_regex);
    layout->addWidget(m_findPrevious);
    layout->addWidget(m_findNext);
    layout->addWidget(m_barNote, 1);
    layout->addWidget(close);
    m_bar->hide();
    connect(m_barEdit, &QLineEdit::textEdited, this, [this] {
        if (m_mode == Bar::Find)
            search();
        else
            m_barNote->clear();
    });
    connect(m_findPrevious, &QToolButton::clicked, this, &TokenView::findPrevious);
    connect(m_findNext, &QToolButton::clicked, this, &TokenView::findNext);
    connect(close, &QToolButton::clicked, this, &TokenView::hideBar);
}

void TokenView::buildFooter()
{
    m_legend = new TokenLegend;
    m_status = new QLabel;
    m_status->setObjectName(QStringLiteral("status"));
    m_previousFlip = new QToolButton;
    m_previousFlip->setText(tr("◄ P"));
    m_previousFlip->setToolTip(tr("Previous flip (P)"));
    m_previousFlip->setAccessibleName(tr("Previous flip"));
    m_nextFlip = new QToolButton;
    m_nextFlip->setText(tr("N ►"));
    m_nextFlip->setToolTip(tr("Next flip (N)"));
    m_nextFlip->setAccessibleName(tr("Next flip"));
    m_stopsBox = new QComboBox;
    m_stopsBox->setObjectName(QStringLiteral("flipStops"));
    m_stopsBox->setAccessibleName(tr("What N and P stop at"));
    m_stopsBox->setToolTip(tr("What N and P stop at: all flips, or only those that matter more"));
    const auto stop = [this](const QString& text, FlipStops kind, const QString& tip) {
        m_stopsBox->addItem(text, static_cast<int>(kind));
        m_stopsBox->setItemData(m_stopsBox->count() - 1, tip, Qt::ToolTipRole);
    };
    stop(tr("flips"), FlipStops::All, tr("Every probe where the run's most likely token is not the baseline's"));
    stop(tr("flips, no ties or single steps"), FlipStops::Clear,
         tr("Without those where the baseline's best logits are equal, or one step of the stored format apart"));
    stop(tr("flips above margin"), FlipStops::AboveMargin,
         tr("Only where the baseline's best logit led by more than the margin that is set for the heatmap"));
    stop(tr("flips in a tool call"), FlipStops::ToolCall, tr("Only within the tokens of a tool call"));
    m_largest = new QToolButton;
    m_largest->setObjectName(QStringLiteral("largestKl"));
    m_largest->setText(tr("Largest KL"));
    m_largest->setToolTip(tr("To the token whose prediction differs most (L)"));
    m_proportional = new QToolButton;
    m_proportional->setObjectName(QStringLiteral("proportional"));
    m_proportional->setText(tr("Aa"));
    m_proportional->setCheckable(true);
    m_proportional->setToolTip(tr("Proportional letters, for reading prose"));
    m_proportional->setAccessibleName(tr("Proportional letters"));
    connect(m_stopsBox, &QComboBox::activated, this,
            [this](int index) { setFlipStops(static_cast<FlipStops>(m_stopsBox->itemData(index).toInt())); });
    connect(m_largest, &QToolButton::clicked, this, &TokenView::goToLargestKl);
    connect(m_proportional, &QToolButton::toggled, this, &TokenView::setProportional);
    connect(m_area, &TokenArea::largestRequested, this, &TokenView::goToLargestKl);
    for (QToolButton* button : {m_previousFlip, m_nextFlip, m_largest, m_proportional}) {
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::TabFocus);
    }
    connect(m_previousFlip, &QToolButton::clicked, this, &TokenView::previousFlip);
    connect(m_nextFlip, &QToolButton::clicked, this, &TokenView::nextFlip);
    auto* footer = new QHBoxLayout;
    footer->addWidget(m_legend, 1);
    footer->addWidget(m_proportional);
    footer->addWidget(m_largest);
    footer->addWidget(m_stopsBox);
    footer->addWidget(m_previousFlip);
    footer->addWidget(m_status);
    footer->addWidget(m_nextFlip);
    static_cast<QVBoxLayout*>(layout())->addLayout(footer);
    m_proportional->setChecked(QSettings().value(QStringLiteral("tokens/proportional")).toBool());
}

void TokenView::reloadHistory()
{
    const SessionRun* base = m_session->baseline();
    const TracePtr trace = base ? base->trace : nullptr;
    const bool other = trace != m_trace;
    m_trace = trace;
    if (other) {
        const qint64 top = m_area->topToken();
        m_search.reset();
        m_matches.clear();
        m_searched.clear();
        m_area->setHistory(HistoryText(trace, &m_session->texts()));
        m_area->ensureVisible(top); // the same history of another run, or of the file read again
    } else if (trace && trace->tokens.text.empty()) {
        // The text comes from other traces, which may have come or gone.
        const qint64 top = m_area->topToken();
        m_search.reset();
        m_area->setHistory(HistoryText(trace, &m_session->texts()));
        m_area->ensureVisible(top);
    }
    m_area->setAccessibleName(base ? tr("Tokens of the history, %1 in all").arg(groupedText(m_area->history().size()))
                                   : tr("Tokens of the history"));
    reloadColours();
    if (other)
        followPlace();
}

void TokenView::reloadColours()
{
    const SessionRun* run = shownRun(*m_session);
    const TablePtr table = run ? run->table : nullptr;
    const bool sameTable = table == m_probes.table();
    if (!sameTable)
        m_probes = ProbeLookup(table);
    reloadStops();
    const ProbeMeasure measure = ProbeMeasure::of(m_session->metric());
    const ColourScale scale = measure.scale(m_session->colourScale());
    if (sameTable && measure.column == m_measure.column && measure.replaced == m_measure.replaced && scale == m_scale) {
        updateMessage(); // another window size, for one
        updateStatus();
        return;
    }
    m_measure = measure;
    m_scale = scale;
    std::vector<double> values;
    const auto add = [&](const ProbeMetrics& probe) {
        const double value = m_measure.value(probe);
        if (std::isfinite(value))
            values.push_back(value);
    };
    if (table) {
        std::ranges::for_each(table->probes, add);
        for (const ProbeMetrics& probe : table->dense)
            if (m_probes.isDense(probe.position))
                add(probe);
    }
    m_normalizer.reset();
    if (!values.empty())
        m_normalizer.emplace(m_scale, values);
    if (m_normalizer) {
        const QString unit = m_measure.unit();
        QString high = realText(m_normalizer->high());
        if (!unit.isEmpty())
            high += QLatin1Char(' ') + unit;
        m_legend->setScale(m_measure.title(), m_scale.map, realText(m_normalizer->low()), high);
    } else {
        m_legend->setScale({}, {}, {}, {});
    }
    m_area->viewport()->update();
    updateMessage();
    updateStatus();
}

void TokenView::updateMessage()
{
    m_message->setText(m_trace ? whyNoTable(*m_session) : tr("Open a trace to see its tokens."));
    m_message->setVisible(!m_message->text().isEmpty());
}

void TokenView::followPlace()
{
    m_follow.stop();
    const Place& place = m_session->path().place();
    if (place.token >= 0)
        m_area->setCurrent(place.token, true);
    else if (place.probe >= 0)
        m_area->setCurrent(place.probe + 1, true);
    else {
        m_area->setCurrent(-1, false);
        if (place.windowStart >= 0)
            m_area->ensureVisible(place.windowStart);
    }
    updateStatus();
}

void TokenView::commit(qint64 token)
{
    m_follow.stop();
    const SessionRun* run = shownRun(*m_session);
    if (token < 0)
        return;
    if (!run) {
        updateStatus(); // nothing to link with
        return;
    }
    const qint64 probe = m_probes.at(token - 1) ? token - 1 : -1;
    m_session->path().go(placeAt(*m_session, run->id, probe, token));
}

void TokenView::goToFlip(int direction)
{
    const auto& flips = m_stops;
    const qint64 now = m_area->current() >= 0 ? m_area->current() - 1 : m_area->topToken() - 1;
    std::optional<qint64> target;
    if (direction > 0) {
        // With no token selected, a flip on the top line counts as next.
        const qint64 after = m_area->current() >= 0 ? now : now - 1;
        const auto it = std::upper_bound(flips.begin(), flips.end(), after);
        if (it != flips.end())
            target = *it;
    } else {
        const auto it = std::lower_bound(flips.begin(), flips.end(), now);
        if (it != flips.begin())
            target = *std::prev(it);
    }
    if (!target) {
        m_status->setText(flips.empty()   ? stopsWords(0)
                          : direction > 0 ? tr("no flip after this")
                                          : tr("no flip before this"));
        return;
    }
    m_area->setCurrent(*target + 1, true);
    commit(*target + 1);
}

TokenMark TokenView::mark(qint64 token) const
{
    TokenMark mark;
    const ProbeMetrics* probe = m_probes.at(token - 1);
    if (!probe)
        return mark;
    mark.flip = probe->flip != 0;
    mark.invalid = !probe->valid;
    const double value = m_measure.value(*probe);
    if (mark.invalid || std::isnan(value) || (!m_normalizer && std::isfinite(value)))
        return mark;
    const double t = std::isinf(value) ? (value > 0 ? 1.0 : 0.0) : (*m_normalizer)(value);
    mark.fill = colormapColor(m_scale.map, t);
    return mark;
}

QString TokenView::toolTipOf(qint64 token) const
{
    const HistoryText& history = m_area->history();
    const auto bytes = history.bytes(token);
    QStringList lines;
    lines << tr("<b>Token %1</b> · id %2 · %3")
                 .arg(groupedText(token))
                 .arg(history.id(token))
                 .arg(history.label(token).toHtmlEscaped());
    lines << (bytes ? tr("bytes %1").arg(QString::fromStdString(hex_bytes(*bytes)))
                    : tr("its text is not stored in any open trace"));
    if (const auto joined = history.joined(token))
        lines << tr("part of a character: tokens %1 to %2 together are %3")
                     .arg(groupedText(joined->first), groupedText(joined->last), joined->text.toHtmlEscaped());
    QStringList spans;
    if (m_trace) {
        for (const Span* span : spansAt(m_trace->spans, token))
            spans << QString::fromStdString(span->kind).toHtmlEscaped();
    }
    if (!spans.isEmpty())
        lines << tr("in %1").arg(spans.join(QStringLiteral(" › ")));
    const ProbeMetrics* probe = m_probes.at(token - 1);
    if (!probe) {
        lines << (token == 0 ? tr("The first token: nothing predicts it.")
                             : tr("No probe at %1 predicts it.").arg(groupedText(token - 1)));
    } else {
        lines << (m_probes.isDense(token - 1)
                      ? tr("Predicted by the dense probe at %1 (last token fed), not counted in windows:")
                      : tr("Predicted by the probe at %1 (last token fed):"))
                     .arg(groupedText(token - 1));
        if (!probe->valid) {
            lines << tr("invalid: a NaN, a +inf or nothing but −inf in one of the two rows");
        } else {
            QString numbers = tr("KL(P‖Q) %1 nats").arg(realText(probe->kl_pq));
            if (m_measure.column && m_measure.column->name != "kl_pq")
                numbers +=
                    tr(" · %1 %2 %3").arg(m_measure.title(), realText(m_measure.value(*probe)), m_measure.unit());
            lines << numbers.trimmed();
            lines << (probe->flip ? tr("flip: %1 → %2") : tr("no flip: %1 on both sides"))
                             .arg(history.idLabel(probe->argmax_p).toHtmlEscaped(),
                                  history.idLabel(probe->argmax_q).toHtmlEscaped()) +
                         (probe->tied ? tr(" (tied)") : QString());
        }
    }
    return QStringLiteral("<p style='white-space:pre'>%1</p>").arg(lines.join(QStringLiteral("<br>")));
}

QString TokenView::status() const
{
    return m_status->text();
}

void TokenView::reloadStops()
{
    m_stops = m_trace && m_probes.table() ? flipStops(m_probes, m_which, *m_trace, m_session->margin())
                                          : std::vector<qint64>();
}

void TokenView::setFlipStops(FlipStops which)
{
    m_which = which;
    m_stopsBox->setCurrentIndex(m_stopsBox->findData(static_cast<int>(which)));
    reloadStops();
    updateStatus();
}

/// "no flips", "12 flips above 0.5 nats".
QString TokenView::stopsWords(qint64 n) const
{
    QString flips = n == 0 ? tr("no flips") : counted(n, tr("flip"), tr("flips"));
    switch (m_which) {
    case FlipStops::All:
        break;
    case FlipStops::Clear:
        return tr("%1 but ties and single steps").arg(flips);
    case FlipStops::AboveMargin:
        return tr("%1 above %2 nats").arg(flips).arg(m_session->margin());
    case FlipStops::ToolCall:
        return tr("%1 in a tool call").arg(flips);
    }
    return flips;
}

void TokenView::goToLargestKl()
{
    const auto largest = largestKl(m_probes);
    if (!largest)
        return;
    m_area->setCurrent(*largest + 1, true);
    commit(*largest + 1);
}

void TokenView::setProportional(bool proportional)
{
    const QSignalBlocker block(m_proportional);
    m_proportional->setChecked(proportional);
    m_area->setProportional(proportional);
    QSettings().setValue(QStringLiteral("tokens/proportional"), proportional);
}

void TokenView::updateStatus()
{
    const auto& flips = m_stops;
    const qint64 token = m_area->current();
    QString text;
    if (token >= 0)
        text = tr("token %1 of %2").arg(groupedText(token), groupedText(m_area->history().size()));
    if (!flips.empty()) {
        const auto it = std::lower_bound(flips.begin(), flips.end(), token - 1);
        const bool onFlip = token > 0 && it != flips.end() && *it == token - 1;
        const auto number = onFlip ? groupedText(it - flips.begin() + 1) + QLatin1Char('/') : QString();
        text += (text.isEmpty() ? QString() : QStringLiteral(" · ")) +
                (onFlip ? tr("flip %1%2").arg(number, groupedText(static_cast<qint64>(flips.size())))
                        : stopsWords(static_cast<qint64>(flips.size())));
    } else if (m_probes.table()) {
        text += (text.isEmpty() ? QString() : QStringLiteral(" · ")) + stopsWords(0);
    }
    m_status->setText(text);
    m_previousFlip->setEnabled(!flips.empty());
    m_nextFlip->setEnabled(!flips.empty());
    m_largest->setEnabled(!m_probes.positions().empty());
}

void TokenView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        m_style = ChartStyle::ofPalette();
        m_area->setInvalidColor(m_style.invalid);
        m_area->viewport()->update();
    }
}

} // namespace flipscope
