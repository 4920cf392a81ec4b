// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

namespace flipscope {

/// Whether the window is light or dark. System follows the desktop. HighContrast: white and yellow on black.
enum class ThemeChoice { System, Light, Dark, HighContrast };

ThemeChoice storedTheme();           ///< what was chosen last; System at first
void storeTheme(ThemeChoice choice); ///< for the next start
void applyTheme(ThemeChoice choice); ///< style and palette of the whole application, at once
bool paletteIsDark();                ///< as it is now
QColor mutedTextColor();             ///< readable, but behind the text proper
QColor warningColor();
QColor errorColor();

} // namespace flipscope
