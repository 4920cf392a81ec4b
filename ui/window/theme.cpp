// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/theme.h"

#include <QApplication>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QSettings>
#include <QStyleFactory>
#include <QStyleOption>

namespace flipscope {

namespace {

const QString themeKey = QStringLiteral("window/theme");

QPalette makePalette(const QColor& window, const QColor& base, const QColor& alternate, const QColor& button,
                     const QColor& text, const QColor& faint, const QColor& highlight, const QColor& highlighted)
{
    QPalette p(button, window);
    p.setColor(QPalette::Window, window);
    p.setColor(QPalette::Base, base);
    p.setColor(QPalette::AlternateBase, alternate);
    p.setColor(QPalette::ToolTipBase, alternate);
    p.setColor(QPalette::ToolTipText, text);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(role, text);
    p.setColor(QPalette::PlaceholderText, faint);
    p.setColor(QPalette::Highlight, highlight);
    p.setColor(QPalette::HighlightedText, highlighted);
    p.setColor(QPalette::Link, highlight);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
        p.setColor(QPalette::Disabled, role, faint);
    p.setColor(QPalette::Disabled, QPalette::Highlight, button);
    return p;
}

QPalette lightPalette()
{
    return makePalette(QColor(0xf3f4f5), QColor(0xffffff), QColor(0xf6f7f8), QColor(0xeceef0), QColor(0x1f2328),
                       QColor(0x6b7280), QColor(0x2f6fb3), QColor(0xffffff));
}

QPalette darkPalette()
{
    return makePalette(QColor(0x23262a), QColor(0x1a1d20), QColor(0x212529), QColor(0x2e3338), QColor(0xe4e6e8),
                       QColor(0x8b949e), QColor(0x4a90d0), QColor(0x0d1014));
}

QPalette contrastPalette()
{
    return makePalette(QColor(Qt::black), QColor(Qt::black), QColor(0x141414), QColor(0x1c1c1c), QColor(0xffffff),
                       QColor(0xd0d0d0), QColor(0xffd60a), QColor(Qt::black));
}

/// Fusion outlines boxes to check in a darker tone than the window's, which nobody sees on a dark one.
class SeenBoxes : public QProxyStyle {
public:
    SeenBoxes() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override
    {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        const bool box = element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck;
        if (!box || option->palette.color(QPalette::Window).lightness() >= 128)
            return;
        painter->save();
        painter->setPen(option->palette.color(QPalette::PlaceholderText));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5));
        painter->restore();
    }
};

const QString names[] = {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark"),
                         QStringLiteral("contrast")};

} // namespace

ThemeChoice storedTheme()
{
    const QString name = QSettings().value(themeKey).toString();
    for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark, ThemeChoice::HighContrast})
        if (name == names[static_cast<int>(choice)])
            return choice;
    return ThemeChoice::System;
}

void storeTheme(ThemeChoice choice)
{
    QSettings().setValue(themeKey, names[static_cast<int>(choice)]);
}

void applyTheme(ThemeChoice choice)
{
    // The palette that the desktop gave, as it was before we set one.
    static const QPalette ofSystem = QApplication::palette();
    static const bool systemIsDark = ofSystem.color(QPalette::Window).lightness() < 128;
#ifndef __clang_analyzer__ // which does not know that the application owns its style
    if (dynamic_cast<const SeenBoxes*>(QApplication::style()) == nullptr)
        QApplication::setStyle(new SeenBoxes);
#endif
    const bool dark = choice == ThemeChoice::Dark || (choice == ThemeChoice::System && systemIsDark);
    QApplication::setPalette(choice == ThemeChoice::HighContrast ? contrastPalette()
                             : dark                              ? darkPalette()
                                                                 : lightPalette());
}

bool paletteIsDark()
{
    return QApplication::palette().color(QPalette::Window).lightness() < 128;
}

QColor mutedTextColor()
{
    return QApplication::palette().color(QPalette::PlaceholderText);
}

QColor warningColor()
{
    return paletteIsDark() ? QColor(0xe3b341) : QColor(0x9a6700);
}

QColor errorColor()
{
    return paletteIsDark() ? QColor(0xff7b72) : QColor(0xb3261e);
}

} // namespace flipscope
