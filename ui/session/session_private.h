// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/engine.h"
#include "ui/session/session.h"

#include <QFileSystemWatcher>
#include <QSet>
#include <QThreadPool>
#include <QTimer>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>

namespace flipscope {

/// What came of a file or folder.
struct OpenAnswer {
    struct Problem {
        Error error;
        QString file;
    };
    QStringList files; ///< the traces in a folder, which are opened in its place
    std::vector<TracePtr> traces;
    std::vector<KldLog> printouts;
    std::vector<Problem> errors;
};

/// A file or folder that is being opened (or opened again, for F5).
struct OpenItem {
    QString path;
    int reloadOf = -1; ///< run id, or -1 for a new file
    bool live = false; ///< being written: nothing is said where it cannot be read yet
    OpenHints hints = {};
    quint64 ticket = 0;                    ///< what a late answer is recognised by
    std::optional<OpenAnswer> answer = {}; ///< until it is taken up
    bool takenUp = false;                  ///< what stays here then only waits for one in front of it
    std::vector<int> runs = {};            ///< that it brought
    bool missing() const { return !answer && !takenUp; }
};

/// That a person says how to read a file.
struct HintsQuestion {
    QString file, why;
    OpenHints hints;
};

/// A pair being computed.
struct PairItem {
    int baselineId = -1, runId = -1;
    TracePtr baseline, run;
    bool refresh = false;
    TablePtr before; ///< refresh: what it is compared with
};

/// What came of it.
struct PairAnswer {
    PairItem item;
    Result<TablePtr> table;
    bool stopped = false;
};

/// Belongs to the worker thread between its creation and the end of the session.
struct EngineHolder {
    std::unique_ptr<Engine> engine;
    std::optional<Error> error;
};

/// Everything that a grid depends on, so that it is computed once for all views and kept until something changes.
struct GridKey {
    struct Run {
        std::string name, problem;
        TablePtr table;
        bool floor = false;
        std::string group;
        bool operator==(const Run&) const = default;
    };
    std::string metric, baselineName;
    TracePtr baseline;
    std::vector<Run> runs;
    qint64 windowTokens = 0;
    double margin = 0;
    HistoryExtent extent;
    Partition by = Partition::Windows;
    bool operator==(const GridKey&) const = default;
};

/// Has `work` done by the thread that `context` lives in.
template <class Work>
void post([[maybe_unused]] QObject* context, [[maybe_unused]] Work&& work)
{
#ifndef __clang_analyzer__ // which takes the functor that waits in Qt's queue for a leak
    QMetaObject::invokeMethod(context, std::forward<Work>(work), Qt::QueuedConnection);
#endif
}

struct Session::Private {
    explicit Private(Session* session);

    Session* q;

    // Files are opened in some threads and pairs computed in another, one at a time, so that adding a file never waits
    // for a long computation, nor costs what it has done so far. What they come to is taken up in the order of the
    // requests and all at once, since every change has the views drawn anew: as soon as nothing more is on its way, or
    // after a while, so that nobody waits for one slow file to see the others.
    QThreadPool openPool, computePool;
    std::deque<OpenItem> toOpen; ///< in the order of the requests
    QTimer openTimer;
    int opening = 0; ///< in the pool, also those that nobody waits for any more
    std::stop_source openStop;
    std::function<void(const Progress&)> openReport; ///< one for all that are opened
    /// Being computed: one, or all that wait, where the engine reads the baseline once for them. What was answered is
    /// left out.
    std::vector<PairItem> pairs;
    std::stop_source pairStop;
    std::vector<PairAnswer> computedPairs; ///< to be taken up; their runs still count as being worked on
    QTimer pairTimer;
    bool enginePending = false;
    bool together = false; ///< the engine gains from several runs at a time
    quint64 lastTicket = 0;
    bool wasBusy = false;

    std::shared_ptr<EngineHolder> engine; ///< touched by the compute thread only

    QString wantedBaseline; ///< canonical path, until it was opened
    int nextId = 0;
    std::map<std::pair<int, int>, TablePtr> tables; ///< by (baseline, run): going back to a baseline is instant
    QSet<int> toVerify;                             ///< runs to be computed past the cache
    int verified = 0;
    QStringList verifiedDifferent;

    std::vector<Banner> messages; ///< events: a file that did not open, a result of Verify
    QSet<QString> dismissed;
    QFileSystemWatcher watcher;
    QTimer watchTimer;

    TracePtr cut; ///< what `pieces` are of
    Partition cutBy = Partition::Windows;
    std::vector<Piece> pieces;
    std::deque<std::pair<GridKey, HeatmapGrid>> grids; ///< the last few asked for, newest first

    // --- session_opening.cpp ---
    void enqueue(const QStringList& paths, const std::vector<OpenHints>& hints = {});
    void enqueueItem(OpenItem item);
    void start(OpenItem& item);
    void stopOpening(); ///< what was answered stays, the rest is let go of
    void opened(quint64 ticket, const OpenAnswer& answer);
    void unfold(std::size_t folder, const QStringList& files);
    bool waitsForEarlier(std::size_t index) const;
    void takeUp(); ///< what is opened so far, in order; out of order only once it is clear what to compare with
    void take(std::size_t index, std::vector<HintsQuestion>& questions);
    QString nameFor(const SessionRun& run) const;
    void addTrace(const TracePtr& trace, std::size_t index);
    void reloaded(SessionRun& run, const OpenAnswer& answer, const OpenHints& hints);
    void notRead(SessionRun& run, const OpenAnswer& answer, const OpenHints& hints);
    SessionRun* wantedRun();
    bool baselineKnown();
    void settle(); ///< baseline and states, after traces came or changed

    // --- session_jobs.cpp ---
    bool beingReread(int id) const;
    bool waits(const SessionRun& run) const;
    void computeNext();
    void compute();
    void keepWanted(); ///< stops pairs that nobody waits for any more
    void computed(const PairItem& item, const Result<TablePtr>& result, bool stopped);
    bool stillOpen(const PairItem& item);
    void tellSoon();
    void takeUpPairs();
    void take(const PairAnswer& answer);
    void noteVerified(const PairItem& item, const TablePtr& table);
    void startEngine();
    void engineKnown(const QString& text, const QString& notice, bool computesTogether);
    std::function<void(const Progress&)> reporter();
    void announceBusy();
    bool isBusy() const
    {
        return opening > 0 || !toOpen.empty() || !pairs.empty() || !computedPairs.empty() || enginePending;
    }

    // --- session.cpp ---
    SessionRun* find(int id);
    SessionRun* findBaseline();
    void refreshStates(); ///< after the baseline or a trace changed: tables from memory, the rest waits
    void tracesChanged(); ///< texts, window size, watcher
    void chooseWindow();
    void useWindow(qint64 tokens);
    void keepPlace(const std::function<void()>& change); ///< of the columns: the place stays at what it is about
    void watchFiles();
    void dropTables(int id);

    // --- session_banners.cpp ---
    void say(Banner::Level level, const QString& text, int run = -1, const QString& fileForHints = {});
    void updateBanners();
};

} // namespace flipscope
