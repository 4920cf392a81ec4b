// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/start_page.h"

#include "ui/window/recent_files.h"
#include "ui/window/samples.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace flipscope {

namespace {

QLabel* label(const QString& text, QWidget* parent, double scale = 1, bool muted = false, bool bold = false)
{
    auto* made = new QLabel(text, parent);
    QFont font = made->font();
    font.setPointSizeF(font.pointSizeF() * scale);
    font.setBold(bold);
    made->setFont(font);
    made->setWordWrap(true);
    if (muted)
        made->setForegroundRole(QPalette::PlaceholderText);
    return made;
}

} // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("startPage"));
    auto* column = new QWidget(this);
    column->setMinimumWidth(400);
    column->setMaximumWidth(560);
    auto* layout = new QVBoxLayout(column);
    layout->setSpacing(8);
    layout->addWidget(label(QStringLiteral("Flipscope"), column, 2.2, false, true));
    layout->addWidget(label(tr("Shows where copies of a language model part ways: how often each run's top token is "
                               "another than the baseline's, how far its distribution has moved, and at which token."),
                            column, 1.05));
    layout->addSpacing(14);

    auto* buttons = new QHBoxLayout;
    auto* open = new QPushButton(tr("&Open traces …"), column);
    open->setObjectName(QStringLiteral("startOpen"));
    open->setDefault(true);
    auto* folder = new QPushButton(tr("Open &folder …"), column);
    folder->setObjectName(QStringLiteral("startFolder"));
    m_sample = new QPushButton(tr("Open &sample"), column);
    m_sample->setObjectName(QStringLiteral("startSample"));
    open->setToolTip(tr("Choose trace files, or a saved session; the first trace becomes the baseline"));
    folder->setToolTip(tr("Open every trace that lies in a folder"));
    for (QPushButton* button : {open, folder, m_sample}) {
        button->setMinimumHeight(34);
        buttons->addWidget(button);
    }
    layout->addLayout(buttons);
    m_hint = label(tr("… or drop trace files or a folder of them anywhere here. The first file becomes the baseline."),
                   column, 1, true);
    layout->addWidget(m_hint);
    layout->addSpacing(18);

    m_recentTitle = label(tr("Recently open"), column, 1, false, true);
    layout->addWidget(m_recentTitle);
    m_recent = new QVBoxLayout;
    m_recent->setSpacing(0);
    layout->addLayout(m_recent);

    auto* across = new QHBoxLayout(this);
    across->addStretch();
    auto* down = new QVBoxLayout;
    down->addStretch(2);
    down->addWidget(column);
    down->addStretch(3);
    across->addLayout(down, 100);
    across->addStretch();

    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    connect(folder, &QPushButton::clicked, this, &StartPage::openFolderRequested);
    connect(m_sample, &QPushButton::clicked, this, &StartPage::sampleRequested);
    refresh();
}

void StartPage::refresh()
{
    const bool sample = !sampleFiles().isEmpty();
    m_sample->setEnabled(sample);
    m_sample->setToolTip(sample ? tr("A small real session: a baseline and four runs of one model")
                                : tr("The sample traces are not installed"));
    while (QLayoutItem* item = m_recent->takeAt(0)) {
        item->widget()->deleteLater();
        delete item;
    }
    const auto entries = recent::entries();
    m_recentTitle->setVisible(!entries.isEmpty());
    for (const RecentEntry& entry : entries.mid(0, 5)) {
        auto* button = new QPushButton(this);
        button->setObjectName(QStringLiteral("startRecent"));
        button->setFlat(true);
        const QString where = QDir::toNativeSeparators(QFileInfo(entry.front()).absolutePath());
        const QString text = tr("%1   —   %2").arg(recent::title(entry), where);
        button->setText(button->fontMetrics()
                            .elidedText(text, Qt::ElideMiddle, 520)
                            .replace(QLatin1Char('&'), QStringLiteral("&&")));
        button->setStyleSheet(QStringLiteral("text-align: left; padding: 5px 8px;"));
        button->setToolTip(entry.join(QLatin1Char('\n')));
        connect(button, &QPushButton::clicked, this, [this, entry] { emit recentRequested(entry); });
        m_recent->addWidget(button);
    }
}

void StartPage::setBusy(bool opening)
{
    m_hint->setText(
        opening ? tr("Opening …")
                : tr("… or drop trace files or a folder of them anywhere here. The first file becomes the baseline."));
}

} // namespace flipscope
