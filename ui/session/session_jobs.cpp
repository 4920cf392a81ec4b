// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compute.h"
#include "ui/session/engine_source.h"
#include "ui/session/guarded.h"
#include "ui/session/session_private.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

namespace flipscope {

namespace {

EngineSource& source()
{
    static EngineSource source;
    return source;
}

Engine* engineOf(EngineHolder& holder, std::string& notice)
{
    if (!holder.engine) {
        auto made = guarded<EngineSelection>([] { return source() ? source()() : make_engine({}); });
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

void setEngineSource(EngineSource newSource)
{
    source() = std::move(newSource);
}

/// Progress from workers to the GUI thread, 30 times a second at most.
std::function<void(const Progress&)> Session::Private::reporter()
{
    using Clock = std::chrono::steady_clock;
    auto last = std::make_shared<std::atomic<Clock::time_point>>();
    return [session = q, last](const Progress& p) {
        const auto now = Clock::now();
        auto before = last->load();
        if (now - before < std::chrono::milliseconds(34) || !last->compare_exchange_strong(before, now))
            return;
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

bool Session::Private::beingReread(int id) const
{
    return std::ranges::any_of(toOpen, [id](const OpenItem& item) { return item.reloadOf == id && !item.takenUp; });
}

/// To be computed; not what was computed just now, and is still to be taken up.
bool Session::Private::waits(const SessionRun& run) const
{
    const bool wanted =
        run.state == SessionRun::State::Waiting || (run.state == SessionRun::State::Ready && toVerify.contains(run.id));
    return wanted && !beingReread(run.id) &&
           std::ranges::none_of(computedPairs, [&](const PairAnswer& answer) { return answer.item.runId == run.id; });
}

void Session::Private::computeNext()
{
    if (!pairs.empty() || enginePending || !wantedBaseline.isEmpty()) // the last: soon they have another baseline
        return;
    const SessionRun* base = findBaseline();
    const auto waiting = std::bind_front(&Private::waits, this);
    const auto first = std::ranges::find_if(q->m_runs, waiting);
    if (base == nullptr || beingReread(base->id) || first == q->m_runs.end()) {
        announceBusy();
        return;
    }
    if (q->m_engineText.isEmpty()) { // it decides how many at a time
        startEngine();
        announceBusy();
        return;
    }
    const bool refresh = toVerify.contains(first->id);
    for (SessionRun& run : q->m_runs)
        if (waiting(run) && toVerify.contains(run.id) == refresh && pairs.size() < (together ? most_runs_together : 1))
            pairs.push_back({base->id, run.id, base->trace, run.trace, refresh, run.table});
    for (const PairItem& item : pairs)
        find(item.runId)->state = SessionRun::State::Working;
    compute();
    tellSoon();
    announceBusy();
}

void Session::Private::compute()
{
    pairStop = {};
    Job job{pairStop.get_token(), reporter()};
    computePool.start([this, items = pairs, holder = engine, job = std::move(job)] {
        std::string notice;
        const bool fresh = !holder->engine;
        Engine* working = engineOf(*holder, notice);
        if (fresh && working != nullptr) {
            post(q, [this, text = describeEngine(*working), notice = QString::fromStdString(notice),
                     several = computes_together(*working)] { engineKnown(text, notice, several); });
        }
        std::vector<bool> told(items.size());
        const auto tell = [&](std::size_t i, const Result<TablePtr>& table) {
            told[i] = true;
            post(q, [this, item = items[i], table, stopped = job.cancelled()] { computed(item, table, stopped); });
        };
        const auto done = guarded<void>([&]() -> Result<void> {
            if (working == nullptr)
                return tl::unexpected(*holder->error);
            std::vector<TracePtr> runs;
            runs.reserve(items.size());
            for (const PairItem& item : items)
                runs.push_back(item.run);
            ComputeOptions options;
            options.refresh = items.front().refresh;
            compute_tables(items.front().baseline, runs, *working, options, job, tell);
            return {};
        });
        for (std::size_t i = 0; !done && i < items.size(); ++i)
            if (!told[i])
                tell(i, tl::unexpected(done.error()));
    });
}

bool Session::Private::stillOpen(const PairItem& item)
{
    const SessionRun *run = find(item.runId), *base = find(item.baselineId);
    return run != nullptr && run->trace == item.run && base != nullptr && base->trace == item.baseline;
}

/// Those that are wanted go on, also beside one that is not: it is a part of their work.
void Session::Private::keepWanted()
{
    const SessionRun* base = findBaseline();
    bool wanted = false;
    for (const PairItem& item : pairs) {
        if (base == nullptr || item.baselineId != base->id || !stillOpen(item))
            continue;
        wanted = true;
        if (SessionRun* run = find(item.runId); run->state == SessionRun::State::Waiting)
            run->state = SessionRun::State::Working;
    }
    if (!wanted)
        pairStop.request_stop();
}

void Session::Private::computed(const PairItem& item, const Result<TablePtr>& result, bool stopped)
{
    std::erase_if(pairs, [&](const PairItem& other) { return other.runId == item.runId; });
    if (result && stillOpen(item))
        tables[{item.baselineId, item.runId}] = *result;
    computedPairs.push_back({item, result, stopped});
    if (pairs.empty())
        computeNext();
    if (pairs.empty())
        takeUpPairs();
    else
        tellSoon();
}

/// States or tables are other ones; what comes within a moment is told together.
void Session::Private::tellSoon()
{
    if (!pairTimer.isActive())
        pairTimer.start();
}

void Session::Private::takeUpPairs()
{
    pairTimer.stop();
    for (const PairAnswer& answer : std::exchange(computedPairs, {}))
        take(answer);
    computeNext(); // one that was stopped for another waits again
    emit q->runsChanged();
    updateBanners();
    announceBusy();
}

void Session::Private::take(const PairAnswer& answer)
{
    const auto& [item, result, stopped] = answer;
    SessionRun* run = find(item.runId);
    const SessionRun* base = findBaseline();
    if (!stillOpen(item) || base == nullptr || base->id != item.baselineId || run->state == SessionRun::State::Baseline)
        return;
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
        run->state = SessionRun::State::Waiting; // its turn comes again
    }
}

void Session::Private::startEngine()
{
    if (enginePending || !pairs.empty() || !q->m_engineText.isEmpty())
        return;
    enginePending = true;
    computePool.start([this, holder = engine] {
        std::string notice;
        const Engine* made = engineOf(*holder, notice);
        QString text = made != nullptr ? describeEngine(*made) : QString();
        QString why = QString::fromStdString(made != nullptr ? notice : holder->error->message);
        post(q, [this, text = std::move(text), why = std::move(why),
                 several = made != nullptr && computes_together(*made)] {
            enginePending = false;
            engineKnown(text, why, several);
            computeNext();
            announceBusy();
        });
    });
}

void Session::Private::engineKnown(const QString& text, const QString& notice, bool computesTogether)
{
    together = computesTogether;
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
