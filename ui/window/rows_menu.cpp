// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/rows_menu.h"

#include "core/analysis/windows.h"
#include "core/report/method.h"

#include <QActionGroup>
#include <QMenu>
#include <QStyleOptionToolButton>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace flipscope {

namespace {

WindowStats overallOf(const SessionRun& run)
{
    return summarize(run.table->probes, 0, static_cast<std::int64_t>(run.trace->tokens.ids.size()));
}

/// Worst first; what has no number comes last.
std::pair<int, double> worstFirst(double value)
{
    return std::isnan(value) ? std::pair(1, 0.0) : std::pair(0, -value);
}

} // namespace

RowsMenu::RowsMenu(Session* session, QWidget* parent) : QToolButton(parent), m_session(session)
{
    setObjectName(QStringLiteral("rows"));
    setText(tr("&Rows") + QStringLiteral(" ▾"));
    setAccessibleName(tr("Rows"));
    setToolTip(tr("Sort the runs, group them by a setting, show only some"));
    setAutoRaise(true);
    setPopupMode(QToolButton::InstantPopup);
    setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_menu = new QMenu(this);
    m_menu->setObjectName(QStringLiteral("rowsMenu"));
    setMenu(m_menu);
    connect(m_menu, &QMenu::aboutToShow, this, &RowsMenu::fill);
    connect(session, &Session::runsChanged, this, [this] {
        follow();
        if (!m_session->groupKey().isEmpty())
            groupBy(m_session->groupKey()); // a run that was opened now takes its place
    });
    follow(); // a page may be made long after the files were opened
}

void RowsMenu::follow()
{
    setEnabled(m_session->runs().size() > 1);
}

/// The arrow stands in the text: the style's own is drawn over its last letter.
void RowsMenu::initStyleOption(QStyleOptionToolButton* option) const
{
    QToolButton::initStyleOption(option);
    option->features &= ~QStyleOptionToolButton::HasMenu;
}

QStringList RowsMenu::settings() const
{
    std::vector<TracePtr> traces;
    for (const SessionRun& run : m_session->runs())
        traces.push_back(run.trace);
    QStringList keys;
    for (const SettingDifference& difference : differing_settings(traces))
        keys << QString::fromStdString(difference.key);
    return keys;
}

QString RowsMenu::valueOf(const SessionRun& run, const QString& key) const
{
    const std::string* value = run.trace->setting(key.toStdString());
    return value != nullptr ? QString::fromStdString(*value).simplified() : tr("not stated");
}

QStringList RowsMenu::valuesOf(const QString& key) const
{
    QStringList values;
    for (const SessionRun& run : m_session->runs()) {
        const QString value = valueOf(run, key);
        if (run.state != SessionRun::State::Baseline && !values.contains(value))
            values << value;
    }
    return values;
}

/// The baseline stays in front: it is no row of the heatmap.
template <class Key>
void RowsMenu::sortBy(const Key& key)
{
    using Value = std::invoke_result_t<Key, const SessionRun&>;
    std::vector<std::pair<Value, int>> keyed;
    std::vector<int> ids;
    for (const SessionRun& run : m_session->runs()) {
        if (run.state == SessionRun::State::Baseline)
            ids.push_back(run.id);
        else
            keyed.emplace_back(key(run), run.id);
    }
    std::ranges::stable_sort(keyed, std::less<>(), &std::pair<Value, int>::first);
    for (const auto& [value, id] : keyed)
        ids.push_back(id);
    m_session->arrange(ids);
}

void RowsMenu::sortAsOpened()
{
    sortBy([](const SessionRun& run) { return run.id; });
}

void RowsMenu::sortByName()
{
    sortBy([](const SessionRun& run) { return run.name.toCaseFolded(); });
}

void RowsMenu::sortByFlipRate()
{
    sortBy([](const SessionRun& run) { return worstFirst(run.table ? overallOf(run).flip_rate : std::nan("")); });
}

void RowsMenu::sortByKl()
{
    sortBy([](const SessionRun& run) { return worstFirst(run.table ? overallOf(run).kl_pq.mean : std::nan("")); });
}

void RowsMenu::sortBySetting(const QString& key)
{
    sortBy([&](const SessionRun& run) { return valueOf(run, key); });
}

void RowsMenu::groupBy(const QString& key)
{
    if (!key.isEmpty())
        sortBySetting(key);
    m_session->setGroupKey(key);
}

void RowsMenu::showOnly(const QString& key, const QStringList& values)
{
    std::vector<std::pair<int, bool>> hide; // the list changes while it is gone through
    for (const SessionRun& run : m_session->runs())
        if (run.state != SessionRun::State::Baseline)
            hide.emplace_back(run.id, !values.contains(valueOf(run, key)));
    for (const auto& [id, hidden] : hide)
        m_session->setHidden(id, hidden);
}

void RowsMenu::showAll()
{
    std::vector<int> ids;
    for (const SessionRun& run : m_session->runs())
        ids.push_back(run.id);
    for (const int id : ids)
        m_session->setHidden(id, false);
}

void RowsMenu::fill()
{
    m_menu->clear();
    addSort(m_menu->addMenu(tr("&Sort by")));
    addGroups(m_menu->addMenu(tr("&Group by")));
    addFilters(m_menu->addMenu(tr("Show &only")));
}

void RowsMenu::addSort(QMenu* menu)
{
    menu->addAction(tr("as &opened"), this, &RowsMenu::sortAsOpened);
    menu->addAction(tr("&name"), this, &RowsMenu::sortByName);
    menu->addAction(tr("&flip rate, worst first"), this, &RowsMenu::sortByFlipRate);
    menu->addAction(tr("mean &KL(P‖Q), worst first"), this, &RowsMenu::sortByKl);
    menu->addSeparator();
    for (const QString& key : settings())
        menu->addAction(key, this, [this, key] { sortBySetting(key); });
}

void RowsMenu::addGroups(QMenu* menu)
{
    auto* choice = new QActionGroup(menu);
    const auto add = [&](const QString& text, const QString& key) {
        QAction* action = menu->addAction(text, this, [this, key] { groupBy(key); });
        action->setCheckable(true);
        action->setChecked(m_session->groupKey() == key);
        choice->addAction(action);
    };
    add(tr("&nothing"), QString());
    menu->addSeparator();
    for (const QString& key : settings())
        add(key, key);
}

void RowsMenu::addFilters(QMenu* menu)
{
    menu->addAction(tr("&all runs"), this, &RowsMenu::showAll);
    menu->addSeparator();
    for (const QString& key : settings()) {
        QMenu* values = menu->addMenu(key);
        for (const QString& value : valuesOf(key)) {
            QAction* action = values->addAction(value.size() > 60 ? value.left(59) + QChar(0x2026) : value, this,
                                                [this, key, value] { showOnly(key, {value}); });
            action->setToolTip(value);
        }
    }
}

} // namespace flipscope
