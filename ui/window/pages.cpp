// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/page.h"

#include "ui/window/heatmap_panel.h"

#include <QCoreApplication>
#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>

namespace flipscope {

namespace {

class LineIconEngine : public QIconEngine {
public:
    explicit LineIconEngine(std::function<void(QPainter&)> paint) : m_paint(std::move(paint)) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        const QPalette palette = QGuiApplication::palette();
        const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
        const double side = std::min(rect.width(), rect.height());
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->translate(QRectF(rect).center() - QPointF(side / 2, side / 2));
        painter->scale(side / 16, side / 16);
        painter->setPen(QPen(palette.color(group, QPalette::WindowText), 1.3));
        m_paint(*painter);
        painter->restore();
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap picture(size);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return picture;
    }
    QIconEngine* clone() const override { return new LineIconEngine(m_paint); }

private:
    std::function<void(QPainter&)> m_paint;
};

} // namespace

QIcon lineIcon(std::function<void(QPainter&)> paint)
{
    return QIcon(new LineIconEngine(std::move(paint)));
}

PageKind overviewPage()
{
    return {QStringLiteral("overviewPage"), QCoreApplication::translate("flipscope::Pages", "Overview"),
            lineIcon([](QPainter& p) {
                for (int row = 0; row < 3; ++row)
                    for (int column = 0; column < 3; ++column) {
                        const QRectF cell(1.5 + column * 4.5, 1.5 + row * 4.5, 4, 4);
                        p.fillRect(cell, (row + column) % 3 == 2 ? p.pen().brush() : QBrush(Qt::NoBrush));
                        p.drawRect(cell);
                    }
            }),
            [](Session* session, QWidget* parent) { return new HeatmapPanel(session, parent); },
            QCoreApplication::translate(
                "flipscope::Pages",
                "All runs over the whole history: the heatmap, and charts of windows and of single probes under it")};
}

QVector<PageKind> pageKinds()
{
    return {overviewPage(), comparePage(), toolCallsPage()};
}

} // namespace flipscope
