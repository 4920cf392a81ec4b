// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/figure.h"

#include "core/base/file.h"
#include "core/report/report.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/heatmap_plot.h"
#include "ui/charts/line_plot.h"

#include <QBuffer>
#include <QFileInfo>
#include <QGraphicsScene>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <QTextLayout>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr QSize least_size{320, 200};
constexpr int most_side = 20'000;     // pixels at 96 dpi
constexpr double most_pixels = 120e6; // of a PNG: half a gigabyte of memory
constexpr double caption_line = 15;
constexpr double caption_gap = 12; // above and below the block

/// Lines of the caption as they fit into the figure's width.
QStringList wrapped(const QStringList& lines, double width, const QFont& font)
{
    QStringList out;
    for (const QString& line : lines) {
        QTextLayout layout(line, font);
        QTextOption option;
        option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
        layout.setTextOption(option);
        layout.beginLayout();
        for (QTextLine piece = layout.createLine(); piece.isValid(); piece = layout.createLine()) {
            piece.setLineWidth(width);
            out << line.mid(piece.textStart(), piece.textLength()).trimmed();
        }
        layout.endLayout();
    }
    return out;
}

class CaptionItem : public QGraphicsItem {
public:
    CaptionItem(QStringList lines, const QRectF& rect, const ChartStyle& style)
        : m_lines(std::move(lines)), m_rect(rect), m_style(style)
    {
        setZValue(5);
    }
    QRectF boundingRect() const override { return m_rect; }
    void paint(QPainter* p, const QStyleOptionGraphicsItem*, QWidget*) override
    {
        p->save();
        p->setRenderHint(QPainter::Antialiasing, true);
        const double left = m_rect.left() + chart_paint::margin, width = m_rect.width() - 2 * chart_paint::margin;
        p->setPen(QPen(m_style.grid, 1));
        p->drawLine(QPointF(left, m_rect.top() + 0.5), QPointF(left + width, m_rect.top() + 0.5));
        double y = m_rect.top() + caption_gap - 3;
        for (const QString& line : m_lines) {
            chart_paint::text(*p, QRectF(left, y, width, caption_line), line, chart_paint::font(m_style, 10),
                              m_style.mutedText);
            y += caption_line;
        }
        p->restore();
    }

private:
    QStringList m_lines;
    QRectF m_rect;
    ChartStyle m_style;
};

/// The figure as a scene, ready to be painted on anything.
class Figure {
public:
    explicit Figure(const FigureSpec& spec)
        : m_style(spec.theme == ChartStyle::Theme::Dark ? ChartStyle::dark() : ChartStyle::light()), m_size(spec.size)
    {
        m_scene.setBackgroundBrush(m_style.background);
        m_scene.setSceneRect(QRectF(QPointF(0, 0), m_size));
        m_lines =
            wrapped(figureCaption(spec), m_size.width() - 2 * chart_paint::margin, chart_paint::font(m_style, 10));
        const double caption = static_cast<double>(m_lines.size()) * caption_line + 2 * caption_gap - 4;
        if (spec.drawing) {
            const QRectF area(0, 0, m_size.width(), m_size.height() - caption);
            m_needed = static_cast<int>(std::ceil(spec.drawing->minimumHeight(area.width(), m_style) + caption));
            spec.drawing->addTo(m_scene, area, m_style);
        } else if (spec.chart == FigureSpec::Chart::Heatmap) {
            m_heatmap.emplace(&m_scene);
            m_heatmap->setStyle(m_style);
            m_heatmap->setMaximumRowHeight(140);
            m_heatmap->setGrid(spec.grid, spec.scale);
            m_heatmap->setSize(QSizeF(m_size.width(), m_size.height() - caption));
            m_needed = static_cast<int>(std::ceil(m_heatmap->minimumHeight() + caption));
        } else if (const auto kind = probePlotOf(spec.chart)) {
            m_probePlot = ProbePlot::make(*kind, &m_scene);
            m_probePlot->setStyle(m_style);
            m_probePlot->setData(spec.probes, spec.runColors);
            m_probePlot->setSize(QSizeF(m_size.width(), m_size.height() - caption));
            m_needed = static_cast<int>(std::ceil(m_probePlot->minimumHeight() + caption));
        } else {
            m_linePlot.emplace(&m_scene);
            m_linePlot->setStyle(m_style);
            m_linePlot->setGrid(spec.grid, spec.runColors);
            m_linePlot->setLogAxis(spec.chart == FigureSpec::Chart::Kl);
            m_linePlot->setSize(QSizeF(m_size.width(), m_size.height() - caption));
            m_needed = static_cast<int>(std::ceil(m_linePlot->minimumHeight() + caption));
        }
        const double top =
            m_heatmap ? std::min(m_heatmap->usedHeight() + 8, m_size.height() - caption) : m_size.height() - caption;
        m_scene.addItem(new CaptionItem(m_lines, QRectF(0, top, m_size.width(), caption), m_style));
    }

    int minimumHeight() const { return m_needed; }

    void paint(QPaintDevice& device, const QRectF& target)
    {
        QPainter painter(&device);
        painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing | QPainter::LosslessImageRendering);
        m_scene.render(&painter, target, m_scene.sceneRect(), Qt::IgnoreAspectRatio);
    }

private:
    ChartStyle m_style;
    QSizeF m_size;
    QGraphicsScene m_scene;
    std::optional<HeatmapPlot> m_heatmap;
    std::optional<LinePlot> m_linePlot;
    std::unique_ptr<ProbePlot> m_probePlot;
    QStringList m_lines;
    int m_needed = 0;
};

Result<void> checkSize(const FigureSpec& spec, bool png)
{
    const QSize size = spec.size;
    if (size.width() < least_size.width() || size.height() < least_size.height() || size.width() > most_side ||
        size.height() > most_side)
        return fail(ErrorKind::Usage, "A figure of {} × {} pixels cannot be drawn: choose {} × {} to {} × {}.",
                    size.width(), size.height(), least_size.width(), least_size.height(), most_side, most_side);
    if (!png)
        return {};
    if (spec.dpi < 24 || spec.dpi > 2400)
        return fail(ErrorKind::Usage, "A resolution of {} dpi cannot be written: choose 24 to 2400.", spec.dpi);
    const double scale = spec.dpi / 96.0;
    const double pixels = size.width() * scale * size.height() * scale;
    if (pixels > most_pixels)
        return fail(ErrorKind::Usage,
                    "A figure of {} × {} at {} dpi has {:.0f} million pixels, more than the {:.0f} million that can be "
                    "written: choose fewer dpi, or a format without pixels (.svg, .pdf).",
                    size.width(), size.height(), spec.dpi, pixels / 1e6, most_pixels / 1e6);
    return {};
}

QByteArray png(Figure& figure, const FigureSpec& spec, const QString& title, const QString& description)
{
    const double scale = spec.dpi / 96.0;
    QImage image((QSizeF(spec.size) * scale).toSize(), QImage::Format_RGB32);
    if (image.isNull())
        return {};
    figure.paint(image, QRectF(image.rect()));
    image.setDotsPerMeterX(static_cast<int>(std::lround(spec.dpi / 0.0254)));
    image.setDotsPerMeterY(image.dotsPerMeterX());
    image.setText(u"Title"_s, title);
    image.setText(u"Description"_s, description);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    return image.save(&buffer, "PNG") ? bytes : QByteArray();
}

QByteArray svg(Figure& figure, const FigureSpec& spec, const QString& title, const QString& description)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(spec.size);
    generator.setViewBox(QRect(QPoint(0, 0), spec.size));
    generator.setResolution(96); // else letters come out too small
    figure.paint(generator, QRectF(QPointF(0, 0), spec.size));
    buffer.close();
    // The generator writes title and description as they are, names with & and < in them too: so we do it.
    const QString about =
        u"\n<title>"_s + title.toHtmlEscaped() + u"</title>\n<desc>"_s + description.toHtmlEscaped() + u"</desc>"_s;
    bytes.insert(bytes.indexOf('>', bytes.indexOf("<svg")) + 1, about.toUtf8());
    // Where the font is not installed the nearest of its kind serves.
    bytes.replace("font-family=\"Inter\"", "font-family=\"Inter, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif\"");
    return bytes;
}

QByteArray pdf(Figure& figure, const FigureSpec& spec, const QString& title)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setTitle(title);
        writer.setCreator(u"Flipscope"_s);
        writer.setPageSize(QPageSize(QSizeF(spec.size) * 0.75, QPageSize::Point, u"figure"_s, QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF(0, 0, 0, 0));
        writer.setResolution(96 * 8);
        figure.paint(writer, QRectF(QPointF(0, 0), QSizeF(spec.size) * 8));
    }
    return bytes;
}

/// Charts over windows and over single probes differ in what they are about.
QString titleOf(const FigureSpec& spec)
{
    const auto kind = probePlotOf(spec.chart);
    if (!kind)
        return chart_text::title(spec.grid);
    QGraphicsScene scene;
    const auto plot = ProbePlot::make(*kind, &scene);
    plot->setData(spec.probes, {});
    return plot->title();
}

std::string csvOf(const FigureSpec& spec)
{
    switch (spec.chart) {
    case FigureSpec::Chart::Position:
        return position_csv(spec.probes);
    case FigureSpec::Chart::Distribution:
        return distribution_csv(spec.probes);
    case FigureSpec::Chart::Margin:
        return margin_csv(spec.probes);
    case FigureSpec::Chart::Agreement:
        return agreement_csv(spec.probes);
    case FigureSpec::Chart::Heatmap:
    case FigureSpec::Chart::Flips:
    case FigureSpec::Chart::Kl:
        break;
    }
    return heatmap_csv(spec.grid);
}

QString suffixOf(const std::filesystem::path& path)
{
    return QFileInfo(QString::fromStdString(path.filename().string())).suffix().toLower();
}

} // namespace

const std::vector<std::pair<std::string, FigureSpec::Chart>>& figureCharts()
{
    using Chart = FigureSpec::Chart;
    static const std::vector<std::pair<std::string, Chart>> charts{{"heatmap", Chart::Heatmap},
                                                                   {"flips", Chart::Flips},
                                                                   {"kl", Chart::Kl},
                                                                   {"position", Chart::Position},
                                                                   {"distribution", Chart::Distribution},
                                                                   {"margin", Chart::Margin},
                                                                   {"agreement", Chart::Agreement}};
    return charts;
}

std::optional<ProbePlot::Kind> probePlotOf(FigureSpec::Chart chart)
{
    switch (chart) {
    case FigureSpec::Chart::Position:
        return ProbePlot::Kind::Position;
    case FigureSpec::Chart::Distribution:
        return ProbePlot::Kind::Distribution;
    case FigureSpec::Chart::Margin:
        return ProbePlot::Kind::Margin;
    case FigureSpec::Chart::Agreement:
        return ProbePlot::Kind::Agreement;
    case FigureSpec::Chart::Heatmap:
    case FigureSpec::Chart::Flips:
    case FigureSpec::Chart::Kl:
        break;
    }
    return {};
}

int figureMinimumHeight(const FigureSpec& spec)
{
    loadExportFonts();
    return Figure(spec).minimumHeight();
}

void printFigure(FigureSpec spec, QPagedPaintDevice& page)
{
    loadExportFonts();
    const QRectF area(0, 0, page.width(), page.height()); // what can be printed on, in dots
    const double ratio = area.width() / std::max(area.height(), 1.0);
    for (double width = area.width() * 96.0 / std::max(page.logicalDpiX(), 1);; width *= 1.12) {
        spec.size = QSizeF(width, width / ratio).toSize();
        Figure figure(spec);
        if (figure.minimumHeight() > spec.size.height() && width < most_side)
            continue;
        figure.paint(page, area);
        return;
    }
}

Result<void> checkFigure(const FigureSpec& spec, const std::filesystem::path& path)
{
    const QString suffix = suffixOf(path);
    if (suffix == "csv"_L1)
        return {};
    if (suffix != "png"_L1 && suffix != "svg"_L1 && suffix != "pdf"_L1)
        return fail(ErrorKind::Usage, "{}: the name of a figure must end in .png, .svg, .pdf or .csv.", path.string());
    return checkSize(spec, suffix == "png"_L1);
}

Result<void> exportFigure(const FigureSpec& spec, const QString& path)
{
    return exportFigure(spec, std::filesystem::path(path.toStdString()));
}

Result<void> exportFigure(const FigureSpec& spec, const std::filesystem::path& path)
{
    if (const auto ok = checkFigure(spec, path); !ok)
        return ok;
    const QString suffix = suffixOf(path);
    if (suffix == "csv"_L1)
        return write_text(path, spec.drawing ? spec.drawing->csv() : csvOf(spec));
    loadExportFonts();
    Figure figure(spec);
    if (spec.drawing && figure.minimumHeight() > spec.size.height())
        return fail(ErrorKind::Usage, "A figure of {} × {} pixels has no room for this: make it at least {} high.",
                    spec.size.width(), spec.size.height(), figure.minimumHeight());
    const std::size_t runs = probePlotOf(spec.chart) ? spec.probes.runs.size() : spec.grid.rows.size();
    if (figure.minimumHeight() > spec.size.height())
        return fail(ErrorKind::Usage,
                    "A figure of {} × {} pixels has no room for {} {} and what must be said about {}: make it at "
                    "least {} high.",
                    spec.size.width(), spec.size.height(), runs, runs == 1 ? "run" : "runs", runs == 1 ? "it" : "them",
                    figure.minimumHeight());
    const QString title = spec.drawing ? spec.drawing->title() : titleOf(spec);
    const QString description = figureCaption(spec).join(u'\n');
    const QByteArray bytes = suffix == "png"_L1   ? png(figure, spec, title, description)
                             : suffix == "svg"_L1 ? svg(figure, spec, title, description)
                                                  : pdf(figure, spec, title);
    if (bytes.isEmpty())
        return fail(ErrorKind::OutOfMemory, "{}: there is not enough memory for this figure; make it smaller.",
                    path.string());
    return write_text(path, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

} // namespace flipscope
