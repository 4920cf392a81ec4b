// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/analysis.h"
#include "core/analysis/heatmap.h"
#include "core/analysis/probe_chart.h"
#include "core/session/session_file.h"
#include "core/text/token_text.h"
#include "core/trace/open_hints.h"
#include "core/trace/trace.h"
#include "ui/session/drilldown.h"

#include <QColor>
#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <utility>
#include <vector>

namespace flipscope {

/// One opened file.
struct SessionRun {
    enum class State {
        Waiting,  ///< to be computed
        Working,  ///< being computed
        Ready,    ///< `table` is there
        Baseline, ///< it is what the others are compared with
        Failed,   ///< `problem` says why (not comparable, unreadable rows, ...)
    };
    int id = -1;  ///< stable for the life of the session; never used twice
    QString name; ///< as shown; starts as the trace's run name
    QColor color; ///< its line in charts
    bool hidden = false;
    bool changedOnDisk = false;
    bool live = false; ///< it is being written here: followed, and what is shown stays until the next numbers are there
    TracePtr trace;
    TablePtr table; ///< against the present baseline
    State state = State::Waiting;
    QString problem;
    OpenHints hints; ///< what a person said about its file
};

struct ChartStyle;

/// Whether a sentence of a reader or a check names a hint that would help ("--axes", "--vocab" ...).
bool namesHint(const std::string& sentence);

/// The run's colour on a light or dark chart: the one a person chose, else the style's own for this run.
QColor ownColor(const SessionRun& run, const ChartStyle& style);

/// A sentence above the views, with what it is about.
struct Banner {
    enum class Level { Note, Warning, Error };
    Level level = Level::Note;
    QString text;
    int run = -1; ///< -1 = none in particular
    enum class Action { None, Shift, Hints };
    Action action = Action::None; ///< what a button beside it does: shift(run), or asking for hints about run or file
    QString file = {};            ///< one that could not be opened without hints
    bool operator==(const Banner&) const = default;
};

/// How values become colours.
struct ColourScale {
    enum class Kind { Linear, Log, Percentile };
    Kind kind = Kind::Linear;
    bool automatic = true; ///< else low..high, in the metric's own unit (a share: 0..1)
    double low = 0, high = 1;
    QString map = QStringLiteral("cividis");
    bool operator==(const ColourScale&) const = default;
};

/// The state of one window: files, baseline, view settings, selection. Lives on the GUI thread; opening and computing
/// happen in one background job at a time, the latest request wins, and every change is announced by a signal.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(QObject* parent = nullptr);
    ~Session() override; ///< cancels the job and waits for it

    // --- runs ---
    const std::vector<SessionRun>& runs() const { return m_runs; }
    const SessionRun* run(int id) const;
    const SessionRun* baseline() const;                 ///< null when nothing is open
    std::vector<const SessionRun*> visibleRuns() const; ///< not hidden, without the baseline, in order

    /// Opens files and folders (all traces in them). The first trace of an empty session becomes the baseline unless
    /// `baselinePath` names another. Errors become banners, the rest is opened.
    /// `hints`, where there are any, are parallel to `paths`.
    void open(const QStringList& paths, const QString& baselinePath = {}, const std::vector<OpenHints>& hints = {});
    /// Opens a file with what a person says about it.
    void openWith(const QString& path, const OpenHints& hints);
    /// Reads the file of a run again with other hints; where it cannot be read with them, all stays as it was.
    void setHints(int id, const OpenHints& hints);
    /// Compares a run whose history has one token more or less at its start, moved by that token.
    void shift(int id);
    /// Printouts of llama-perplexity, which stand beside the numbers.
    const std::vector<KldLog>& printouts() const { return m_printouts; }
    void addPrintout(KldLog log);
    void removePrintout(int index);
    void setBaseline(int id);
    void setHidden(int id, bool hidden);
    void rename(int id, const QString& name);
    void setColor(int id, const QColor& color);
    void followPalette(); ///< light or dark: colours that nobody chose become those that read well on it
    void move(int id, int row);
    void arrange(const std::vector<int>& ids); ///< a new order; runs that are not named keep theirs, behind the others
    /// A key of /run whose values the rows are grouped by; empty = none. The order is the caller's business.
    const QString& groupKey() const { return m_groupKey; }
    void setGroupKey(const QString& key);
    void remove(int id); ///< closes one file; the first that is left becomes the baseline if it was that
    void closeAll();
    void reload(); ///< F5: opens every file again and recomputes what changed
    /// A file that a capture writes: opened without a word where it cannot be read yet, and marked as live.
    void openLive(const QString& path);
    void setLive(int id, bool live);
    void reread(int id, const QString& path); ///< one file again, which may have another name by now
    int runAt(const QString& path) const;     ///< the id of the run from this file; -1 = it is not open
    void verify(); ///< recomputes everything past the cache and says whether anything was different
    void cancel(); ///< stops the running job
    bool busy() const;
    void checkFiles();    ///< looks whether open files changed on disk (also happens by itself) and says so
    void prepareEngine(); ///< finds out what would compute, in the background, so that engineText() can tell

    // --- what is looked at ---
    qint64 windowTokens() const { return m_windowTokens; }
    void setWindowTokens(qint64 tokens); ///< <= 0: choose (a banner says so where it is not the usual 8,000)
    /// How the history is cut into columns. What the baseline's trace does not mark (segments, turns) is not cut by:
    /// then it is windows.
    Partition partition() const { return pieces().empty() ? Partition::Windows : m_partition; }
    void setPartition(Partition by);
    /// Why the history cannot be cut so; empty where it can.
    QString whyNotBy(Partition by) const;
    /// The segments or turns that are the columns; empty where those are windows.
    const std::vector<Piece>& pieces() const;
    /// Tokens of the column that begins at `start`, and the positions of the probes that are counted in it.
    TokenRange columnTokens(qint64 start) const;
    TokenRange columnProbes(qint64 start) const;
    /// First token of the column that a probe at `position` is counted in.
    qint64 columnStart(qint64 position) const;
    void setFirstWindow(qint64 tokens); ///< what a session begins with; <= 0: chosen by the length of the history
    const WindowMetric& metric() const { return *m_metric; }
    void setMetric(const QString& name);
    bool windowChosen() const { return m_windowChosen; } ///< the session chose the size, not a person
    double margin() const { return m_margin; }           ///< nats; for `flips_above_margin`
    void setMargin(double nats);
    const ColourScale& colourScale() const { return m_scale; }
    void setColourScale(const ColourScale& scale);
    DrilldownPath& path() { return m_path; }
    /// Positions of the probes that heatmap, charts and table show; all of them at first. One range for all views.
    const TokenRange& range() const { return m_range; }
    void setRange(TokenRange range); ///< cut to the history; what covers all of it is no range
    /// The run whose difference from the baseline is no more than noise (a repeat, a second engine); null = none named.
    const SessionRun* floorRun() const { return run(m_floor); }
    void setFloor(int id); ///< -1 = none; the baseline cannot be it
    const DrilldownPath& path() const { return m_path; }
    /// The two runs that are set side by side: those chosen, while they are open and not the baseline; else the first
    /// visible ones. Null where there are none.
    std::pair<const SessionRun*, const SessionRun*> comparedRuns() const;
    void setComparedRuns(int a, int b);
    /// Where another run than the two was selected since they were chosen: that one as A, and the next other one as B.
    void compareSelected();

    // --- notes and bookmarks: `run` is a session id; ascending by position ---
    const std::vector<Bookmark>& bookmarks() const { return m_bookmarks; }
    void setBookmarks(std::vector<Bookmark> bookmarks);
    void addBookmark(const Bookmark& bookmark);
    void setBookmarkText(int index, const QString& text);
    void removeBookmark(int index);

    /// Refuses a file that is open here: inputs are never changed.
    Result<void> checkOutput(const QString& path) const;
    /// The grid of the visible runs at the present window size and metric, over the whole history. Instant: from the
    /// tables, and kept as long as nothing that it shows has changed.
    HeatmapGrid heatmap() const;
    /// The same for another metric (line charts).
    HeatmapGrid heatmap(const WindowMetric& metric) const;
    /// The visible runs' single probes within range().
    ProbeChartData probeChart() const;
    /// Of the baseline and all runs that are compared with it, or will be; a run that failed has no place on its axis.
    HistoryExtent extent() const;
    /// Text of ids, from whichever open trace knows it.
    const TokenTexts& texts() const { return m_texts; }
    const std::vector<Banner>& banners() const { return m_banners; }
    void tell(Banner::Level level, const QString& text, int run = -1); ///< a banner about something that happened
    void dismiss(const Banner& banner);                                ///< not shown again in this session
    QString engineNotice() const { return m_engineNotice; }            ///< why it is not the GPU; "" = nothing to say
    QString engineText() const { return m_engineText; } ///< status line: "CPU (AVX3, 2 threads): no CUDA driver"

signals:
    void runsChanged(); ///< any of: list, order, names, colours, states, tables, baseline
    void viewChanged(); ///< window size, metric or colour scale
    void rangeChanged();
    void comparedRunsChanged();
    void bookmarksChanged();
    void bannersChanged();
    void printoutsChanged();
    /// A file cannot be opened unless a person says how to read it; `why` is the reader's sentence.
    void hintsWanted(const QString& path, const flipscope::OpenHints& hints, const QString& why);
    void engineChanged(); ///< engineText(), engineNotice()
    void busyChanged(bool busy);
    void progress(const QString& stage, qint64 done, qint64 total, bool bytes); ///< at most 30 times a second

private:
    std::vector<SessionRun> m_runs;
    std::vector<KldLog> m_printouts;
    qint64 m_windowTokens = default_window_tokens;
    Partition m_partition = Partition::Windows;
    const WindowMetric* m_metric;
    double m_margin = default_margin;
    qint64 m_firstWindow = 0;
    bool m_windowChosen = true;
    ColourScale m_scale;
    TokenRange m_range;
    int m_floor = -1;
    QString m_groupKey;
    int m_comparedA = -1, m_comparedB = -1;
    int m_comparedAt = -1; ///< the run that was selected when the two were chosen
    std::vector<Bookmark> m_bookmarks;
    DrilldownPath m_path;
    TokenTexts m_texts;
    std::vector<Banner> m_banners;
    QString m_engineText, m_engineNotice;
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace flipscope
