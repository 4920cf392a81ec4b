// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/figure_drawing.h"
#include "ui/models/column_unit.h"

#include <QVector>

#include <memory>

namespace flipscope {

/// Two columns of text as a figure.
struct TokensFigureSpec {
    QVector<ColumnUnit> units;
    QString titleA, titleB; ///< over the columns
    QString baseline;
    qint64 start = 0, end = 0; ///< tokens shown
};
std::shared_ptr<FigureDrawing> tokensFigure(TokensFigureSpec spec);

/// Tokens that a figure shows around a position.
inline constexpr qint64 tokensFigureReach = 160;

} // namespace flipscope
