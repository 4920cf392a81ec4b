// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/app_icon.h"

#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace flipscope {

QIcon appIcon()
{
    // Drawn here: Qt's own reading of SVG icons is a plugin that may be missing.
    QSvgRenderer drawing(QStringLiteral(":/flipscope/icons/flipscope.svg"));
    QIcon icon;
    for (const int size : {16, 24, 32, 48, 64, 128, 256}) {
        QPixmap picture(size, size);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        drawing.render(&painter);
        painter.end();
        icon.addPixmap(picture);
    }
    return icon;
}

} // namespace flipscope
