// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/share_delegate.h"

#include "ui/models/token_shares_model.h"

#include <QApplication>
#include <QPainter>

#include <algorithm>

namespace flipscope {

namespace {

QString tokenText(const QModelIndex& index)
{
    const QString text = index.data().toString();
    return index.data(NextRole).toBool() ? QStringLiteral("➤ ") + text : text;
}

QString idText(const QModelIndex& index)
{
    const QString id = QStringLiteral("#%1").arg(index.data(IdRole).toInt());
    return index.data().toString() == id ? QString() : id; // an id without text is its own label
}

} // namespace

void ShareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const QVariant bar = index.data(BarRole);
    const bool isToken = index.data(IdRole).isValid();
    if (!bar.isValid() && !isToken)
        return QStyledItemDelegate::paint(painter, option, index);

    item.text.clear();
    const QStyle* style = item.widget ? item.widget->style() : QApplication::style();
    style->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
    const bool selected = item.state & QStyle::State_Selected;
    QColor ink = item.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
    painter->save();
    const QRect cell = item.rect.adjusted(4, 0, -4, 0);
    if (bar.isValid()) {
        QColor fill = selected ? ink : item.palette.color(QPalette::Highlight);
        fill.setAlphaF(0.3F);
        const QRectF full = QRectF(item.rect).adjusted(2, 3, -2, -3);
        painter->fillRect(QRectF(full.left(), full.top(), full.width() * bar.toDouble(), full.height()), fill);
        painter->setPen(ink);
        painter->drawText(cell, Qt::AlignRight | Qt::AlignVCenter, index.data().toString());
    } else {
        QFont font = item.font;
        font.setBold(index.data(NextRole).toBool());
        painter->setFont(font);
        painter->setPen(ink);
        const QString id = idText(index);
        const QFontMetrics metrics(font), plain(item.font);
        const int idWidth = plain.horizontalAdvance(id);
        // The text matters more than the id: that is left out first.
        const QString text = tokenText(index);
        const bool both = metrics.horizontalAdvance(text) + idWidth + 8 <= cell.width();
        painter->drawText(cell, Qt::AlignLeft | Qt::AlignVCenter,
                          metrics.elidedText(text, Qt::ElideRight, cell.width()));
        if (both) {
            ink.setAlphaF(0.6F);
            painter->setFont(item.font);
            painter->setPen(ink);
            painter->drawText(cell, Qt::AlignRight | Qt::AlignVCenter, id);
        }
    }
    painter->restore();
}

QSize ShareDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    const int character = option.fontMetrics.averageCharWidth();
    if (index.data(BarRole).isValid()) // what paint() leaves free on both sides, and the line beside the cell
        size.setWidth(std::max(size.width(), option.fontMetrics.horizontalAdvance(index.data().toString()) + 10));
    if (index.data(BarRole).isValid() && option.widget && option.widget->width() > 60 * character)
        size.setWidth(size.width() + 5 * character); // room in which a bar says something
    if (index.data(IdRole).isValid()) {
        QFont bold = option.font;
        bold.setBold(true);
        size.setWidth(QFontMetrics(bold).horizontalAdvance(tokenText(index)) +
                      QFontMetrics(option.font).horizontalAdvance(idText(index)) + 20);
    }
    return size;
}

} // namespace flipscope
