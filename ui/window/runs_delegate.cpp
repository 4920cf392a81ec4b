// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/runs_delegate.h"

#include "ui/window/runs_model.h"
#include "ui/window/theme.h"

#include <QApplication>
#include <QPainter>
#include <QPainterPath>

namespace flipscope {

namespace {

QFont smaller(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 0.87);
    return font;
}

SessionRun::State stateOf(const QModelIndex& index)
{
    return static_cast<SessionRun::State>(index.data(RunsModel::StateRole).toInt());
}

} // namespace

void RunsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const bool drawn =
        index.column() == RunsModel::Name || index.column() == RunsModel::Colour || index.column() == RunsModel::Shown;
    if (!drawn) {
        QStyleOptionViewItem plain(option);
        if (index.column() == RunsModel::Star && stateOf(index) == SessionRun::State::Baseline)
            plain.palette.setColor(QPalette::Text, warningColor());
        QStyledItemDelegate::paint(painter, plain, index);
        return;
    }
    QStyleOptionViewItem background(option);
    initStyleOption(&background, index);
    background.text.clear();
    background.icon = {};
    background.features &= ~QStyleOptionViewItem::HasDecoration;
    QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &background, painter, option.widget);

    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool selected = option.state & QStyle::State_Selected;
    const QColor text = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
    if (index.column() == RunsModel::Name)
        paintName(painter, option, index);
    else if (index.column() == RunsModel::Colour)
        paintSwatch(painter, option.rect, index.data(Qt::DecorationRole).value<QColor>());
    else if (stateOf(index) != SessionRun::State::Baseline)
        paintEye(painter, option.rect, text, index.data(RunsModel::HiddenRole).toBool());
    painter->restore();
}

void RunsDelegate::paintName(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index)
{
    const bool selected = option.state & QStyle::State_Selected;
    const bool hidden = index.data(RunsModel::HiddenRole).toBool();
    const QColor strong = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
    QColor weak = selected ? strong : mutedTextColor();
    if (!selected && stateOf(index) == SessionRun::State::Failed)
        weak = errorColor();

    QFont nameFont = option.font;
    nameFont.setBold(stateOf(index) == SessionRun::State::Baseline);
    const QFont badgeFont = smaller(option.font);
    const QFontMetrics nameMetrics(nameFont), badgeMetrics(badgeFont);
    const QRect area = option.rect.adjusted(4, 0, -4, 0);
    const int height = nameMetrics.height() + badgeMetrics.height();
    const int top = area.top() + (area.height() - height) / 2;

    painter->setFont(nameFont);
    painter->setPen(hidden && !selected ? mutedTextColor() : strong);
    painter->drawText(QRect(area.left(), top, area.width(), nameMetrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                      nameMetrics.elidedText(index.data().toString(), Qt::ElideMiddle, area.width()));
    painter->setFont(badgeFont);
    painter->setPen(weak);
    painter->drawText(
        QRect(area.left(), top + nameMetrics.height(), area.width(), badgeMetrics.height()),
        Qt::AlignLeft | Qt::AlignVCenter,
        badgeMetrics.elidedText(index.data(RunsModel::BadgeRole).toString(), Qt::ElideRight, area.width()));
}

void RunsDelegate::paintSwatch(QPainter* painter, const QRect& rect, const QColor& color)
{
    QRectF swatch(0, 0, 12, 12);
    swatch.moveCenter(QRectF(rect).center());
    painter->setPen(QPen(color.darker(130), 1));
    painter->setBrush(color);
    painter->drawRoundedRect(swatch, 2.5, 2.5);
}

void RunsDelegate::paintEye(QPainter* painter, const QRect& rect, const QColor& color, bool crossed)
{
    const QPointF c = QRectF(rect).center();
    QPainterPath lid(c + QPointF(-7, 0));
    lid.quadTo(c + QPointF(0, -8), c + QPointF(7, 0));
    lid.quadTo(c + QPointF(0, 8), c + QPointF(-7, 0));
    QColor ink = color;
    ink.setAlphaF(crossed ? 0.5F : 0.8F);
    painter->setPen(QPen(ink, 1.2));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(lid);
    painter->setBrush(ink);
    painter->drawEllipse(c, 1.8, 1.8);
    if (crossed)
        painter->drawLine(c + QPointF(-6, 5), c + QPointF(6, -5));
}

QSize RunsDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setHeight(QFontMetrics(option.font).height() + QFontMetrics(smaller(option.font)).height() + 10);
    return size;
}

void RunsDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex&) const
{
    QRect rect = option.rect;
    rect.setHeight(editor->sizeHint().height());
    rect.moveTop(option.rect.top() + (option.rect.height() - rect.height()) / 2);
    editor->setGeometry(rect);
}

} // namespace flipscope
