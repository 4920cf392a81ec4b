// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/session_file.h"

#include "ui/charts/chart_style.h"
#include "ui/charts/colormap.h"

#include <QFileInfo>

#include <algorithm>

namespace flipscope {

namespace {

const char* nameOf(ColourScale::Kind kind)
{
    return kind == ColourScale::Kind::Log ? "log" : kind == ColourScale::Kind::Percentile ? "percentile" : "linear";
}

ColourScale scaleOf(const SessionFile::Scale& scale)
{
    ColourScale s;
    s.kind = scale.kind == "log"          ? ColourScale::Kind::Log
             : scale.kind == "percentile" ? ColourScale::Kind::Percentile
                                          : ColourScale::Kind::Linear;
    s.automatic = scale.automatic || scale.high <= scale.low;
    s.low = scale.low;
    s.high = scale.high;
    const QString map = QString::fromStdString(scale.map);
    if (colormapNames().contains(map))
        s.map = map;
    return s;
}

bool sameFile(const QString& a, const QString& b)
{
    return QFileInfo(a).canonicalFilePath() == QFileInfo(b).canonicalFilePath();
}

} // namespace

// --- bookmarks ---

void Session::addBookmark(const Bookmark& bookmark)
{
    const auto at = std::ranges::upper_bound(m_bookmarks, bookmark.position, {}, &Bookmark::position);
    m_bookmarks.insert(at, bookmark);
    emit bookmarksChanged();
}

void Session::setBookmarkText(int index, const QString& text)
{
    if (index < 0 || index >= static_cast<int>(m_bookmarks.size()))
        return;
    Bookmark& bookmark = m_bookmarks[static_cast<std::size_t>(index)];
    if (bookmark.text == text.toStdString())
        return;
    bookmark.text = text.toStdString();
    emit bookmarksChanged();
}

void Session::removeBookmark(int index)
{
    if (index < 0 || index >= static_cast<int>(m_bookmarks.size()))
        return;
    m_bookmarks.erase(m_bookmarks.begin() + index);
    emit bookmarksChanged();
}

void Session::setBookmarks(std::vector<Bookmark> bookmarks)
{
    std::ranges::stable_sort(bookmarks, {}, &Bookmark::position);
    if (bookmarks == m_bookmarks)
        return;
    m_bookmarks = std::move(bookmarks);
    emit bookmarksChanged();
}

// --- saving ---

SessionFile sessionFileOf(const Session& session)
{
    SessionFile file;
    const auto& runs = session.runs();
    const auto indexOf = [&](int id) {
        const auto it = std::ranges::find(runs, id, &SessionRun::id);
        return it == runs.end() ? -1 : static_cast<int>(it - runs.begin());
    };
    for (const SessionRun& run : runs) {
        SessionFile::File f;
        f.absolute = QFileInfo(QString::fromStdString(run.trace->path.string())).absoluteFilePath().toStdString();
        f.content_key = run.trace->content_key;
        if (run.name.toStdString() != run.trace->run_name)
            f.name = run.name.toStdString();
        // A colour of the style follows light and dark; only one that a person chose is kept.
        const bool chosen = ownColor(run, ChartStyle::light()) == ownColor(run, ChartStyle::dark());
        if (chosen)
            f.color = run.color.name().toStdString();
        f.hidden = run.hidden;
        f.hints = run.hints;
        file.files.push_back(std::move(f));
        if (run.state == SessionRun::State::Baseline)
            file.baseline = indexOf(run.id);
    }
    for (const KldLog& log : session.printouts())
        if (!log.path.empty()) { // a pasted one has no file
            SessionFile::File f;
            f.absolute = QFileInfo(QString::fromStdString(log.path.string())).absoluteFilePath().toStdString();
            file.printouts.push_back(std::move(f));
        }
    const auto [a, b] = session.comparedRuns();
    file.compared_a = a == nullptr ? -1 : indexOf(a->id);
    file.compared_b = b == nullptr ? -1 : indexOf(b->id);
    file.window_tokens = session.windowChosen() ? 0 : session.windowTokens();
    file.metric = session.metric().name;
    file.margin = session.margin();
    const ColourScale& scale = session.colourScale();
    file.scale = {nameOf(scale.kind), scale.automatic, scale.low, scale.high, scale.map.toStdString()};
    const Place& place = session.path().place();
    file.place = {indexOf(place.run), place.windowStart, place.probe, place.token};
    file.bookmarks = session.bookmarks();
    for (Bookmark& bookmark : file.bookmarks)
        bookmark.run = indexOf(bookmark.run);
    return file;
}

Result<void> saveSession(const Session& session, const QString& page, const QString& path)
{
    if (auto ok = session.checkOutput(path); !ok)
        return ok;
    SessionFile file = sessionFileOf(session);
    file.page = page.toStdString();
    return write_session(path.toStdString(), std::move(file));
}

// --- opening ---

SessionOpener::SessionOpener(Session* session, QObject* parent) : QObject(parent), m_session(session)
{
    connect(session, &Session::runsChanged, this, &SessionOpener::applyRuns);
    connect(session, &Session::busyChanged, this, [this](bool busy) {
        if (!busy)
            applyRuns();
    });
}

void SessionOpener::open(const QString& path)
{
    abandon();
    auto file = read_session(path.toStdString());
    if (!file) {
        emit failed(file.error());
        return;
    }
    m_path = QFileInfo(path).absoluteFilePath();
    m_file = std::move(*file);
    m_folders.clear();
    locate();
    if (missingFiles().isEmpty())
        proceed();
    else
        emit missing();
}

void SessionOpener::locate()
{
    m_found.clear();
    for (const SessionFile::File& file : m_file->files)
        m_found.append(QString::fromStdString(find_session_file(file, m_path.toStdString(), m_folders).string()));
}

QStringList SessionOpener::missingFiles() const
{
    QStringList names;
    for (qsizetype i = 0; m_file && i < m_found.size(); ++i) {
        const SessionFile::File& file = m_file->files[static_cast<std::size_t>(i)];
        if (m_found[i].isEmpty())
            names.append(QString::fromStdString((file.absolute.empty() ? file.relative : file.absolute).string()));
    }
    return names;
}

void SessionOpener::lookIn(const QString& folder)
{
    if (!m_file)
        return;
    m_folders.emplace_back(folder.toStdString());
    locate();
}

void SessionOpener::abandon()
{
    m_file.reset();
    m_opening = false;
}

void SessionOpener::proceed()
{
    if (!m_file)
        return;
    QStringList paths;
    std::vector<OpenHints> hints;
    for (qsizetype i = 0; i < m_found.size(); ++i)
        if (!m_found[i].isEmpty()) {
            paths.append(m_found[i]);
            hints.push_back(m_file->files[static_cast<std::size_t>(i)].hints);
        }
    if (paths.isEmpty() && !m_file->files.empty()) {
        const QString first = missingFiles().front();
        abandon();
        emit failed(
            {ErrorKind::NotFound, fmt::format("{}: none of the session's traces is there any more; the first was {}.",
                                              m_path.toStdString(), first.toStdString())});
        return;
    }
    m_applied.assign(m_file->files.size(), false);
    m_session->closeAll();
    apply();
    emit started(m_path, QString::fromStdString(m_file->page));
    m_opening = true;
    const auto base = static_cast<qsizetype>(m_file->baseline);
    for (const SessionFile::File& file : m_file->printouts) // one that is gone is no loss of numbers
        if (const auto found = find_session_file(file, m_path.toStdString(), m_folders); !found.empty())
            paths.append(QString::fromStdString(found.string()));
    m_session->open(paths, base >= 0 && base < m_found.size() ? m_found[base] : QString(), hints);
    if (m_file && m_file->files.empty())
        applyRuns();
}

/// What does not depend on the traces.
void SessionOpener::apply()
{
    const SessionFile& file = *m_file;
    m_session->setWindowTokens(file.window_tokens);
    m_session->setMetric(QString::fromStdString(file.metric));
    m_session->setMargin(file.margin);
    m_session->setColourScale(scaleOf(file.scale));
}

int SessionOpener::idOf(int index) const
{
    if (index < 0 || index >= m_found.size() || m_found[index].isEmpty())
        return -1;
    for (const SessionRun& run : m_session->runs())
        if (sameFile(QString::fromStdString(run.trace->path.string()), m_found[index]))
            return run.id;
    return -1;
}

/// As deep as what the file says makes sense: it may be of other traces by now.
Place SessionOpener::placeOf(const SessionFile::Place& stored, int run) const
{
    Place place;
    const qint64 tokens = m_session->extent().n_tokens, window = m_session->windowTokens();
    place.run = run;
    if (run < 0 || stored.window_start < 0 || stored.window_start >= tokens || stored.window_start % window != 0)
        return place;
    place.windowStart = stored.window_start;
    if (stored.probe >= 0 && stored.probe < tokens)
        place.probe = stored.probe;
    if (stored.token >= 0 && stored.token < tokens)
        place.token = stored.token;
    return place;
}

/// What belongs to a trace, as soon as it is open; the rest once all of them are.
void SessionOpener::applyRuns()
{
    if (!m_opening || !m_file)
        return;
    m_opening = false; // setting names announces changes again
    bool all = true;
    for (std::size_t i = 0; i < m_file->files.size(); ++i) {
        const SessionFile::File& file = m_file->files[i];
        if (m_applied[i] || m_found[static_cast<qsizetype>(i)].isEmpty())
            continue;
        const int id = idOf(static_cast<int>(i));
        if (id < 0) {
            all = false;
            continue;
        }
        m_applied[i] = true;
        if (!file.name.empty())
            m_session->rename(id, QString::fromStdString(file.name));
        if (!file.color.empty())
            m_session->setColor(id, QColor(QString::fromStdString(file.color)));
        if (m_session->run(id)->state != SessionRun::State::Baseline)
            m_session->setHidden(id, file.hidden);
        if (!file.content_key.empty() && file.content_key != m_session->run(id)->trace->content_key)
            m_session->tell(Banner::Level::Warning,
                            tr("%1 is not the file that it was when the session was saved.")
                                .arg(QFileInfo(m_found[static_cast<qsizetype>(i)]).fileName()),
                            id);
    }
    if (!all && m_session->busy()) {
        m_opening = true;
        return;
    }
    const SessionFile file = *m_file;
    std::vector<Bookmark> bookmarks = file.bookmarks;
    for (Bookmark& bookmark : bookmarks)
        bookmark.run = idOf(bookmark.run);
    m_session->setBookmarks(std::move(bookmarks));
    m_session->path().go(placeOf(file.place, idOf(file.place.run)));
    m_session->setComparedRuns(idOf(file.compared_a), idOf(file.compared_b)); // whatever run the place is in
    m_file.reset();
    emit restored(m_path);
}

} // namespace flipscope
