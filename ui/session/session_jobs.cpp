// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/kld_log.h"
#include "core/trace/open.h"
#include "core/trace/shift.h"
#include "ui/charts/chart_style.h"
#include "ui/session/guarded.h"
#include "ui/session/session_private.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace flipscope {

namespace {

/// Has `work` done by the thread that `context` lives in.
template <class Work>
void post([[maybe_unused]] QObject* context, [[maybe_unused]] Work&& work)
{
#ifndef __clang_analyzer__ // which takes the functor that waits in Qt's queue for a leak
    QMetaObject::invokeMethod(context, std::forward<Work>(work), Qt::QueuedConnection);
#endif
}

/// Traces in a folder, not in the folders in it, by name.
QStringList tracesIn(const QString& folder, const Job& job)
{
    QStringList found;
    const QDir dir(folder);
    for (const QString& name : dir.entryList(QDir::Files | QDir::Readable, QDir::Name | QDir::IgnoreCase)) {
        if (job.cancelled())
            break;
        if (looks_like_trace(dir.filePath(name).toStdString()))
            found.append(dir.filePath(name));
    }
    return found;
}

OpenAnswer openItem(const QString& path, const OpenHints& hints, const Job& job)
{
    OpenAnswer answer;
    QStringList files{path};
    if (QFileInfo(path).isDir()) {
        files = tracesIn(path, job);
        if (files.isEmpty() && !job.cancelled())
            answer.errors.push_back(
                {{ErrorKind::NotFound, fmt::format("There is no trace in the folder {}; traces are HDF5 files as the "
                                                   "capture tools write them.",
                                                   path.toStdString())},
                 path});
    }
    for (const QString& file : files) {
        if (job.cancelled())
            break;
        if (is_kld_log(file.toStdString())) {
            if (auto log = guarded<KldLog>([&] { return open_kld_log(file.toStdString()); }))
                answer.printouts.push_back(std::move(*log));
            else
                answer.errors.push_back({log.error(), file});
            continue;
        }
        auto trace = guarded<TracePtr>([&] { return open_trace(file.toStdString(), hints, job); });
        if (trace) {
            answer.traces.push_back(*trace);
            // A summary brings its runs in the same file.
            answer.traces.insert(answer.traces.end(), (*trace)->others.begin(), (*trace)->others.end());
        } else if (trace.error().kind != ErrorKind::Cancelled)
            answer.errors.push_back({trace.error(), file});
    }
    return answer;
}

Engine* engineOf(EngineHolder& holder, std::string& notice)
{
    if (!holder.engine) {
        auto made = guarded<EngineSelection>([] { return make_engine({}); });
        holder.error.reset();
        if (made) {
            holder.engine = std::move(made->engine);
            notice = made->notice;
        } else {
            holder.error = made.error();
        }
    }
    return holder.engine.get();
}

QString describeEngine(const Engine& engine)
{
    const QString name = QString::fromStdString(std::string(engine.name()));
    const QString detail = QString::fromStdString(engine.detail());
    const QString shown = name == QLatin1String("cpu") || name == QLatin1String("cuda") ? name.toUpper() : name;
    return detail.isEmpty() ? shown : QStringLiteral("%1 (%2)").arg(shown, detail);
}

} // namespace

/// Progress from a worker to the GUI thread, 30 times a second at most.
std::function<void(const Progress&)> Session::Private::reporter()
{
    using Clock = std::chrono::steady_clock;
    auto last = std::make_shared<Clock::time_point>();
    return [session = q, last](const Progress& p) {
        const auto now = Clock::now();
        if (now - *last < std::chrono::milliseconds(34))
            return;
        *last = now;
        post(session,
             [session, p] { emit session->progress(QString::fromStdString(p.stage), p.done, p.total, p.bytes); });
    };
}

void Session::Private::announceBusy()
{
    if (isBusy() == wasBusy)
        return;
    wasBusy = isBusy();
    emit q->busyChanged(wasBusy);
}

// --- opening ---

void Session::Private::enqueue(const QStringList& paths, const std::vector<OpenHints>& hints)
{
    for (qsizetype i = 0; i < paths.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        toOpen.push_back({++lastTicket, paths[i], -1, false, at < hints.size() ? hints[at] : OpenHints{}});
    }
    openNext();
}

void Session::openWith(const QString& path, const OpenHints& hints)
{
    std::erase_if(d->messages, [&](const Banner& banner) { return banner.file == path; }); // it is asked again
    d->enqueue({path}, {hints});
}

void Session::setHints(int id, const OpenHints& hints)
{
    const SessionRun* run = d->find(id);
    if (run == nullptr || run->hints == hints)
        return;
    d->toOpen.push_back({++d->lastTicket, QString::fromStdString(run->trace->path.string()), id, run->live, hints});
    d->openNext();
}

void Session::shift(int id)
{
    const SessionRun *base = baseline(), *run = d->find(id);
    if (base == nullptr || run == nullptr)
        return;
    OpenHints hints = run->hints;
    hints.shift += shift_that_fits(*base->trace, *run->trace);
    if (std::abs(hints.shift) <= 1)
        setHints(id, hints);
}

void Session::Private::openNext()
{
    if (opening || toOpen.empty())
        return;
    opening = true;
    openStop = {};
    const OpenItem item = toOpen.front();
    Job job{openStop.get_token(), reporter()};
    openPool.start([this, item, job = std::move(job)] {
        OpenAnswer answer = openItem(item.path, item.hints, job);
        post(q, [this, ticket = item.ticket, answer = std::move(answer)] { opened(ticket, answer); });
    });
    announceBusy();
}

void Session::Private::opened(quint64 ticket, const OpenAnswer& answer)
{
    opening = false;
    // A late answer to a request that was cancelled finds no ticket and is dropped.
    if (!toOpen.empty() && toOpen.front().ticket == ticket) {
        const OpenItem item = toOpen.front();
        toOpen.pop_front();
        opened(item, answer);
        if (toOpen.empty())
            openingDone();
        else
            emit q->runsChanged();
    }
    openNext();
    computeNext();
    updateBanners();
    announceBusy();
}

void Session::Private::opened(const OpenItem& item, const OpenAnswer& answer)
{
    if (item.reloadOf >= 0) {
        if (SessionRun* run = find(item.reloadOf))
            reloaded(*run, answer, item.hints);
        return;
    }
    for (const TracePtr& trace : answer.traces)
        addTrace(trace, item);
    for (const KldLog& log : answer.printouts)
        q->addPrintout(log);
    if (item.live) // what cannot be read yet is being written
        return;
    for (const OpenAnswer::Problem& problem : answer.errors) {
        const QString why = QString::fromStdString(problem.error.message);
        const bool helps = namesHint(problem.error.message);
        say(Banner::Level::Error, why, -1, helps ? problem.file : QString());
        if (helps)
            emit q->hintsWanted(problem.file, item.hints, why);
    }
}

/// The trace's own name, with a number where another run has it already.
QString Session::Private::nameFor(const SessionRun& run) const
{
    std::vector<std::string> taken;
    for (const SessionRun& other : q->m_runs)
        if (other.id != run.id)
            taken.push_back(other.name.toStdString());
    return QString::fromStdString(distinct_name(run.trace->run_name, taken));
}

void Session::Private::addTrace(const TracePtr& trace, const OpenItem& item)
{
    for (const SessionRun& run : q->m_runs) {
        std::error_code ignored;
        // Not by the inode alone: that of a file which was replaced goes to the next one made.
        const bool sameFile =
            run.trace->stamp == trace->stamp || std::filesystem::equivalent(run.trace->path, trace->path, ignored);
        const bool inOneSummary = run.trace->metrics != trace->metrics && (run.trace->metrics || trace->metrics);
        if (sameFile && !(inOneSummary && run.trace->run_name != trace->run_name)) {
            say(Banner::Level::Note, Session::tr("%1 is open already, as %2.")
                                         .arg(QString::fromStdString(trace->path.filename().string()), run.name));
            return;
        }
    }
    SessionRun run;
    run.id = nextId++;
    run.trace = trace;
    run.hints = item.hints;
    run.name = nameFor(run);
    run.color = ChartStyle::ofPalette().runColor(run.id);
    run.live = item.live;
    q->m_runs.push_back(std::move(run));
}

/// A file that was open and cannot be opened again.
void Session::Private::notRead(SessionRun& run, const OpenAnswer& answer, const OpenHints& hints)
{
    const QString why = answer.errors.empty() ? Session::tr("there is no trace any more.")
                                              : QString::fromStdString(answer.errors.front().error.message);
    if (run.hints != hints) { // it was only asked whether it can be read so
        say(Banner::Level::Error,
            Session::tr("%1 could not be read like that; what is shown is from before. %2").arg(run.name, why), run.id);
        return;
    }
    run.changedOnDisk = false;
    if (run.state == SessionRun::State::Baseline) {
        say(Banner::Level::Error,
            Session::tr("The baseline %1 could not be read again; what is shown is from before. %2").arg(run.name, why),
            run.id);
        return;
    }
    dropTables(run.id);
    run.table = nullptr;
    run.state = SessionRun::State::Failed;
    run.problem = why;
}

void Session::Private::reloaded(SessionRun& run, const OpenAnswer& answer, const OpenHints& hints)
{
    if (answer.traces.empty() && run.live)
        return; // it is being given its name, say; the next look finds it
    if (answer.traces.empty()) {
        notRead(run, answer, hints);
        return;
    }
    const auto same = std::ranges::find_if(answer.traces, [&](const TracePtr& t) { // of a summary's several runs
        return t->run_name == run.trace->run_name && !t->metrics == !run.trace->metrics;
    });
    const TracePtr& fresh = same == answer.traces.end() ? answer.traces.front() : *same;
    run.changedOnDisk = false;
    if (run.hints != hints && run.state == SessionRun::State::Failed) {
        run.state = SessionRun::State::Waiting;
        run.problem.clear();
    }
    run.hints = hints;
    if (fresh->stamp == run.trace->stamp && fresh->content_key == run.trace->content_key)
        return;
    const bool namedByTrace = run.name == nameFor(run);
    run.trace = fresh;
    if (namedByTrace)
        run.name = nameFor(run);
    dropTables(run.id);
}

void Session::Private::openingDone()
{
    if (q->m_runs.empty() || !toOpen.empty()) {
        emit q->runsChanged();
        return;
    }
    const auto wanted = std::ranges::find_if(q->m_runs, [this](const SessionRun& run) {
        return !wantedBaseline.isEmpty() &&
               QFileInfo(QString::fromStdString(run.trace->path.string())).canonicalFilePath() == wantedBaseline;
    });
    SessionRun* base = findBaseline();
    const int baseBefore = base != nullptr ? base->id : -1;
    if (!wantedBaseline.isEmpty() && wanted == q->m_runs.end())
        say(Banner::Level::Warning, Session::tr("The wished baseline is not open: %1 is compared with instead.")
                                        .arg(base != nullptr ? base->name : q->m_runs.front().name));
    wantedBaseline.clear();
    if (wanted != q->m_runs.end() && &*wanted != base) {
        if (base != nullptr)
            base->state = SessionRun::State::Waiting;
        base = &*wanted;
    } else if (base == nullptr) {
        // A file of continuations only has nothing to be compared with.
        const auto first =
            std::ranges::find_if(q->m_runs, [](const SessionRun& r) { return r.trace->probes.size() > 0; });
        base = first == q->m_runs.end() ? &q->m_runs.front() : &*first;
    }
    base->state = SessionRun::State::Baseline;
    base->table = nullptr;
    for (SessionRun& run : q->m_runs) {
        if (run.id == base->id || run.state == SessionRun::State::Failed)
            continue;
        const auto known = tables.find({base->id, run.id});
        run.state = known != tables.end() ? SessionRun::State::Ready : SessionRun::State::Waiting;
        if (known != tables.end())
            run.table = known->second;
        else if (!run.live || base->id != baseBefore) // one that grows keeps its numbers until there are more
            run.table = nullptr;
    }
    if (pair) {
        SessionRun* run = find(pair->runId);
        if (run == nullptr || pair->baselineId != base->id || pair->run != run->trace || pair->baseline != base->trace)
            pairStop.request_stop();
        else if (run->state == SessionRun::State::Waiting)
            run->state = SessionRun::State::Working;
    }
    tracesChanged();
    emit q->runsChanged();
    updateBanners();
}

void Session::reload()
{
    if (m_runs.empty())
        return;
    for (SessionRun& run : m_runs) {
        if (run.state == SessionRun::State::Failed) {
            run.state = SessionRun::State::Waiting;
            run.problem.clear();
        }
        d->toOpen.push_back(
            {++d->lastTicket, QString::fromStdString(run.trace->path.string()), run.id, run.live, run.hints});
    }
    d->messages.clear();
    d->openNext();
}

// --- computing ---

void Session::Private::computeNext()
{
    if (pair || enginePending || opening || !toOpen.empty())
        return;
    const SessionRun* base = findBaseline();
    const auto next = std::ranges::find_if(q->m_runs, [this](const SessionRun& run) {
        return run.state == SessionRun::State::Waiting ||
               (run.state == SessionRun::State::Ready && toVerify.contains(run.id));
    });
    if (base == nullptr || next == q->m_runs.end()) {
        announceBusy();
        return;
    }
    pair = PairItem{base->id, next->id, base->trace, next->trace, toVerify.contains(next->id), next->table};
    next->state = SessionRun::State::Working;
    pairStop = {};
    Job job{pairStop.get_token(), reporter()};
    computePool.start([this, item = *pair, holder = engine, job = std::move(job)] {
        std::string notice;
        const bool fresh = !holder->engine;
        Engine* working = engineOf(*holder, notice);
        if (fresh && working != nullptr) {
            post(q, [this, text = describeEngine(*working), notice = QString::fromStdString(notice)] {
                engineKnown(text, notice);
            });
        }
        Result<TablePtr> table = guarded<TablePtr>([&]() -> Result<TablePtr> {
            if (working == nullptr)
                return tl::unexpected(*holder->error);
            ComputeOptions options;
            options.refresh = item.refresh;
            return compute_table(item.baseline, item.run, *working, options, job);
        });
        post(q, [this, item, table = std::move(table), stopped = job.cancelled()] { computed(item, table, stopped); });
    });
    emit q->runsChanged();
    announceBusy();
}

void Session::Private::computed(const PairItem& item, const Result<TablePtr>& result, bool stopped)
{
    pair.reset();
    SessionRun* run = find(item.runId);
    const SessionRun* base = findBaseline();
    const SessionRun* itsBase = find(item.baselineId);
    const bool sameTraces =
        run != nullptr && run->trace == item.run && itsBase != nullptr && itsBase->trace == item.baseline;
    if (sameTraces && result)
        tables[{item.baselineId, item.runId}] = *result;
    if (sameTraces && base->id == item.baselineId && run->state != SessionRun::State::Baseline) {
        if (result) {
            run->table = *result;
            run->state = SessionRun::State::Ready;
            run->problem.clear();
            if (item.refresh && toVerify.contains(run->id))
                noteVerified(item, *result);
        } else if (!stopped && result.error().kind != ErrorKind::Cancelled) {
            dropTables(run->id);
            run->table = nullptr;
            run->state = SessionRun::State::Failed;
            run->problem = QString::fromStdString(result.error().message);
            toVerify.remove(run->id);
            chooseWindow(); // its history may have been the longest
        } else if (run->state == SessionRun::State::Working) {
            run->state = SessionRun::State::Waiting; // it was stopped for another pair; its turn comes again
        }
    }
    computeNext();
    emit q->runsChanged();
    updateBanners();
    announceBusy();
}

void Session::Private::startEngine()
{
    if (enginePending || pair || !q->m_engineText.isEmpty())
        return;
    enginePending = true;
    computePool.start([this, holder = engine] {
        std::string notice;
        const Engine* made = engineOf(*holder, notice);
        QString text = made != nullptr ? describeEngine(*made) : QString();
        QString why = QString::fromStdString(made != nullptr ? notice : holder->error->message);
        post(q, [this, text = std::move(text), why = std::move(why)] {
            enginePending = false;
            engineKnown(text, why);
            computeNext();
            announceBusy();
        });
    });
}

void Session::Private::engineKnown(const QString& text, const QString& notice)
{
    // The status line names the cause in short; the notice is the whole sentence.
    static const QString prefix = QStringLiteral("Computing on the CPU: ");
    const QString cause = notice.startsWith(prefix) ? notice.mid(prefix.size()) : notice;
    q->m_engineText = text.isEmpty() ? notice : cause.isEmpty() ? text : QStringLiteral("%1: %2").arg(text, cause);
    q->m_engineNotice = notice;
    emit q->engineChanged();
    updateBanners();
}

void Session::prepareEngine()
{
    d->startEngine();
}

void Session::verify()
{
    d->verified = 0;
    d->verifiedDifferent.clear();
    d->toVerify.clear();
    for (const SessionRun& run : m_runs)
        if (run.state == SessionRun::State::Ready)
            d->toVerify.insert(run.id);
    // Tables against other baselines are taken from the cache again only when they are asked for.
    const SessionRun* base = baseline();
    std::erase_if(d->tables, [&](const auto& entry) { return base == nullptr || entry.first.first != base->id; });
    std::erase_if(d->messages, [](const Banner& b) { return b.text.startsWith(tr("Verified")); });
    d->computeNext();
}

void Session::Private::noteVerified(const PairItem& item, const TablePtr& table)
{
    const SessionRun* run = find(item.runId);
    toVerify.remove(item.runId);
    ++verified;
    const qint64 different = item.before ? different_probes(*item.before, *table) : 0;
    if (different > 0)
        verifiedDifferent.append(Session::tr("%1 (%2 of %3 probes)")
                                     .arg(run->name)
                                     .arg(different)
                                     .arg(table->probes.size() + table->dense.size()));
    if (!toVerify.isEmpty())
        return;
    if (verifiedDifferent.isEmpty())
        say(Banner::Level::Note, Session::tr("Verified: %1 computed again from the rows, every number is the same.")
                                     .arg(verified == 1 ? Session::tr("1 run") : Session::tr("%1 runs").arg(verified)));
    else
        say(Banner::Level::Warning,
            Session::tr("Verified: other numbers than before for %1; the new ones are shown. Was a file written to?")
                .arg(verifiedDifferent.join(QStringLiteral(", "))));
}

} // namespace flipscope
