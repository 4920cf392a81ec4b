// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/banner_bar.h"

#include "ui/window/theme.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>

#include <algorithm>

namespace flipscope {

namespace {

QColor backgroundOf(Banner::Level level)
{
    const bool dark = paletteIsDark();
    switch (level) {
    case Banner::Level::Note:
        return dark ? QColor(0x233240) : QColor(0xe7f0f9);
    case Banner::Level::Warning:
        return dark ? QColor(0x3a3018) : QColor(0xfdf3d7);
    case Banner::Level::Error:
        return dark ? QColor(0x44211f) : QColor(0xfbe5e3);
    }
    return {};
}

} // namespace

BannerBar::BannerBar(Session* session, QWidget* parent) : QFrame(parent), m_session(session)
{
    setObjectName(QStringLiteral("bannerBar"));
    setAutoFillBackground(true);
    m_icon = new QLabel(this);
    m_text = new QLabel(this);
    m_text->setObjectName(QStringLiteral("bannerText"));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_count = new QLabel(this);
    const auto button = [this](const QString& text, const QString& name) {
        auto* made = new QToolButton(this);
        made->setText(text);
        made->setAccessibleName(name);
        made->setToolTip(name);
        made->setAutoRaise(true);
        return made;
    };
    m_action = new QToolButton(this);
    m_action->setObjectName(QStringLiteral("bannerAction"));
    m_action->setToolTip(tr("Does what the message proposes"));
    m_previous = button(QStringLiteral("‹"), tr("Previous message"));
    m_next = button(QStringLiteral("›"), tr("Next message"));
    m_next->setObjectName(QStringLiteral("bannerNext"));
    m_close = button(QStringLiteral("✕"), tr("Dismiss this message"));
    m_close->setObjectName(QStringLiteral("bannerDismiss"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(10, 5, 6, 5);
    layout->addWidget(m_icon);
    layout->addWidget(m_text, 1);
    for (QWidget* widget :
         {static_cast<QWidget*>(m_action), static_cast<QWidget*>(m_previous), static_cast<QWidget*>(m_count),
          static_cast<QWidget*>(m_next), static_cast<QWidget*>(m_close)})
        layout->addWidget(widget);
    connect(m_action, &QToolButton::clicked, this, &BannerBar::act);

    connect(m_previous, &QToolButton::clicked, this, [this] { step(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { step(1); });
    connect(m_close, &QToolButton::clicked, this, [this] {
        const auto& banners = m_session->banners();
        if (m_index < static_cast<qsizetype>(banners.size()))
            m_session->dismiss(Banner(banners[static_cast<std::size_t>(m_index)]));
    });
    connect(session, &Session::bannersChanged, this, &BannerBar::follow);
    follow();
}

QString BannerBar::text() const
{
    return isHidden() ? QString() : m_text->text();
}

void BannerBar::act()
{
    const auto& banners = m_session->banners();
    if (m_index >= static_cast<qsizetype>(banners.size()))
        return;
    const Banner banner = banners[static_cast<std::size_t>(m_index)]; // the list may change under our hands
    if (banner.action == Banner::Action::Shift)
        m_session->shift(banner.run);
    else if (banner.action == Banner::Action::Hints)
        emit hintsRequested(banner.run, banner.file, banner.text);
}

void BannerBar::follow()
{
    show(std::min(m_index, static_cast<qsizetype>(m_session->banners().size()) - 1));
}

void BannerBar::step(int by)
{
    const auto count = static_cast<qsizetype>(m_session->banners().size());
    if (count > 0)
        show((m_index + by + count) % count);
}

void BannerBar::show(qsizetype index)
{
    const auto& banners = m_session->banners();
    m_index = std::max<qsizetype>(index, 0);
    setVisible(!banners.empty());
    if (banners.empty())
        return;
    const Banner& banner = banners[static_cast<std::size_t>(m_index)];
    const bool more = banners.size() > 1;
    m_text->setText(banner.text);
    m_text->setAccessibleName(banner.text);
    const bool shift = banner.action == Banner::Action::Shift;
    m_action->setVisible(banner.action != Banner::Action::None);
    m_action->setText(shift ? tr("Compare &shifted by one token") : tr("&How to read it …"));
    m_action->setToolTip(shift ? tr("Its positions count one less or one more, and it is said wherever they stand")
                               : tr("Say what the file does not: axes, positions, ids, type, padding"));
    m_action->setAccessibleName(shift ? tr("Compare shifted by one token") : tr("How to read it"));
    m_count->setText(tr("%1 of %2").arg(m_index + 1).arg(banners.size()));
    for (QWidget* widget :
         {static_cast<QWidget*>(m_previous), static_cast<QWidget*>(m_count), static_cast<QWidget*>(m_next)})
        widget->setVisible(more);
    const auto icon = banner.level == Banner::Level::Note      ? QStyle::SP_MessageBoxInformation
                      : banner.level == Banner::Level::Warning ? QStyle::SP_MessageBoxWarning
                                                               : QStyle::SP_MessageBoxCritical;
    m_icon->setPixmap(style()->standardIcon(icon).pixmap(16, 16));
    QPalette colours = palette();
    colours.setColor(QPalette::Window, backgroundOf(banner.level));
    setPalette(colours);
}

} // namespace flipscope
