// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>

class QChart;

namespace flipscope {

/// Colours and fonts of charts; the one place that knows light from dark. Qt Charts ignores the palette.
struct ChartStyle {
    enum class Theme { Light, Dark };
    Theme theme = Theme::Light;
    QColor background, plot, grid, text, mutedText, accent, missing, invalid;
    QFont font; ///< the export font that ships with the program

    static ChartStyle light();
    static ChartStyle dark();
    static ChartStyle ofPalette();    ///< by the lightness of the application's palette
    QColor runColor(int index) const; ///< qualitative, distinct for colour-blind eyes, same order everywhere
};

/// Registers the fonts in resources/fonts; call once after the application object was made.
void loadExportFonts();

} // namespace flipscope
