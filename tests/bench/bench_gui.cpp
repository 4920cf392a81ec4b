// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window takes, on the offscreen platform: from the start to the first complete picture, and for each
// thing that a person does with it, from the change until everything is painted again.
//   bench_gui          12 runs of 3,125 probes, then 3 runs of 100,000, all from the cache
//   bench_gui start N  the first picture of 12 runs alone, N times
#include "core/analysis/compute.h"
#include "core/trace/open.h"
#include "core/trace/writer.h"
#include "ui/charts/chart_style.h"
#include "ui/charts/heatmap_view.h"
#include "ui/charts/probe_chart_view.h"
#include "ui/session/navigation.h"
#include "ui/views/token_view.h"
#include "ui/window/charts_panel.h"
#include "ui/window/heatmap_panel.h"
#include "ui/window/main_window.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QTabWidget>
#include <QTemporaryDir>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <thread>

using namespace flipscope;

namespace {

constexpr std::int64_t vocab = 48;

/// Rows whose top token is another in some per cent of the probes.
void write_made(const std::string& path, int run, std::int64_t tokens, std::int64_t stride)
{
    Trace trace;
    trace.run_name = run == 0 ? "baseline" : fmt::format("run {}", run);
    trace.tokens.text.offsets.push_back(0);
    for (std::int64_t t = 0; t < tokens; ++t) {
        trace.tokens.ids.push_back(static_cast<std::int32_t>((t * 7 + t / 64) % vocab));
        trace.tokens.text.bytes += t % 12 == 11 ? "\n" : fmt::format(" w{}", trace.tokens.ids.back());
        trace.tokens.text.offsets.push_back(trace.tokens.text.bytes.size());
    }
    for (std::int64_t t = 0; t + 4000 <= tokens; t += 4000) {
        trace.spans.push_back({t, t + 500, "user", ""});
        trace.spans.push_back({t + 500, t + 4000, "assistant", ""});
        trace.spans.push_back({t + 1000, t + 1200, "tool_call", "{}"});
    }
    std::uint32_t state = static_cast<std::uint32_t>(run) * 977 + 1;
    const auto random = [&] { return static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24); };
    std::vector<float> rows;
    for (std::int64_t t = stride - 1; t < tokens; t += stride) {
        trace.probes.positions.push_back(t);
        const auto first = rows.size();
        for (std::int64_t id = 0; id < vocab; ++id)
            rows.push_back(static_cast<float>((t * 31 + id * 17) % 100) / 25 +
                           0.02F * static_cast<float>(run) * random());
        const auto top = static_cast<std::size_t>(t / stride % vocab);
        rows[first + top] = 8;
        if (run > 0 && random() < 0.01F * static_cast<float>(run))
            rows[first + (top + 1) % static_cast<std::size_t>(vocab)] = 8.5F;
    }
    trace.probes.n_vocab = vocab;
    std::vector<std::byte> bytes(rows.size() * sizeof(float));
    std::memcpy(bytes.data(), rows.data(), bytes.size());
    trace.probes.rows = rows_in_memory(LogitType::F32, vocab, std::move(bytes));
    if (const auto written = write_trace(path, trace); !written)
        throw std::runtime_error(written.error().message);
}

QStringList write_runs(const QString& folder, int runs, std::int64_t tokens, std::int64_t stride)
{
    QStringList files;
    for (int run = 0; run <= runs; ++run) {
        files << QStringLiteral("%1/%2-%3.h5").arg(folder).arg(tokens / stride).arg(run, 2, 10, QChar('0'));
        write_made(files.back().toStdString(), run, tokens, stride);
    }
    return files;
}

/// Their tables in the cache, which takes none of files younger than two seconds.
void fill_cache(const QStringList& files)
{
    const auto engine = make_cpu_engine(0);
    const auto baseline = open_trace(files.front().toStdString());
    for (const QString& file : files.mid(1))
        (void)compute_table(*baseline, *open_trace(file.toStdString()), *engine);
}

void until_idle(const Session& session)
{
    while (session.busy())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents); // with a time limit it would not wait, but spin
    QCoreApplication::processEvents();
}

void line(const char* what, double milliseconds)
{
    fmt::print("  {:<44}{:>9.1f} ms\n", what, milliseconds);
    std::fflush(stdout);
}

/// Median over some repetitions of what `action` and painting everything take.
template <class Action>
void measure(const char* what, const Action& action, int times = 9)
{
    std::vector<double> all;
    for (int i = 0; i < times; ++i) {
        QElapsedTimer timer;
        timer.start();
        action(i);
        QCoreApplication::processEvents();
        all.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    std::sort(all.begin(), all.end());
    line(what, all[all.size() / 2]);
}

void move_over(QWidget* widget, double share)
{
    const QPointF at(widget->width() * (0.25 + 0.7 * share), widget->height() * 0.55);
    QMouseEvent move(QEvent::MouseMove, at, widget->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(widget, &move);
}

/// Milliseconds until all of it is painted.
double open_window(MainWindow& window, const QStringList& files)
{
    QElapsedTimer timer;
    timer.start();
    window.resize(1440, 900);
    window.show();
    window.openFiles(files);
    until_idle(*window.session());
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

void measure_window(const char* title, const QStringList& files)
{
    fmt::print("{}\n", title);
    QElapsedTimer timer;
    timer.start();
    MainWindow window;
    const double made = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    line("window to first complete picture", made + open_window(window, files));
    Session& session = *window.session();
    HeatmapPanel* panel = window.heatmapPanel();
    const qint64 sizes[] = {4096, 8000, 2048};
    measure("window size", [&](int i) { session.setWindowTokens(sizes[i % 3]); });
    session.setWindowTokens(8000);
    const char* metrics[] = {"kl_pq_mean", "kl_pq_p99", "flip_rate", "tv_mean"};
    measure("metric", [&](int i) { session.setMetric(QLatin1String(metrics[i % 4])); });
    measure("colour scale", [&](int i) {
        ColourScale scale = session.colourScale();
        scale.kind = i % 2 ? ColourScale::Kind::Linear : ColourScale::Kind::Log;
        session.setColourScale(scale);
    });
    measure("by segment and back",
            [&](int i) { session.setPartition(i % 2 ? Partition::Windows : Partition::Segments); });
    session.setPartition(Partition::Windows);
    measure("zoom of heatmap and lines", [&](int i) { session.setRange({8000, 24000 + 8000 * i}); });
    session.setRange({});
    measure(
        "hover over the heatmap, a frame", [&](int i) { move_over(panel->heatmap(), i / 40.0); }, 40);
    measure("choose a cell", [&](int i) {
        panel->heatmap()->setFocus();
        session.path().go({session.visibleRuns()[0]->id, 8000 * (i % 12), -1, -1});
    });
    const char* names[] = {"KL by position", "distribution", "margin", "agreement"};
    for (int kind = 0; kind < 4; ++kind) {
        ProbeChartView* chart = panel->charts()->probeChart(static_cast<ProbePlot::Kind>(kind));
        panel->charts()->tabs()->setCurrentIndex(0);
        QCoreApplication::processEvents();
        fmt::print("  {}\n", names[kind]);
        measure(
            "    shown", [&](int i) { panel->charts()->tabs()->setCurrentIndex(i % 2 ? 0 : kind + 1); }, 1);
        panel->charts()->tabs()->setCurrentIndex(kind + 1);
        QCoreApplication::processEvents();
        measure(
            "    hover, a frame", [&](int i) { move_over(chart, i / 40.0); }, 40);
        measure("    zoom, a frame", [&](int i) { session.setRange({1000 * i, 90000 - 1000 * i}); });
        session.setRange({});
        measure("    another run", [&](int i) {
            const auto runs = session.visibleRuns();
            session.path().go({runs[static_cast<std::size_t>(i) % runs.size()]->id, -1, -1, -1});
        });
    }
    panel->charts()->tabs()->setCurrentIndex(0);
    session.path().go({session.visibleRuns().back()->id, -1, -1, -1});
    QCoreApplication::processEvents();
    auto* tokens = window.findChild<TokenView*>();
    measure("next flip", [&](int) { tokens->nextFlip(); });
    until_idle(session);
}

} // namespace

int main(int argc, char** argv)
{
    const QTemporaryDir folder;
    const std::string home = folder.path().toStdString();
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"})
        qputenv(name, QByteArray::fromStdString(home));
    qputenv("FLIPSCOPE_ENGINE", "cpu");
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    const bool start_only = argc > 1 && std::string_view(argv[1]) == "start";
    const QStringList usual = write_runs(folder.path(), 12, 100'000, 32);
    const QStringList large = start_only ? QStringList() : write_runs(folder.path(), 3, 100'000, 1);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    fill_cache(usual);
    if (!start_only)
        fill_cache(large);
    QElapsedTimer timer;
    timer.start();
    QApplication application(argc, argv);
    loadExportFonts();
    fmt::print("QApplication {:.1f} ms\n", static_cast<double>(timer.nsecsElapsed()) / 1e6);
    for (int i = 0; start_only && i < (argc > 2 ? std::atoi(argv[2]) : 1); ++i) {
        QElapsedTimer making;
        making.start();
        MainWindow window;
        const double made = static_cast<double>(making.nsecsElapsed()) / 1e6;
        fmt::print("window made in {:.1f} ms, first complete picture {:.1f} ms later\n", made,
                   open_window(window, usual));
        std::fflush(stdout);
    }
    if (start_only)
        return 0;
    measure_window("12 runs x 3,125 probes", usual);
    measure_window("3 runs x 100,000 probes", large);
    return 0;
}
