// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Zoom along the token axis: whole columns, because a cell is the least that the heatmap shows.
#include "ui/charts/chart_paint.h"
#include "ui/charts/heatmap_view_private.h"
#include "ui/charts/token_zoom.h"

#include <QKeyEvent>

#include <algorithm>
#include <cmath>

namespace flipscope {

bool HeatmapView::onAxis(const QPointF& point) const
{
    const QRectF plot = d->plot.plotRect().translated(0, -d->offset());
    return !grid().starts.empty() && point.x() >= plot.left() && point.x() <= plot.right() &&
           point.y() > plot.bottom() && point.y() < plot.bottom() + chart_paint::tokenAxisHeight;
}

double HeatmapView::columnAt(double x) const
{
    const QRectF plot = d->plot.plotRect();
    const double share = std::clamp((x - plot.left()) / plot.width(), 0.0, 1.0);
    return share * static_cast<double>(grid().starts.size());
}

void HeatmapView::zoom(double factor, double x)
{
    const HeatmapGrid& shown = grid();
    if (shown.starts.empty() || factor == 1)
        return;
    const qint64 width = shown.window_tokens;
    const auto columns = static_cast<qint64>(shown.starts.size());
    if (width <= 0) { // segments and turns: columns of any length
        const auto at = static_cast<std::size_t>(std::min<double>(columnAt(x), static_cast<double>(columns - 1)));
        emit rangeRequested(token_zoom::zoomed({shown.starts.front(), shown.ends.back()},
                                               static_cast<double>(shown.starts[at]), factor, shown.n_tokens));
        return;
    }
    const qint64 all = (shown.n_tokens + width - 1) / width;
    const double wanted = static_cast<double>(columns) * factor;
    const qint64 next = std::clamp<qint64>(factor < 1 ? std::min(columns - 1, std::llround(wanted))
                                                      : std::max(columns + 1, std::llround(wanted)),
                                           1, std::max<qint64>(all, 1));
    const double share = columnAt(x) / static_cast<double>(columns);
    const double anchor = static_cast<double>(shown.starts.front() / width) + columnAt(x);
    const qint64 first = std::clamp<qint64>(std::llround(anchor - share * static_cast<double>(next)), 0,
                                            std::max<qint64>(all - next, 0));
    emit rangeRequested({first * width, (first + next) * width});
}

void HeatmapView::moveRange(int columns)
{
    const HeatmapGrid& shown = grid();
    if (shown.starts.empty())
        return;
    const TokenRange range{shown.starts.front(), shown.ends.back()};
    if (shown.window_tokens <= 0) {
        emit rangeRequested(token_zoom::moved(range, columns * (range.end - range.start) / 8, shown.n_tokens));
        return;
    }
    const qint64 width = shown.window_tokens, all = (shown.n_tokens + width - 1) / width;
    const auto count = static_cast<qint64>(shown.starts.size());
    const qint64 first = std::clamp<qint64>(range.start / width + columns, 0, std::max<qint64>(all - count, 0));
    emit rangeRequested({first * width, (first + count) * width});
}

void HeatmapView::zoomToDragged(double from, double to)
{
    const auto last = static_cast<double>(grid().starts.size()) - 1;
    const auto first = static_cast<std::size_t>(std::min(columnAt(std::min(from, to)), last));
    const auto end = static_cast<std::size_t>(std::min(columnAt(std::max(from, to)), last));
    emit rangeRequested({grid().starts[first], grid().ends[end]});
}

bool HeatmapView::zoomKey(const QKeyEvent& event)
{
    if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier))
        return false;
    const QRectF cell = cellRect(std::max(currentRow(), 0), currentColumn());
    const double x = cell.isNull() ? d->plot.plotRect().center().x() : cell.center().x();
    switch (event.key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(0.5, x);
        return true;
    case Qt::Key_Minus:
        zoom(2, x);
        return true;
    case Qt::Key_0:
        emit rangeRequested({});
        return true;
    default:
        return false;
    }
}

} // namespace flipscope
