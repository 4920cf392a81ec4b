// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// From a path to a run of the session.
#include "core/formats/kld_log.h"
#include "core/trace/open.h"
#include "core/trace/shift.h"
#include "ui/charts/chart_style.h"
#include "ui/session/guarded.h"
#include "ui/session/session_private.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <filesystem>

namespace flipscope {

namespace {

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

void openFile(const QString& file, const OpenHints& hints, const Job& job, OpenAnswer& answer)
{
    if (is_kld_log(file.toStdString())) {
        if (auto log = guarded<KldLog>([&] { return open_kld_log(file.toStdString()); }))
            answer.printouts.push_back(std::move(*log));
        else
            answer.errors.push_back({log.error(), file});
        return;
    }
    auto trace = guarded<TracePtr>([&] { return open_trace(file.toStdString(), hints, job); });
    if (trace) {
        answer.traces.push_back(*trace);
        // A summary brings its runs in the same file.
        answer.traces.insert(answer.traces.end(), (*trace)->others.begin(), (*trace)->others.end());
    } else if (trace.error().kind != ErrorKind::Cancelled)
        answer.errors.push_back({trace.error(), file});
}

OpenAnswer openPath(const QString& path, const OpenHints& hints, const Job& job)
{
    OpenAnswer answer;
    if (job.cancelled())
        return answer;
    if (!QFileInfo(path).isDir()) {
        openFile(path, hints, job, answer);
        return answer;
    }
    answer.files = tracesIn(path, job);
    if (answer.files.isEmpty() && !job.cancelled())
        answer.errors.push_back(
            {{ErrorKind::NotFound, fmt::format("There is no trace in the folder {}; traces are HDF5 files as the "
                                               "capture tools write them.",
                                               path.toStdString())},
             path});
    return answer;
}

} // namespace

void Session::Private::enqueue(const QStringList& paths, const std::vector<OpenHints>& hints)
{
    for (qsizetype i = 0; i < paths.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        enqueueItem({paths[i], -1, false, at < hints.size() ? hints[at] : OpenHints{}});
    }
}

void Session::Private::enqueueItem(OpenItem item)
{
    start(item);
    toOpen.push_back(std::move(item));
    announceBusy();
}

void Session::Private::start(OpenItem& item)
{
    item.ticket = ++lastTicket;
    ++opening;
    openPool.setMaxThreadCount(opening_threads());
    Job job{openStop.get_token(), openReport};
    openPool.start([this, ticket = item.ticket, path = item.path, hints = item.hints, job = std::move(job)] {
        OpenAnswer answer = openPath(path, hints, job);
        post(q, [this, ticket, answer = std::move(answer)] { opened(ticket, answer); });
    });
}

void Session::Private::stopOpening()
{
    openStop.request_stop();
    openStop = {};
    openTimer.stop();
    std::erase_if(toOpen, std::mem_fn(&OpenItem::missing));
    if (!toOpen.empty())
        takeUp();
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
    d->enqueueItem({QString::fromStdString(run->trace->path.string()), id, run->live, hints});
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

void Session::Private::opened(quint64 ticket, const OpenAnswer& answer)
{
    --opening;
    // A late answer to a request that was cancelled finds no ticket and is dropped.
    if (const auto item = std::ranges::find(toOpen, ticket, &OpenItem::ticket); item != toOpen.end()) {
        if (answer.files.isEmpty())
            item->answer = answer;
        else
            unfold(static_cast<std::size_t>(item - toOpen.begin()), answer.files);
        if (std::ranges::none_of(toOpen, &OpenItem::missing))
            takeUp();
        else if (!openTimer.isActive())
            openTimer.start();
    }
    computeNext();
    announceBusy();
}

/// What lies in a folder takes its place.
void Session::Private::unfold(std::size_t folder, const QStringList& files)
{
    std::vector<OpenItem> items;
    for (const QString& file : files)
        start(items.emplace_back(OpenItem{file, -1, toOpen[folder].live, toOpen[folder].hints}));
    const auto after = toOpen.erase(toOpen.begin() + static_cast<std::ptrdiff_t>(folder));
    toOpen.insert(after, std::move_iterator(items.begin()), std::move_iterator(items.end()));
}

/// An older state of a file must not come after a newer one.
bool Session::Private::waitsForEarlier(std::size_t index) const
{
    const int id = toOpen[index].reloadOf;
    const auto end = toOpen.begin() + static_cast<std::ptrdiff_t>(index);
    return id >= 0 && std::any_of(toOpen.begin(), end,
                                  [&](const OpenItem& item) { return item.reloadOf == id && item.missing(); });
}

void Session::Private::takeUp()
{
    openTimer.stop();
    std::vector<HintsQuestion> questions; // asked at the end, since the answer may come at once
    bool inOrder = true;
    for (std::size_t i = 0; i < toOpen.size(); ++i) {
        inOrder = inOrder && !toOpen[i].missing();
        if (!toOpen[i].answer || !(inOrder || (baselineKnown() && !waitsForEarlier(i))))
            continue;
        take(i, questions);
    }
    while (!toOpen.empty() && toOpen.front().takenUp)
        toOpen.pop_front();
    settle();
    updateBanners();
    for (const HintsQuestion& question : questions)
        emit q->hintsWanted(question.file, question.hints, question.why);
}

void Session::Private::take(std::size_t index, std::vector<HintsQuestion>& questions)
{
    OpenItem& item = toOpen[index];
    const OpenAnswer answer = *std::exchange(item.answer, std::nullopt);
    item.takenUp = true;
    if (item.reloadOf >= 0) {
        if (SessionRun* run = find(item.reloadOf))
            reloaded(*run, answer, item.hints);
        return;
    }
    for (const TracePtr& trace : answer.traces)
        addTrace(trace, index);
    for (const KldLog& log : answer.printouts)
        q->addPrintout(log);
    if (item.live) // what cannot be read yet is being written
        return;
    for (const OpenAnswer::Problem& problem : answer.errors) {
        const QString why = QString::fromStdString(problem.error.message);
        const bool helps = namesHint(problem.error.message);
        say(Banner::Level::Error, why, -1, helps ? problem.file : QString());
        if (helps)
            questions.push_back({problem.file, why, item.hints});
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

void Session::Private::addTrace(const TracePtr& trace, std::size_t index)
{
    OpenItem& item = toOpen[index];
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
    // In front of what was asked for later and was there before.
    const auto after = toOpen.begin() + static_cast<std::ptrdiff_t>(index) + 1;
    const auto place = std::ranges::find_if(q->m_runs, [&](const SessionRun& other) {
        return std::any_of(after, toOpen.end(),
                           [&](const OpenItem& later) { return std::ranges::count(later.runs, other.id) > 0; });
    });
    item.runs.push_back(run.id);
    q->m_runs.insert(place, std::move(run));
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

SessionRun* Session::Private::wantedRun()
{
    const auto run = std::ranges::find_if(q->m_runs, [this](const SessionRun& r) {
        return !wantedBaseline.isEmpty() &&
               QFileInfo(QString::fromStdString(r.trace->path.string())).canonicalFilePath() == wantedBaseline;
    });
    return run == q->m_runs.end() ? nullptr : &*run;
}

bool Session::Private::baselineKnown()
{
    if (!wantedBaseline.isEmpty())
        return wantedRun() != nullptr;
    return findBaseline() != nullptr ||
           std::ranges::any_of(q->m_runs, [](const SessionRun& run) { return run.trace->probes.size() > 0; });
}

void Session::Private::settle()
{
    if (q->m_runs.empty() || (!toOpen.empty() && !baselineKnown())) {
        if (toOpen.empty())
            wantedBaseline.clear(); // it could not be opened either
        emit q->runsChanged();
        return;
    }
    SessionRun* wanted = wantedRun();
    SessionRun* base = findBaseline();
    const int baseBefore = base != nullptr ? base->id : -1;
    if (!wantedBaseline.isEmpty() && wanted == nullptr)
        say(Banner::Level::Warning, Session::tr("The wished baseline is not open: %1 is compared with instead.")
                                        .arg(base != nullptr ? base->name : q->m_runs.front().name));
    wantedBaseline.clear();
    if (wanted != nullptr && wanted != base) {
        if (base != nullptr)
            base->state = SessionRun::State::Waiting;
        base = wanted;
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
    keepWanted();
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
        d->enqueueItem({QString::fromStdString(run.trace->path.string()), run.id, run.live, run.hints});
    }
    d->messages.clear();
}

} // namespace flipscope
