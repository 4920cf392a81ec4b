// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/job_indicator.h"

#include "ui/window/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QToolButton>

namespace flipscope {

JobIndicator::JobIndicator(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    m_stage = new QLabel(this);
    m_stage->setObjectName(QStringLiteral("jobStage"));
    m_bar = new QProgressBar(this);
    m_bar->setObjectName(QStringLiteral("jobProgress"));
    m_bar->setFixedWidth(140);
    m_bar->setMaximumHeight(16);
    m_bar->setTextVisible(false);
    m_stop = new QToolButton(this);
    m_stop->setObjectName(QStringLiteral("jobStop"));
    m_stop->setText(tr("Stop"));
    m_stop->setToolTip(tr("Stop reading and computing (Esc)"));
    m_stop->setAutoRaise(true);
    m_engine = new QLabel(this);
    m_engine->setObjectName(QStringLiteral("engineText"));
    m_engine->setForegroundRole(QPalette::PlaceholderText);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 6, 0);
    for (QWidget* widget : {static_cast<QWidget*>(m_stage), static_cast<QWidget*>(m_bar), static_cast<QWidget*>(m_stop),
                            static_cast<QWidget*>(m_engine)})
        layout->addWidget(widget);

    connect(m_stop, &QToolButton::clicked, session, &Session::cancel);
    connect(session, &Session::busyChanged, this, &JobIndicator::setBusy);
    connect(session, &Session::progress, this, &JobIndicator::showProgress);
    connect(session, &Session::engineChanged, this, &JobIndicator::showEngine);
    setBusy(session->busy());
    showEngine();
}

void JobIndicator::showEngine()
{
    m_engine->setText(m_engine->fontMetrics().elidedText(m_session->engineText(), Qt::ElideRight, 480));
    m_engine->setToolTip(m_session->engineText());
}

void JobIndicator::setBusy(bool busy)
{
    for (QWidget* widget :
         {static_cast<QWidget*>(m_stage), static_cast<QWidget*>(m_bar), static_cast<QWidget*>(m_stop)})
        widget->setVisible(busy);
    m_engine->setVisible(!busy);
    m_bar->setRange(0, 0); // not known yet
    m_stage->setText(busy ? tr("Working …") : QString());
}

void JobIndicator::showProgress(const QString& stage, qint64 done, qint64 total, bool bytes)
{
    if (!m_session->busy())
        return; // a report that was under way when the job ended
    const QLocale locale(QLocale::English);
    const auto amount = [&](qint64 n) { return bytes ? locale.formattedDataSize(n) : locale.toString(n); };
    m_stage->setText(m_stage->fontMetrics().elidedText(stage, Qt::ElideMiddle, 260));
    m_stage->setToolTip(total > 0 ? tr("%1: %2 of %3").arg(stage, amount(done), amount(total)) : stage);
    m_bar->setRange(0, total > 0 ? 1000 : 0);
    if (total > 0)
        m_bar->setValue(static_cast<int>(1000 * (static_cast<double>(done) / static_cast<double>(total))));
}

} // namespace flipscope
