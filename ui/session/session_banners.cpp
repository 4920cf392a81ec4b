// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/floor.h"
#include "core/analysis/list_bias.h"
#include "core/trace/shift.h"
#include "ui/session/session_private.h"

#include <QFileInfo>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace flipscope {

namespace {

QString keyOf(const Banner& banner)
{
    return QStringLiteral("%1/%2").arg(banner.run).arg(banner.text);
}

Banner ofFinding(const SessionRun& run, const Finding& finding)
{
    return {finding.level == Finding::Level::Warning ? Banner::Level::Warning : Banner::Level::Note,
            QStringLiteral("%1: %2").arg(run.name, QString::fromStdString(finding.text)), run.id,
            namesHint(finding.text) ? Banner::Action::Hints : Banner::Action::None, QString()};
}

Banner ofProblem(const SessionRun& run, const SessionRun* base)
{
    Banner banner{Banner::Level::Error, QStringLiteral("%1: %2").arg(run.name, run.problem), run.id};
    if (base == nullptr)
        return banner;
    const int by = shift_that_fits(*base->trace, *run.trace);
    if (by != 0 && std::abs(run.hints.shift + by) <= 1 && probes_meet(*base->trace, *run.trace, by))
        banner.action = Banner::Action::Shift;
    return banner;
}

/// What lists leave out, where the full rows of the same run are open too.
void appendBias(std::vector<Banner>& out, const std::vector<SessionRun>& runs)
{
    std::vector<BiasInput> inputs;
    for (const SessionRun& run : runs)
        inputs.push_back({run.trace, run.hidden ? nullptr : run.table});
    for (const ListBias& bias : list_bias(inputs))
        out.push_back({Banner::Level::Note,
                       QStringLiteral("%1 beside %2: %3.")
                           .arg(runs[bias.lists].name, runs[bias.full].name, QString::fromStdString(bias_text(bias))),
                       runs[bias.lists].id});
}

void appendRun(std::vector<Banner>& out, const SessionRun& run, const SessionRun* base)
{
    if (run.changedOnDisk) {
        const bool there = QFileInfo::exists(QString::fromStdString(run.trace->path.string()));
        out.push_back(
            {Banner::Level::Warning,
             there ? Session::tr("%1 changed on disk: F5 reloads it.").arg(run.name)
                   : Session::tr("The file of %1 is gone from the disk; what is shown is from before.").arg(run.name),
             run.id});
    }
    if (run.state == SessionRun::State::Failed)
        out.push_back(ofProblem(run, base));
    // That a run which is being captured has fewer probes than the baseline is no news.
    const auto tells = [&](const Finding& finding) { return !run.live || finding.level == Finding::Level::Warning; };
    for (const Finding& finding : run.trace->findings)
        if (tells(finding))
            out.push_back(ofFinding(run, finding));
    if (!run.table)
        return;
    for (const Finding& finding : run.table->alignment.findings)
        if (tells(finding))
            out.push_back(ofFinding(run, finding));
    for (const std::string& notice : run.table->notices)
        out.push_back(
            {Banner::Level::Note, QStringLiteral("%1: %2").arg(run.name, QString::fromStdString(notice)), run.id});
}

} // namespace

void Session::Private::say(Banner::Level level, const QString& text, int run, const QString& fileForHints)
{
    Banner banner{level, text, run};
    if (!fileForHints.isEmpty()) {
        banner.action = Banner::Action::Hints;
        banner.file = fileForHints;
    }
    dismissed.remove(keyOf(banner)); // it happened again
    if (std::ranges::find(messages, banner) == messages.end())
        messages.push_back(std::move(banner));
}

void Session::Private::updateBanners()
{
    std::vector<Banner> all = messages;
    const SessionRun* base = findBaseline();
    for (const SessionRun& run : q->m_runs) {
        if (run.hidden)
            continue;
        appendRun(all, run, base);
        if (base == nullptr || run.id == base->id || q->floorRun() != nullptr)
            continue;
        const std::string warning = engine_warning(*base->trace, *run.trace);
        if (!warning.empty())
            all.push_back({Banner::Level::Warning,
                           QStringLiteral("%1: %2").arg(run.name, QString::fromStdString(warning)), run.id});
    }
    appendBias(all, q->m_runs);
    if (q->m_windowChosen && !q->m_runs.empty() && q->m_windowTokens != default_window_tokens)
        all.push_back(
            {Banner::Level::Note,
             Session::tr("Windows of %1 tokens were chosen for this history of %2 tokens; the usual 8,000 would "
                         "give fewer than six windows.")
                 .arg(QLocale().toString(q->m_windowTokens))
                 .arg(QLocale().toString(static_cast<qint64>(q->m_runs.front().trace->tokens.ids.size()))),
             -1});
    if (!q->m_runs.empty() && !q->m_engineNotice.isEmpty())
        all.push_back({Banner::Level::Note, q->m_engineNotice, -1});

    std::vector<Banner> shown;
    for (Banner& banner : all)
        if (!dismissed.contains(keyOf(banner)) && std::ranges::find(shown, banner) == shown.end())
            shown.push_back(std::move(banner));
    std::ranges::stable_sort(shown, std::greater<>(), &Banner::level); // errors first
    if (shown == q->m_banners)
        return;
    q->m_banners = std::move(shown);
    emit q->bannersChanged();
}

bool namesHint(const std::string& sentence)
{
    static constexpr std::array<std::string_view, 9> hints = {
        "--array", "--axes", "--dtype", "--vocab", "--tokens", "--positions", "--first", "--stride", "--bos"};
    return std::ranges::any_of(hints, [&](auto hint) { return sentence.find(hint) != std::string::npos; });
}

void Session::tell(Banner::Level level, const QString& text, int run)
{
    d->say(level, text, run);
    d->updateBanners();
}

void Session::dismiss(const Banner& banner)
{
    d->dismissed.insert(keyOf(banner));
    std::erase(d->messages, banner);
    d->updateBanners();
}

} // namespace flipscope
