// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/chart_style.h"

#include <QGraphicsItem>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <QStringList>

#include <functional>
#include <string>

class QGraphicsScene;

namespace flipscope {

/// A figure that is no chart over windows or probes of all runs: knows how to draw itself, what to say under the
/// drawing, and what its numbers are.
class FigureDrawing {
public:
    virtual ~FigureDrawing() = default;
    /// Height that it needs in a figure of that width, without the caption.
    virtual double minimumHeight(double width, const ChartStyle& style) = 0;
    virtual void addTo(QGraphicsScene& scene, const QRectF& area, const ChartStyle& style) = 0;
    virtual QString title() const = 0;
    virtual QStringList caption() const = 0; ///< what stands under it before the method
    virtual std::string csv() const = 0;
};

/// A piece of a scene that a function paints.
class PaintItem : public QGraphicsItem {
public:
    PaintItem(const QRectF& rect, std::function<void(QPainter&)> paint) : m_rect(rect), m_paint(std::move(paint)) {}
    QRectF boundingRect() const override { return m_rect; }
    void paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) override
    {
        painter->save();
        m_paint(*painter);
        painter->restore();
    }

private:
    QRectF m_rect;
    std::function<void(QPainter&)> m_paint;
};

} // namespace flipscope
