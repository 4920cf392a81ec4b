// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QToolTip>
#include <QWidget>

namespace flipscope {

/// Shows plain lines: names and tool calls come from files and must not be taken for markup. Empty text hides it.
inline void showToolTip(QWidget* widget, const QPoint& globalPos, const QString& text)
{
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(globalPos,
                           QStringLiteral("<p style='white-space:pre-wrap; margin:0'>") + text.toHtmlEscaped() +
                               QStringLiteral("</p>"),
                           widget);
}

} // namespace flipscope
