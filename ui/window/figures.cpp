// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/figures.h"

#include "core/base/file.h"
#include "core/report/method.h"
#include "core/report/report.h"
#include "ui/models/notes_model.h"
#include "ui/session/call_results.h"
#include "ui/session/navigation.h"

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QImage>
#include <QMimeData>
#include <QTemporaryDir>

#include <algorithm>

namespace flipscope {

namespace {

const WindowMetric& metricFor(const Session& session, FigureSpec::Chart chart)
{
    const WindowMetric& shown = session.metric();
    const bool fits = chart == FigureSpec::Chart::Heatmap ||
                      (chart == FigureSpec::Chart::Flips && shown.counts_flips) ||
                      (chart == FigureSpec::Chart::Kl && shown.name.starts_with("kl_"));
    if (fits)
        return shown;
    const auto other = find_window_metric(chart == FigureSpec::Chart::Flips ? "flip_rate" : "kl_pq_mean");
    return other ? **other : shown;
}

/// What `analyze` says, and what a person noted.
nlohmann::ordered_json reportJson(const Session& session)
{
    nlohmann::ordered_json json = analysis_json(analysisOf(session));
    json["notes"] = nlohmann::ordered_json::array();
    for (const Bookmark& bookmark : session.bookmarks()) {
        const SessionRun* run = session.run(bookmark.run);
        json["notes"].push_back({{"position", bookmark.position},
                                 {"run", run == nullptr ? nlohmann::ordered_json(nullptr)
                                                        : nlohmann::ordered_json(run->name.toStdString())},
                                 {"text", bookmark.text}});
    }
    return json;
}

} // namespace

FigureSpec figureOf(Session& session, FigureSpec::Chart chart, ChartStyle::Theme theme)
{
    FigureSpec spec;
    spec.chart = chart;
    spec.theme = theme;
    const ChartStyle style = theme == ChartStyle::Theme::Dark ? ChartStyle::dark() : ChartStyle::light();
    const WindowMetric& metric = metricFor(session, chart);
    spec.grid = cut_to(session.heatmap(metric), session.range());
    spec.grid.marks = CallResults::of(&session)->marks();
    spec.probes = session.probeChart();
    spec.scale = session.colourScale();
    spec.notes = noteLines(session);
    std::vector<TracePtr> traces;
    for (const SessionRun* run : session.visibleRuns()) {
        spec.runColors.append(ownColor(*run, style));
        traces.push_back(run->trace);
    }
    if (const SessionRun* base = session.baseline())
        spec.method = method_of(*base->trace, traces,
                                probePlotOf(chart)
                                    ? std::string("per probe, over the matched probes of one history")
                                    : fmt::format("{} per window of {} tokens", metric.title, session.windowTokens()));
    return spec;
}

Result<void> writeNumbers(const Session& session, NumbersKind kind, const QString& path)
{
    if (auto ok = session.checkOutput(path); !ok)
        return ok;
    const std::filesystem::path file = path.toStdString();
    switch (kind) {
    case NumbersKind::Heatmap:
        return write_text(file, heatmap_csv(session.heatmap()));
    case NumbersKind::Windows:
        return write_text(file, windows_csv(analysisOf(session)));
    case NumbersKind::Probes:
        return write_text(file, probes_csv(analysisOf(session)));
    case NumbersKind::Json:
        return write_text(file, json_text(reportJson(session)));
    case NumbersKind::Notes:
        return write_text(file, notesCsv(session));
    }
    return {};
}

Result<void> copyFigure(FigureSpec spec)
{
    QTemporaryDir folder;
    if (!folder.isValid())
        return fail(ErrorKind::Unreadable, "No temporary folder can be made: {}.", folder.errorString().toStdString());
    spec.dpi = 192;
    spec.size.setHeight(std::max(spec.size.height(), figureMinimumHeight(spec)));
    const QString png = folder.filePath(QStringLiteral("figure.png"));
    const QString svg = folder.filePath(QStringLiteral("figure.svg"));
    for (const QString& path : {png, svg})
        if (auto written = exportFigure(spec, path); !written)
            return written;
    QFile vector(svg);
    const QImage image(png);
    if (image.isNull() || !vector.open(QIODevice::ReadOnly))
        return fail(ErrorKind::Unreadable, "The figure could not be read back from {}.", folder.path().toStdString());
    auto* data = new QMimeData;
    data->setImageData(image);
    data->setData(QStringLiteral("image/svg+xml"), vector.readAll());
    QApplication::clipboard()->setMimeData(data);
    return {};
}

} // namespace flipscope
