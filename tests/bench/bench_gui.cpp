// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window takes, on the offscreen platform: from the start to the first complete picture, and for each
// thing that a person does with it, from the change until everything is painted again. A change may take several
// frames (the heatmap, then the charts under it): "frame" is the longest of them, "all" is until everything is right.
//   bench_gui                  12 runs of 3,125 probes, then 3 runs of 100,000, all from the cache
//   bench_gui start N              the first picture of 12 runs alone, N times
//   bench_gui SET [WORD [TIMES]]   only the 12 or the 3 runs, only what has WORD in its name, TIMES times each
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

#include <QAbstractEventDispatcher>
#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QTabWidget>
#include <QTemporaryDir>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
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

/// An application that knows when its window was painted.
class Watched final : public QApplication {
public:
    using QApplication::QApplication;
    bool notify(QObject* receiver, QEvent* event) override
    {
        const bool frame = event->type() == QEvent::UpdateRequest;
        const bool done = QApplication::notify(receiver, event);
        if (frame)
            m_frames.push_back(m_clock.nsecsElapsed());
        return done;
    }
    void start()
    {
        m_frames.clear();
        m_clock.start();
    }
    /// Milliseconds of the longest frame since start(), and until the last was painted.
    std::pair<double, double> frames() const
    {
        qint64 longest = 0, last = 0;
        for (const qint64 frame : m_frames) {
            longest = std::max(longest, frame - last);
            last = frame;
        }
        return {static_cast<double>(longest) / 1e6, static_cast<double>(last) / 1e6};
    }

private:
    QElapsedTimer m_clock;
    std::vector<qint64> m_frames; // nanoseconds since start()
};

Watched* application = nullptr;
QString only;         // what is measured; empty = all
int wanted_times = 0; // 0 = as often as usual

/// Until nothing is left to do: events, what they post, and timers that run out at once.
void settle()
{
    for (int quiet = 0; quiet < 3;)
        quiet = QCoreApplication::eventDispatcher()->processEvents(QEventLoop::AllEvents) ? 0 : quiet + 1;
}

void until_idle(const Session& session)
{
    while (session.busy())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents); // with a time limit it would not wait, but spin
    settle();
}

double median(std::vector<double> all)
{
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

void title(const char* what)
{
    fmt::print("{:<46}{:>9}{:>9}{:>9}\n", what, "frame", "all", "CPU");
}

double cpu_milliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Medians over some repetitions of what `action` and painting everything take, in milliseconds: the longest frame,
/// until all is right, and what this thread computed for it.
template <class Action>
void measure(const char* what, const Action& action, int times = 9)
{
    if (!only.isEmpty() && !QLatin1String(what).contains(only))
        return;
    if (wanted_times > 0 && times > 1)
        times = wanted_times;
    std::vector<double> longest, all, computed;
    for (int i = 0; i < times; ++i) {
        settle();
        const double before = cpu_milliseconds();
        application->start();
        action(i);
        settle();
        const auto [frame, last] = application->frames();
        longest.push_back(frame);
        all.push_back(last);
        computed.push_back(cpu_milliseconds() - before);
    }
    fmt::print("  {:<44}{:>9.1f}{:>9.1f}{:>9.1f}\n", what, median(longest), median(all), median(computed));
    std::fflush(stdout);
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

void measure_window(const char* name, const QStringList& files)
{
    title(name);
    QElapsedTimer timer;
    timer.start();
    MainWindow window;
    const double made = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    fmt::print("  {:<53}{:>9.1f}\n", "window to first complete picture", made + open_window(window, files));
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
    measure("zoom of heatmap and lines", [&](int i) { session.setRange({8000, 24000 + 8000 * (i % 9)}); });
    session.setRange({});
    measure(
        "hover over the heatmap", [&](int i) { move_over(panel->heatmap(), i * 7 % 40 / 40.0); }, 40);
    measure("choose a cell", [&](int i) {
        panel->heatmap()->setFocus();
        session.path().go({session.visibleRuns()[0]->id, qint64{8000} * (i % 12), -1, -1});
    });
    const char* names[] = {"KL by position", "distribution", "margin", "agreement"};
    for (int kind = 0; kind < 4; ++kind) {
        ProbeChartView* chart = panel->charts()->probeChart(static_cast<ProbePlot::Kind>(kind));
        const auto named = [&](const char* what) { return fmt::format("{}: {}", names[kind], what); };
        panel->charts()->tabs()->setCurrentIndex(0);
        settle();
        measure(
            named("shown").c_str(), [&](int) { panel->charts()->tabs()->setCurrentIndex(kind + 1); }, 1);
        panel->charts()->tabs()->setCurrentIndex(kind + 1);
        measure(
            named("hover").c_str(), [&](int i) { move_over(chart, i * 7 % 40 / 40.0); }, 40);
        measure(named("zoom").c_str(), [&](int i) {
            session.setRange({qint64{1000} * (i % 40), 90000 - qint64{1000} * (i % 40)});
        });
        session.setRange({});
        measure(named("another run").c_str(), [&](int i) {
            const auto runs = session.visibleRuns();
            session.path().go({runs[static_cast<std::size_t>(i) % runs.size()]->id, -1, -1, -1});
        });
    }
    panel->charts()->tabs()->setCurrentIndex(0);
    session.path().go({session.visibleRuns().back()->id, -1, -1, -1});
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
    const std::string_view set = argc > 1 ? argv[1] : "";
    const bool start_only = set == "start";
    const QStringList usual = set != "3" ? write_runs(folder.path(), 12, 100'000, 32) : QStringList();
    const QStringList large = set != "12" && !start_only ? write_runs(folder.path(), 3, 100'000, 1) : QStringList();
    only = QString::fromLocal8Bit(argc > 2 ? argv[2] : "");
    wanted_times = argc > 3 ? std::max(1, std::atoi(argv[3])) : 0;
    std::this_thread::sleep_for(std::chrono::seconds(2));
    for (const QStringList& files : {usual, large})
        if (!files.isEmpty())
            fill_cache(files);
    QElapsedTimer timer;
    timer.start();
    Watched watched(argc, argv);
    application = &watched;
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
    if (!usual.isEmpty())
        measure_window("12 runs x 3,125 probes", usual);
    if (!large.isEmpty())
        measure_window("3 runs x 100,000 probes", large);
    return 0;
}
