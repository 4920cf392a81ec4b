// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/chart_style.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPalette>

#include <array>

namespace flipscope {

namespace {

QFont chartFont()
{
    QFont font(QStringLiteral("Inter"));
    font.setStyleHint(QFont::SansSerif);
    font.setPixelSize(12);
    // Unhinted letters keep their widths at every scale factor and in every export.
    font.setHintingPreference(QFont::PreferNoHinting);
    return font;
}

// Okabe and Ito's order of hues, with the lightness moved until every one has a contrast of 3 : 1 with its background.
constexpr std::array<QRgb, 8> runColorsOnLight{0x0072b2, 0xd55e00, 0x008f68, 0xb8568f,
                                               0xa87000, 0x3389bd, 0x6a51a3, 0x5f6b76};
constexpr std::array<QRgb, 8> runColorsOnDark{0x4da3e0, 0xf0813a, 0x2fc79a, 0xe296c4,
                                              0xedb32f, 0x7fcbf7, 0xa995e0, 0xa9b4be};

} // namespace

ChartStyle ChartStyle::light()
{
    ChartStyle s;
    s.theme = Theme::Light;
    s.background = QColor(0xffffff);
    s.plot = QColor(0xf6f7f9);
    s.grid = QColor(0xe3e6ea);
    s.text = QColor(0x1d2329);
    s.mutedText = QColor(0x5a6570);
    s.accent = QColor(0x1668c7);
    s.missing = QColor(0xeceff2);
    s.invalid = QColor(0xf7d6d0);
    s.font = chartFont();
    return s;
}

ChartStyle ChartStyle::dark()
{
    ChartStyle s;
    s.theme = Theme::Dark;
    s.background = QColor(0x1c2025);
    s.plot = QColor(0x23282e);
    s.grid = QColor(0x333a42);
    s.text = QColor(0xe7eaed);
    s.mutedText = QColor(0x9ca7b2);
    s.accent = QColor(0x6cb4ff);
    s.missing = QColor(0x2b3138);
    s.invalid = QColor(0x5c2a26);
    s.font = chartFont();
    return s;
}

ChartStyle ChartStyle::ofPalette()
{
    const QPalette palette = QApplication::palette();
    const bool dark = palette.color(QPalette::Window).lightnessF() < palette.color(QPalette::WindowText).lightnessF();
    return dark ? ChartStyle::dark() : ChartStyle::light();
}

QColor ChartStyle::runColor(int index) const
{
    const auto& colors = theme == Theme::Dark ? runColorsOnDark : runColorsOnLight;
    const int n = static_cast<int>(colors.size());
    const int i = std::max(index, 0);
    const QColor color = QColor::fromRgb(colors[static_cast<std::size_t>(i % n)]);
    // A ninth run and those after it take the hues again, further from the background.
    const int round = std::min(i / n, 3);
    return theme == Theme::Dark ? color.lighter(100 + 18 * round) : color.darker(100 + 40 * round);
}

void loadExportFonts()
{
    static bool loaded = false;
    if (loaded)
        return;
    loaded = true;
    for (const char* name : {"Inter-Regular.otf", "Inter-SemiBold.otf"})
        QFontDatabase::addApplicationFont(QStringLiteral(":/flipscope/fonts/") + QLatin1StringView(name));
}

} // namespace flipscope
