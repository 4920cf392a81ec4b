// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/guarded.h"
#include "ui/session/session_private.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace flipscope {

namespace {

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

void Session::Private::computeNext()
{
    if (pair || enginePending || !wantedBaseline.isEmpty()) // the last: soon they are compared with another
        return;
    const SessionRun* base = findBaseline();
    const auto next = std::ranges::find_if(q->m_runs, [this](const SessionRun& run) {
        return !beingReread(run.id) && (run.state == SessionRun::State::Waiting ||
                                        (run.state == SessionRun::State::Ready && toVerify.contains(run.id)));
    });
    if (base == nullptr || beingReread(base->id) || next == q->m_runs.end()) {
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
    tellSoon();
    announceBusy();
}

bool Session::Private::stillOpen(const PairItem& item)
{
    const SessionRun *run = find(item.runId), *base = find(item.baselineId);
    return run != nullptr && run->trace == item.run && base != nullptr && base->trace == item.baseline;
}

void Session::Private::computed(const PairItem& item, const Result<TablePtr>& result, bool stopped)
{
    pair.reset();
    if (result && stillOpen(item))
        tables[{item.baselineId, item.runId}] = *result;
    computedPairs.push_back({item, result, stopped});
    computeNext();
    if (!pair)
        takeUpPairs();
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
