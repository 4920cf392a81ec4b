// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/session.h"

#include "ui/charts/chart_style.h"
#include "ui/session/session_private.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>

namespace flipscope {

namespace {

QString pathOf(const Trace& trace)
{
    return QString::fromStdString(trace.path.string());
}

} // namespace

Session::Private::Private(Session* session) : q(session), engine(std::make_shared<EngineHolder>())
{
    openReport = reporter();
    openTimer.setSingleShot(true);
    openTimer.setInterval(1000);
    QObject::connect(&openTimer, &QTimer::timeout, q, [this] {
        takeUp();
        computeNext();
        announceBusy();
    });
    computePool.setMaxThreadCount(1);
    computePool.setExpiryTimeout(-1); // a GPU's context likes to stay with its thread
    pairTimer.setSingleShot(true);
    pairTimer.setInterval(100);
    QObject::connect(&pairTimer, &QTimer::timeout, q, [this] { takeUpPairs(); });
    watchTimer.setSingleShot(true);
    watchTimer.setInterval(300); // a writer changes a file many times in a row
    QObject::connect(&watchTimer, &QTimer::timeout, q, [this] { q->checkFiles(); });
    const auto later = [this] { watchTimer.start(); };
    QObject::connect(&watcher, &QFileSystemWatcher::fileChanged, q, later);
    QObject::connect(&watcher, &QFileSystemWatcher::directoryChanged, q, later);
}

Session::Session(QObject* parent) : QObject(parent), m_metric(&window_metrics().front()), m_path(this)
{
    if (const auto metric = find_window_metric("flip_rate"))
        m_metric = *metric;
    d = std::make_unique<Private>(this);
}

Session::~Session()
{
    d->openStop.request_stop();
    d->pairStop.request_stop();
    d->openPool.waitForDone();
    d->computePool.waitForDone();
}

// --- runs ---

SessionRun* Session::Private::find(int id)
{
    const auto it = std::ranges::find(q->m_runs, id, &SessionRun::id);
    return it == q->m_runs.end() ? nullptr : &*it;
}

SessionRun* Session::Private::findBaseline()
{
    const auto it = std::ranges::find(q->m_runs, SessionRun::State::Baseline, &SessionRun::state);
    return it == q->m_runs.end() ? nullptr : &*it;
}

const SessionRun* Session::run(int id) const
{
    return d->find(id);
}

const SessionRun* Session::baseline() const
{
    return d->findBaseline();
}

std::vector<const SessionRun*> Session::visibleRuns() const
{
    std::vector<const SessionRun*> runs;
    for (const SessionRun& run : m_runs)
        if (!run.hidden && run.state != SessionRun::State::Baseline)
            runs.push_back(&run);
    return runs;
}

void Session::open(const QStringList& paths, const QString& baselinePath, const std::vector<OpenHints>& hints)
{
    QStringList all = paths;
    std::vector<OpenHints> allHints = hints;
    if (!baselinePath.isEmpty()) {
        const QString canonical = QFileInfo(baselinePath).canonicalFilePath();
        d->wantedBaseline = canonical.isEmpty() ? QFileInfo(baselinePath).absoluteFilePath() : canonical;
        const auto same = [&](const QString& path) {
            return QFileInfo(path).canonicalFilePath() == canonical && !canonical.isEmpty();
        };
        if (std::none_of(all.begin(), all.end(), same)) {
            all.prepend(baselinePath);
            allHints.insert(allHints.begin(), OpenHints{});
        }
    }
    d->enqueue(all, allHints);
}

void Session::addPrintout(KldLog log)
{
    const auto known = std::ranges::find_if(
        m_printouts, [&](const KldLog& other) { return !log.path.empty() && other.path == log.path; });
    if (known == m_printouts.end())
        m_printouts.push_back(std::move(log));
    else
        *known = std::move(log); // read again
    emit printoutsChanged();
}

void Session::removePrintout(int index)
{
    if (index < 0 || index >= static_cast<int>(m_printouts.size()))
        return;
    m_printouts.erase(m_printouts.begin() + index);
    emit printoutsChanged();
}

void Session::Private::refreshStates()
{
    const SessionRun* base = findBaseline();
    for (SessionRun& run : q->m_runs) {
        if (base == nullptr || run.id == base->id)
            continue;
        const auto known = tables.find({base->id, run.id});
        run.table = known == tables.end() ? nullptr : known->second;
        run.state = run.table ? SessionRun::State::Ready : SessionRun::State::Waiting;
        run.problem.clear();
    }
    keepWanted();
}

void Session::setBaseline(int id)
{
    SessionRun* next = d->find(id);
    SessionRun* old = d->findBaseline();
    if (next == nullptr || next == old || !next->trace)
        return;
    if (old != nullptr)
        old->state = SessionRun::State::Waiting;
    next->state = SessionRun::State::Baseline;
    next->table = nullptr;
    next->problem.clear();
    next->hidden = false;
    if (m_floor == id)
        m_floor = -1;
    d->toVerify.clear();
    d->refreshStates();
    d->tracesChanged();
    // What was looked at was a comparison with the other baseline; a run cannot be looked at against itself.
    if (m_path.place().run == id)
        m_path.go({});
    emit runsChanged();
    d->updateBanners();
    d->computeNext();
}

void Session::setHidden(int id, bool hidden)
{
    SessionRun* run = d->find(id);
    if (run == nullptr || run->hidden == hidden || run->state == SessionRun::State::Baseline)
        return;
    run->hidden = hidden;
    if (hidden && m_path.place().run == id)
        m_path.go({});
    emit runsChanged();
    d->updateBanners();
}

void Session::rename(int id, const QString& name)
{
    SessionRun* run = d->find(id);
    const QString wanted = name.trimmed();
    if (run == nullptr || wanted.isEmpty() || wanted == run->name)
        return;
    run->name = wanted;
    emit runsChanged();
    d->updateBanners();
}

void Session::setColor(int id, const QColor& color)
{
    SessionRun* run = d->find(id);
    if (run == nullptr || !color.isValid() || run->color == color)
        return;
    run->color = color;
    emit runsChanged();
}

void Session::followPalette()
{
    const ChartStyle style = ChartStyle::ofPalette();
    bool changed = false;
    for (SessionRun& run : m_runs) {
        const QColor wanted = ownColor(run, style);
        changed = changed || wanted != run.color;
        run.color = wanted;
    }
    if (changed)
        emit runsChanged();
}

QColor ownColor(const SessionRun& run, const ChartStyle& style)
{
    const bool chosen =
        run.color != ChartStyle::light().runColor(run.id) && run.color != ChartStyle::dark().runColor(run.id);
    return chosen ? run.color : style.runColor(run.id);
}

void Session::move(int id, int row)
{
    const auto from = std::ranges::find(m_runs, id, &SessionRun::id);
    row = std::clamp(row, 0, static_cast<int>(m_runs.size()) - 1);
    if (from == m_runs.end() || from - m_runs.begin() == row)
        return;
    const auto to = m_runs.begin() + row;
    if (from < to)
        std::rotate(from, from + 1, to + 1);
    else
        std::rotate(to, from, from + 1);
    emit runsChanged();
}

void Session::arrange(const std::vector<int>& ids)
{
    const auto place = [&](const SessionRun& run) { return std::ranges::find(ids, run.id) - ids.begin(); };
    const auto before = [&](const SessionRun& a, const SessionRun& b) { return place(a) < place(b); };
    if (std::ranges::is_sorted(m_runs, before))
        return;
    std::ranges::stable_sort(m_runs, before);
    emit runsChanged();
}

void Session::setGroupKey(const QString& key)
{
    if (key == m_groupKey)
        return;
    m_groupKey = key;
    emit runsChanged();
}

void Session::Private::dropTables(int id)
{
    grids.clear(); // they hold tables
    std::erase_if(tables, [id](const auto& entry) { return entry.first.first == id || entry.first.second == id; });
}

void Session::remove(int id)
{
    const auto it = std::ranges::find(m_runs, id, &SessionRun::id);
    if (it == m_runs.end())
        return;
    const bool wasBaseline = it->state == SessionRun::State::Baseline;
    m_runs.erase(it);
    if (m_floor == id)
        m_floor = -1;
    d->dropTables(id);
    d->toVerify.remove(id);
    std::erase_if(d->messages, [id](const Banner& banner) { return banner.run == id; });
    if (m_runs.empty()) {
        closeAll();
        return;
    }
    if (wasBaseline) {
        const auto next = std::ranges::find_if(m_runs, [](const SessionRun& run) { return run.trace != nullptr; });
        if (next != m_runs.end()) {
            next->state = SessionRun::State::Baseline;
            next->table = nullptr;
            next->problem.clear();
            next->hidden = false;
            if (m_floor == next->id)
                m_floor = -1;
            m_path.forgetRun(next->id);
        }
        d->refreshStates();
    }
    d->keepWanted();
    m_path.forgetRun(id);
    d->tracesChanged();
    emit runsChanged();
    d->updateBanners();
    d->computeNext();
}

void Session::closeAll()
{
    d->toOpen.clear();
    d->stopOpening();
    d->computedPairs.clear();
    d->pairStop.request_stop();
    d->wantedBaseline.clear();
    m_runs.clear();
    d->tables.clear();
    d->toVerify.clear();
    d->messages.clear();
    d->dismissed.clear();
    d->grids.clear();
    m_floor = -1;
    m_groupKey.clear();
    m_windowChosen = m_firstWindow <= 0;
    m_windowTokens = m_windowChosen ? default_window_tokens : m_firstWindow;
    m_comparedA = m_comparedB = m_comparedAt = -1;
    setBookmarks({});
    if (!m_printouts.empty()) {
        m_printouts.clear();
        emit printoutsChanged();
    }
    d->tracesChanged();
    m_path.reset();
    emit runsChanged();
    d->updateBanners();
}

void Session::cancel()
{
    d->stopOpening();
    for (const PairAnswer& answer : std::exchange(d->computedPairs, {}))
        d->take(answer);
    d->toVerify.clear();
    for (SessionRun& run : m_runs) {
        if (run.state != SessionRun::State::Waiting && run.state != SessionRun::State::Working)
            continue;
        run.state = run.table ? SessionRun::State::Ready : SessionRun::State::Failed;
        if (!run.table)
            run.problem = tr("Stopped before it was computed; F5 computes it.");
    }
    d->pairStop.request_stop();
    d->settle();
    d->announceBusy();
}

bool Session::busy() const
{
    return d->isBusy();
}

void Session::Private::tracesChanged()
{
    std::vector<TracePtr> traces;
    if (const SessionRun* base = findBaseline())
        traces.push_back(base->trace);
    for (const SessionRun& run : q->m_runs)
        if (run.trace && run.state != SessionRun::State::Baseline)
            traces.push_back(run.trace);
    q->m_texts = TokenTexts(traces);
    chooseWindow();
    q->setRange(q->m_range); // cut to the history that is left
    watchFiles();
}

// --- files that change under our hands ---

void Session::Private::watchFiles()
{
    QStringList wanted;
    for (const SessionRun& run : q->m_runs) {
        const QFileInfo file(pathOf(*run.trace));
        for (const QString& path : {file.absoluteFilePath(), file.absolutePath()})
            if (!wanted.contains(path) && QFileInfo::exists(path))
                wanted.append(path);
    }
    const QStringList watched = watcher.files() + watcher.directories();
    QStringList gone, fresh;
    std::ranges::copy_if(watched, std::back_inserter(gone), [&](const QString& p) { return !wanted.contains(p); });
    std::ranges::copy_if(wanted, std::back_inserter(fresh), [&](const QString& p) { return !watched.contains(p); });
    if (!gone.isEmpty())
        watcher.removePaths(gone);
    if (!fresh.isEmpty())
        watcher.addPaths(fresh);
}

void Session::checkFiles()
{
    bool news = false;
    for (SessionRun& run : m_runs) {
        const auto stamp = stamp_of(run.trace->path);
        const bool changed = !run.live && (!stamp || !(*stamp == run.trace->stamp));
        news = news || changed != run.changedOnDisk;
        run.changedOnDisk = changed;
    }
    d->watchFiles(); // a file that was replaced by another of its name is no longer watched
    if (news) {
        emit runsChanged();
        d->updateBanners();
    }
}

// --- what is looked at ---

HistoryExtent Session::extent() const
{
    HistoryExtent extent;
    for (const SessionRun& run : m_runs)
        if (run.state != SessionRun::State::Failed)
            extent.include(*run.trace);
    return extent;
}

void Session::Private::chooseWindow()
{
    if (!q->m_windowChosen || q->m_runs.empty())
        return;
    useWindow(first_window_tokens(q->extent().last_position));
}

void Session::Private::useWindow(qint64 tokens)
{
    if (tokens == q->m_windowTokens)
        return;
    keepPlace([&] { q->m_windowTokens = tokens; });
    emit q->viewChanged();
}

/// The selected column keeps the place it is about: the new column that its start, or its probe, lies in.
void Session::Private::keepPlace(const std::function<void()>& change)
{
    Place place = q->m_path.place();
    const qint64 first = place.windowStart >= 0 ? q->columnProbes(place.windowStart).start : -1;
    change();
    if (place.windowStart < 0)
        return;
    place.windowStart = q->columnStart(place.probe >= 0 ? place.probe : std::max<qint64>(first, 0));
    q->m_path.go(place);
}

void Session::setWindowTokens(qint64 tokens)
{
    if (tokens <= 0) {
        if (!m_windowChosen) {
            m_windowChosen = true;
            d->chooseWindow();
            d->updateBanners();
        }
        return;
    }
    m_windowChosen = false;
    d->useWindow(tokens);
    d->updateBanners();
}

void Session::setFirstWindow(qint64 tokens)
{
    const bool untouched = m_firstWindow <= 0 ? m_windowChosen : m_windowTokens == m_firstWindow;
    m_firstWindow = std::max<qint64>(0, tokens);
    if (untouched) // nobody chose another for this session
        setWindowTokens(m_firstWindow);
}

void Session::setMetric(const QString& name)
{
    const auto metric = find_window_metric(name.toStdString());
    if (!metric || *metric == m_metric)
        return;
    m_metric = *metric;
    emit viewChanged();
}

void Session::setMargin(double nats)
{
    if (!(nats >= 0) || nats == m_margin)
        return;
    m_margin = nats;
    emit viewChanged();
}

void Session::setColourScale(const ColourScale& scale)
{
    if (scale == m_scale)
        return;
    m_scale = scale;
    emit viewChanged();
}

Result<void> Session::checkOutput(const QString& path) const
{
    std::vector<std::filesystem::path> inputs;
    for (const SessionRun& run : m_runs)
        inputs.push_back(run.trace->path);
    return check_outputs(inputs, {path.toStdString()});
}

HeatmapGrid Session::heatmap() const
{
    return heatmap(*m_metric);
}

void Session::setRange(TokenRange range)
{
    const HistoryExtent all = extent();
    const qint64 end = std::max<qint64>(all.n_tokens, all.last_position + 1);
    range.start = std::clamp<qint64>(range.start, 0, std::max<qint64>(end - 1, 0));
    range.end = std::min<qint64>(range.end, end);
    if (range.end <= range.start || (range.start == 0 && range.end == end))
        range = {};
    if (range == m_range)
        return;
    m_range = range;
    emit rangeChanged();
}

void Session::setFloor(int id)
{
    const SessionRun* run = d->find(id);
    const int floor = run != nullptr && run->state != SessionRun::State::Baseline ? id : -1;
    if (floor == m_floor)
        return;
    m_floor = floor;
    emit runsChanged();
    d->updateBanners();
}

} // namespace flipscope
