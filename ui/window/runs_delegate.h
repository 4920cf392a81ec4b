// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace flipscope {

/// Paints a run: name over its badges, a swatch for the colour, an eye for shown or hidden.
class RunsDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;

private:
    static void paintName(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index);
    static void paintSwatch(QPainter* painter, const QRect& rect, const QColor& color);
    static void paintEye(QPainter* painter, const QRect& rect, const QColor& color, bool crossed);
};

} // namespace flipscope
