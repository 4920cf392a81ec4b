// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/view_controls.h"

#include "ui/models/number_text.h"
#include "ui/window/flow_layout.h"
#include "ui/window/limits_dialog.h"
#include "ui/window/rows_menu.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QToolButton>

#include <limits>

namespace flipscope {

const QVector<qint64>& offeredWindowSizes()
{
    static const QVector<qint64> sizes{32000, 16000, 8000, 4096, 2048, 1024, 512, 256};
    return sizes;
}

QString metricTitle(const WindowMetric& metric)
{
    return QString::fromStdString(metric.title);
}

ViewControls::ViewControls(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    m_by = new QComboBox(this);
    m_by->setObjectName(QStringLiteral("partition"));
    m_by->setAccessibleName(tr("What a column is"));
    m_by->addItem(tr("window"), static_cast<int>(Partition::Windows));
    m_by->addItem(tr("segment"), static_cast<int>(Partition::Segments));
    m_by->addItem(tr("turn"), static_cast<int>(Partition::Turns));
    m_by->setToolTip(
        tr("What one column of the heatmap is: a window of equally many tokens, a segment of the prompt, or "
           "a turn of the conversation"));
    m_by->setItemData(0, tr("Equally many tokens in each column"), Qt::ToolTipRole);

    m_window = new QComboBox(this);
    m_window->setObjectName(QStringLiteral("windowSize"));
    m_window->setAccessibleName(tr("Window size in tokens"));
    m_window->setToolTip(
        tr("Tokens of context in one column; type any size. Small windows show where, large ones how much"));
    m_window->setEditable(true);
    m_window->setInsertPolicy(QComboBox::NoInsert);
    m_window->setMinimumContentsLength(6);
    for (const qint64 size : offeredWindowSizes())
        m_window->addItem(groupedText(size), size);
    m_window->addItem(tr("choose"), qint64(0));

    m_metric = new QComboBox(this);
    m_metric->setObjectName(QStringLiteral("metric"));
    m_metric->setAccessibleName(tr("Metric"));
    // Its longest entry would keep the window from being narrow; the list that opens is as wide as it needs.
    m_metric->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_metric->setMinimumContentsLength(13);
    for (const WindowMetric& metric : window_metrics()) {
        m_metric->addItem(metricTitle(metric), QString::fromStdString(metric.name));
        m_metric->setItemData(m_metric->count() - 1, QString::fromStdString(metric.description), Qt::ToolTipRole);
    }

    m_margin = new QDoubleSpinBox(this);
    m_margin->setObjectName(QStringLiteral("margin"));
    m_margin->setAccessibleName(tr("Margin in nats"));
    m_margin->setToolTip(tr("Only flips where the baseline's best logit leads by more than this are counted"));
    m_margin->setRange(0, 50);
    m_margin->setSingleStep(0.125);
    m_margin->setDecimals(3);
    m_margin->setSuffix(tr(" nats"));

    m_scale = new QComboBox(this);
    m_scale->setObjectName(QStringLiteral("colourScale"));
    m_scale->setAccessibleName(tr("Colour scale"));
    m_scale->addItem(tr("linear"), static_cast<int>(ColourScale::Kind::Linear));
    m_scale->addItem(tr("logarithmic"), static_cast<int>(ColourScale::Kind::Log));
    m_scale->addItem(tr("by rank"), static_cast<int>(ColourScale::Kind::Percentile));
    m_scale->setToolTip(tr("How values become colours, the same way in all rows.\n"
                           "Linear: twice the value is twice as far along the scale.\n"
                           "Logarithmic: each tenfold is one step, so that small values differ too.\n"
                           "By rank: as many cells in each step of colour, whatever their values."));
    m_scale->setItemData(0, tr("Twice the value is twice as far along the scale"), Qt::ToolTipRole);
    m_scale->setItemData(1, tr("Each tenfold is one step, so that small values differ too; 0 has the first colour"),
                         Qt::ToolTipRole);
    m_scale->setItemData(2, tr("As many cells in each step of colour, whatever their values (percentiles)"),
                         Qt::ToolTipRole);

    m_limits = new QToolButton(this);
    m_limits->setObjectName(QStringLiteral("limits"));
    m_limits->setText(tr("Limits …"));
    m_limits->setToolTip(tr("Set the values at both ends of the colour scale, so that pictures can be compared"));
    m_limits->setAutoRaise(true);

    // What belongs together stays together where the row breaks.
    auto* layout = new FlowLayout(this);
    layout->setContentsMargins(8, 4, 8, 4);
    layout->setSpacing(14);
    const auto group = [&](const QList<QWidget*>& widgets) {
        auto* box = new QWidget(this);
        auto* row = new QHBoxLayout(box);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(6);
        for (QWidget* widget : widgets)
            row->addWidget(widget);
        layout->addWidget(box);
        return box;
    };
    const auto label = [this](const QString& text, QWidget* buddy) {
        auto* made = new QLabel(text, this);
        made->setBuddy(buddy);
        return made;
    };
    group({label(tr("&By"), m_by), m_by});
    m_windowGroup = group({label(tr("&of"), m_window), m_window, label(tr("tokens"), nullptr)});
    group({label(tr("&Metric"), m_metric), m_metric});
    m_marginGroup = group({label(tr("above"), nullptr), m_margin});
    group({label(tr("&Colours"), m_scale), m_scale, m_limits});
    m_range = new QLineEdit(this);
    m_range->setObjectName(QStringLiteral("range"));
    m_range->setAccessibleName(tr("Range of token positions"));
    m_range->setPlaceholderText(tr("all"));
    m_range->setToolTip(tr("Positions that all views show, as 8k-16k; empty: all of them.\n"
                           "Also by dragging along the heatmap's axis or over a chart, and with the wheel."));
    m_range->setClearButtonEnabled(true);
    m_range->setFixedWidth(m_range->fontMetrics().horizontalAdvance(QStringLiteral("100,000–100,000")) + 40);
    group({label(tr("&Tokens"), m_range), m_range});
    m_rows = new RowsMenu(session, this);
    group({m_rows});

    connect(m_by, &QComboBox::activated, this, [this](int index) {
        m_session->setPartition(static_cast<Partition>(m_by->itemData(index).toInt()));
        followPartition();
    });
    connect(m_window, &QComboBox::activated, this, &ViewControls::windowEdited);
    connect(m_window->lineEdit(), &QLineEdit::editingFinished, this, &ViewControls::windowEdited);
    connect(m_metric, &QComboBox::activated, this,
            [this](int index) { m_session->setMetric(m_metric->itemData(index).toString()); });
    connect(m_margin, &QDoubleSpinBox::valueChanged, m_session, &Session::setMargin);
    connect(m_scale, &QComboBox::activated, this, &ViewControls::scaleChosen);
    connect(m_limits, &QToolButton::clicked, this, &ViewControls::editLimits);
    connect(m_range, &QLineEdit::editingFinished, this, &ViewControls::rangeEdited);
    connect(m_range, &QLineEdit::textChanged, this, [this](const QString& text) {
        if (text.isEmpty()) // also by the clear button
            m_session->setRange({});
    });
    connect(session, &Session::viewChanged, this, &ViewControls::follow);
    connect(session, &Session::runsChanged, this, &ViewControls::followPartition);
    connect(session, &Session::rangeChanged, this, &ViewControls::followRange);
    follow();
    followRange();
}

/// Segments and turns can be chosen where the baseline's trace marks them; else the entry says why not.
void ViewControls::followPartition()
{
    const Partition now = m_session->partition();
    m_by->setCurrentIndex(m_by->findData(static_cast<int>(now)));
    m_windowGroup->setVisible(now == Partition::Windows);
    const SessionRun* base = m_session->baseline();
    const TracePtr trace = base != nullptr ? base->trace : nullptr;
    if (trace == m_marked && m_marksKnown)
        return; // what a trace marks does not change
    m_marked = trace;
    m_marksKnown = true;
    const auto* model = qobject_cast<const QStandardItemModel*>(m_by->model());
    const QString usual[] = {QString(),
                             tr("System, user, assistant, thinking, tool, tool call: by the token predicted"),
                             tr("From one message of the user to the next")};
    for (int i = 1; i < m_by->count() && model != nullptr; ++i) {
        const QString why = m_session->whyNotBy(static_cast<Partition>(m_by->itemData(i).toInt()));
        model->item(i)->setEnabled(why.isEmpty());
        m_by->setItemData(i, why.isEmpty() ? usual[i] : why, Qt::ToolTipRole);
    }
}

void ViewControls::followRange()
{
    const TokenRange& range = m_session->range();
    const QSignalBlocker block(m_range);
    m_range->setText(range.all() ? QString() : groupedText(range.start) + QStringLiteral("–") + groupedText(range.end));
}

void ViewControls::rangeEdited()
{
    QString text = m_range->text().simplified().remove(QLatin1Char(','));
    if (text.isEmpty()) {
        m_session->setRange({});
        return;
    }
    static const QRegularExpression form(QStringLiteral("^(\\d+)(k?)\\s*[-–]\\s*(\\d*)(k?)$"));
    const QRegularExpressionMatch match = form.match(text.toLower());
    const auto number = [&](int digits) {
        return match.captured(digits).toLongLong() * (match.captured(digits + 1).isEmpty() ? 1 : 1000);
    };
    if (match.hasMatch()) // "8k-" has no end
        m_session->setRange({number(1), match.captured(3).isEmpty() ? std::numeric_limits<qint64>::max() : number(3)});
    followRange(); // as it is now: what makes no sense changes nothing
}

void ViewControls::follow()
{
    const QSignalBlocker blockMargin(m_margin);
    m_window->setEditText(groupedText(m_session->windowTokens()));
    m_metric->setCurrentIndex(m_metric->findData(QString::fromStdString(m_session->metric().name)));
    m_metric->setToolTip(QString::fromStdString(m_session->metric().description));
    m_scale->setCurrentIndex(m_scale->findData(static_cast<int>(m_session->colourScale().kind)));
    m_margin->setValue(m_session->margin());
    m_marginGroup->setVisible(m_session->metric().name == "flips_above_margin");
    followPartition();
}

void ViewControls::windowEdited()
{
    QString text = m_window->currentText();
    const int known = m_window->findText(text);
    qint64 tokens = known >= 0 ? m_window->itemData(known).toLongLong() : -1;
    if (known < 0) {
        text.remove(QLatin1Char(',')).remove(QLatin1Char(' ')).remove(QLatin1Char('.'));
        bool number = false;
        tokens = text.toLongLong(&number);
        // A window of one token is the finest that makes sense; what is no number changes nothing.
        if (!number || tokens < 1)
            tokens = m_session->windowTokens();
        tokens = std::min<qint64>(tokens, 100'000'000);
    }
    if (tokens != m_session->windowTokens())
        m_session->setWindowTokens(tokens);
    m_window->setEditText(groupedText(m_session->windowTokens()));
}

void ViewControls::scaleChosen(int index)
{
    ColourScale scale = m_session->colourScale();
    scale.kind = static_cast<ColourScale::Kind>(m_scale->itemData(index).toInt());
    m_session->setColourScale(scale);
}

void ViewControls::editLimits()
{
    auto* dialog = new LimitsDialog(m_session, window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

} // namespace flipscope
