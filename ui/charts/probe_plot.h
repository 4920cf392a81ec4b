// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/probe_chart.h"
#include "ui/charts/chart_style.h"
#include "ui/charts/probe_points.h"

#include <QGraphicsScene>
#include <QPainter>
#include <QPainterPath>
#include <QPointF>
#include <QString>
#include <QVector>

#include <memory>
#include <span>
#include <vector>

namespace flipscope {

/// A chart over single probes in a scene, from (0, 0) on. This class draws what all of them share (title, legend of
/// runs, key of flips, empty state) and keeps data and layout; the charts themselves are in position_plot.cpp,
/// distribution_plot.cpp, margin_plot.cpp and agreement_plot.cpp. The window shows it, figures print it.
class ProbePlot {
public:
    enum class Kind {
        Position,     ///< KL over position
        Distribution, ///< histogram and cumulative share of KL
        Margin,       ///< margin of the baseline against KL
        Agreement,    ///< top-1 agreement over position
    };
    static std::unique_ptr<ProbePlot> make(Kind kind, QGraphicsScene* scene);
    virtual ~ProbePlot();
    ProbePlot(const ProbePlot&) = delete;
    ProbePlot& operator=(const ProbePlot&) = delete;

    void setData(const ProbeChartData& data, const QVector<QColor>& runColors);
    void setStyle(const ChartStyle& style);
    void setSize(const QSizeF& size);
    /// The run that is drawn before the others (-1 = none stands out), and the probe that is looked at (-1 = none).
    /// False where they are so already.
    bool setCurrent(int row, qint64 position);

    const ProbeChartData& data() const { return m_data; }
    const ChartStyle& style() const { return m_style; }
    const KlHistogram* histogram() const { return m_histogram ? &*m_histogram : nullptr; } ///< distribution only
    int currentRow() const { return m_currentRow; }
    QRectF plotRect() const { return m_plot; }
    double minimumHeight() const;
    /// Title and description, also for files and screen readers.
    virtual QString title() const = 0;
    virtual QString subtitle() const = 0;

    /// What lies under a point.
    struct Hit {
        int row = -1;         ///< run; -1 = nothing near
        qint64 position = -1; ///< of the probe; -1 = not about one probe
        QPointF at;
    };
    virtual Hit hitAt(const QPointF& point) const = 0;
    virtual QString toolTip(const Hit& hit) const;
    /// Where a run's probe is drawn; a null point where it is not.
    virtual QPointF pointOf(int row, qint64 position) const;
    /// Follows the mouse; not part of the scene, so that the scene can be kept as a picture. `range`: the window that
    /// the mouse is over in another view.
    virtual void paintHover(QPainter& p, const Hit& hit, const TokenRange& range) const;

    /// Does x run along the history? Then these turn one into the other.
    virtual bool hasTokenAxis() const { return false; }
    double tokenAt(double x) const;
    double xOfToken(double token) const;

protected:
    explicit ProbePlot(QGraphicsScene* scene);

    virtual void prepare() {}                      ///< the data has changed
    virtual void layOutPlot() {}                   ///< m_plot has changed
    virtual void paintBack(QPainter& p) const = 0; ///< axes and what lies under the marks
    virtual void paintMarks(QPainter& p) const = 0;
    void paintCurrent(QPainter& p) const; ///< the ring round the probe that is looked at
    virtual bool showsFlipKinds() const { return false; }
    virtual double axisHeight() const;

    int rows() const { return static_cast<int>(m_data.runs.size()); }
    std::span<const ProbeMetrics> probes(int row) const { return m_data.probes(static_cast<std::size_t>(row)); }
    /// The same for drawing, where a chart asked for them in prepare().
    std::span<const ProbePoint> points(int row) const { return m_shown[static_cast<std::size_t>(row)]; }
    void takePoints();
    const ProbeMetrics* probeAt(int row, qint64 position) const;
    QString nameOf(int row) const;
    QColor colorOf(int row) const;   ///< of the run
    QColor inkOf(int row) const;     ///< the same, paler where another run stands out
    QVector<int> paintOrder() const; ///< the run that stands out comes last, the floor first
    void update();
    void layOut();

    /// The mark of a flip: hollow for a tie, half for one step, full otherwise.
    static void paintFlip(QPainter& p, FlipKind kind, const QPointF& at, double radius, const QColor& ink,
                          const QColor& paper);
    static bool isVector(const QPainter& p);

    QGraphicsScene* m_scene;
    ProbeChartData m_data;
    std::vector<std::shared_ptr<const ProbePoints>> m_points; ///< per run; null without a table
    std::vector<std::span<const ProbePoint>> m_shown;         ///< of them, those in the range
    std::optional<KlHistogram> m_histogram;
    ChartStyle m_style = ChartStyle::light();
    QSizeF m_size;
    QRectF m_plot;
    int m_currentRow = -1, m_floorRow = -1;
    qint64 m_currentPosition = -1;

private:
    class Layer;
    void paintFrame(QPainter& p) const;
    void paintLegend(QPainter& p) const;
    double paintFlipKey(QPainter& p, double right) const;

    QVector<QColor> m_runColors;
    Layer *m_back, *m_front;
};

/// Shown as hits of the mouse: "probe 41,376".
QString probeWords(qint64 position);

} // namespace flipscope
