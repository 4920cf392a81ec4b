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

/// A file or folder that is still to be opened (or opened again, for F5).
struct OpenItem {
    quint64 ticket = 0; ///< what a late answer is recognised by
    QString path;
    int reloadOf = -1; ///< run id, or -1 for a new file
    bool live = false; ///< being written: nothing is said where it cannot be read yet
    OpenHints hints = {};
};

/// What came of it. A folder gives any number of traces.
struct OpenAnswer {
    struct Problem {
        Error error;
        QString file;
    };
    std::vector<TracePtr> traces;
    std::vector<KldLog> printouts;
    std::vector<Problem> errors;
};

/// One pair being computed.
struct PairItem {
    int baselineId = -1, runId = -1;
    TracePtr baseline, run;
    bool refresh = false;
    TablePtr before; ///< refresh: what it is compared with
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

struct Session::Private {
    explicit Private(Session* session);

    Session* q;

    // Files are opened in one thread and pairs computed in another, so that adding a file never waits for a long
    // computation, nor costs what it has done so far. One item at a time each.
    QThreadPool openPool, computePool;
    std::deque<OpenItem> toOpen; ///< the front is the one being opened
    bool opening = false;
    std::stop_source openStop;
    std::optional<PairItem> pair; ///< being computed
    std::stop_source pairStop;
    bool enginePending = false;
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

    // --- session_jobs.cpp ---
    void enqueue(const QStringList& paths, const std::vector<OpenHints>& hints = {});
    void openNext();
    void opened(quint64 ticket, const OpenAnswer& answer);
    QString nameFor(const SessionRun& run) const;
    void addTrace(const TracePtr& trace, const OpenItem& item);
    void opened(const OpenItem& item, const OpenAnswer& answer);
    void reloaded(SessionRun& run, const OpenAnswer& answer, const OpenHints& hints);
    void notRead(SessionRun& run, const OpenAnswer& answer, const OpenHints& hints);
    void openingDone();
    void computeNext();
    void computed(const PairItem& item, const Result<TablePtr>& result, bool stopped);
    void noteVerified(const PairItem& item, const TablePtr& table);
    void startEngine();
    void engineKnown(const QString& text, const QString& notice);
    std::function<void(const Progress&)> reporter();
    void announceBusy();
    bool isBusy() const { return opening || !toOpen.empty() || pair.has_value() || enginePending; }

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
