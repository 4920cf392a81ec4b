// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/view_controls.h"

#include "ui/models/number_text.h"
#include "ui/window/flow_layout.h"
#include "ui/window/limits_dialog.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>

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
    m_window = new QComboBox(this);
    m_window->setObjectName(QStringLiteral("windowSize"));
    m_window->setAccessibleName(tr("Window size in tokens"));
    m_window->setToolTip(tr("Tokens of context in one column; type any size"));
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
    m_scale->setItemData(2, tr("Equal steps of colour for equal shares of the cells"), Qt::ToolTipRole);

    m_limits = new QToolButton(this);
    m_limits->setObjectName(QStringLiteral("limits"));
    m_limits->setText(tr("Limits …"));
    m_limits->setToolTip(tr("Set the ends of the colour scale"));
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
    group({label(tr("&Window"), m_window), m_window, label(tr("tokens"), nullptr)});
    group({label(tr("&Metric"), m_metric), m_metric});
    m_marginGroup = group({label(tr("above"), nullptr), m_margin});
    group({label(tr("&Colours"), m_scale), m_scale, m_limits});

    connect(m_window, &QComboBox::activated, this, &ViewControls::windowEdited);
    connect(m_window->lineEdit(), &QLineEdit::editingFinished, this, &ViewControls::windowEdited);
    connect(m_metric, &QComboBox::activated, this,
            [this](int index) { m_session->setMetric(m_metric->itemData(index).toString()); });
    connect(m_margin, &QDoubleSpinBox::valueChanged, m_session, &Session::setMargin);
    connect(m_scale, &QComboBox::activated, this, &ViewControls::scaleChosen);
    connect(m_limits, &QToolButton::clicked, this, &ViewControls::editLimits);
    connect(session, &Session::viewChanged, this, &ViewControls::follow);
    follow();
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
