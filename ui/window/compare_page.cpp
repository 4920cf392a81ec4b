// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/compare_page.h"

#include "core/report/environment_report.h"
#include "ui/charts/compare_figure.h"
#include "ui/charts/heatmap_view.h"
#include "ui/charts/pair_scatter_view.h"
#include "ui/models/compare_texts.h"
#include "ui/models/number_text.h"
#include "ui/models/worse_model.h"
#include "ui/session/navigation.h"
#include "ui/views/comparison_card.h"
#include "ui/views/selection.h"
#include "ui/views/token_columns.h"
#include "ui/window/drawn_figures.h"
#include "ui/window/theme.h"

#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>

#include <algorithm>

namespace flipscope {

void ComparePage::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_heatmap != nullptr)
        applyStyle();
}

void ComparePage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (!event->spontaneous()) // not a window that comes back to the screen
        m_session->compareSelected();
    if (m_stale)
        runsChanged();
}

// --- session to page ---

void ComparePage::runsChanged()
{
    m_stale = !isVisible();
    if (m_stale)
        return;
    fillChoices();
    compute();
    viewChanged();
}

void ComparePage::fillChoices()
{
    const auto [a, b] = m_session->comparedRuns();
    for (auto [box, chosen] : {std::pair{m_chooseA, a}, std::pair{m_chooseB, b}}) {
        const QSignalBlocker quiet(box);
        box->clear();
        for (const SessionRun& run : m_session->runs())
            if (run.state != SessionRun::State::Baseline)
                box->addItem(run.name, run.id);
        box->setCurrentIndex(chosen == nullptr ? -1 : box->findData(chosen->id));
    }
    const SessionRun* base = m_session->baseline();
    m_against->setText(base == nullptr ? QString() : tr("against %1").arg(base->name));
    m_swap->setEnabled(a != nullptr && b != nullptr);
    m_rebaseline->setEnabled(a != nullptr && b != nullptr);
}

void ComparePage::choiceMade()
{
    if (m_chooseA->currentIndex() < 0 || m_chooseB->currentIndex() < 0)
        return;
    int a = m_chooseA->currentData().toInt(), b = m_chooseB->currentData().toInt();
    if (a == b) { // a run beside itself says nothing: the other one gives way
        const auto [oldA, oldB] = m_session->comparedRuns();
        if (sender() == m_chooseA && oldA != nullptr)
            b = oldA->id;
        else if (oldB != nullptr)
            a = oldB->id;
    }
    m_session->setComparedRuns(a, b);
}

void ComparePage::swap()
{
    const auto [a, b] = m_session->comparedRuns();
    if (a != nullptr && b != nullptr)
        m_session->setComparedRuns(b->id, a->id);
}

void ComparePage::rebaseline()
{
    const auto [a, b] = m_session->comparedRuns();
    const SessionRun* base = m_session->baseline();
    if (a == nullptr || b == nullptr || base == nullptr)
        return;
    const int oldBaseline = base->id, newBaseline = a->id, other = b->id;
    m_session->setComparedRuns(oldBaseline, other);
    m_session->setBaseline(newBaseline);
}

void ComparePage::compute()
{
    const auto [a, b] = m_session->comparedRuns();
    const bool ready = a != nullptr && b != nullptr && a->table && b->table && m_session->baseline() != nullptr;
    const bool same = ready && m_comparison && m_comparison->a.table == a->table && m_comparison->b.table == b->table &&
                      m_comparison->a.name == a->name.toStdString() && m_a == a->id && m_b == b->id;
    if (same)
        return;
    m_comparison = comparisonOf(*m_session);
    m_a = m_comparison ? a->id : -1;
    m_b = m_comparison ? b->id : -1;
    showComparison();
}

void ComparePage::showComparison()
{
    m_stack->setCurrentIndex(m_comparison ? 1 : 0);
    m_why->setText(whyNoComparison(*m_session));
    m_card->setComparison(m_comparison.get());
    m_worseModel->setComparison(m_comparison, &m_session->texts());
    const SessionRun *a = m_session->run(m_a), *b = m_session->run(m_b);
    m_scatter->setComparison(m_comparison, a != nullptr ? a->color : QColor(), b != nullptr ? b->color : QColor());
    const auto worse = static_cast<qint64>(m_worseModel->probes().size());
    m_tabs->setTabText(0, worse > 0 ? tr("What got worse (%1)").arg(groupedText(worse)) : tr("What got worse"));
    showSettings();
    fillContinuations();
    showTexts();
}

void ComparePage::viewChanged()
{
    if (!m_comparison || !isVisible()) {
        m_stale = true;
        return;
    }
    auto [runs, difference] = compareGrids(compareSpecOf(*m_session, m_comparison));
    // Zoomed together with all other views; the scale of the difference stays that of the whole history.
    const ColourScale scale = differenceScale(difference);
    runs = cut_to(runs, m_session->range());
    m_heatmap->setGrid(runs, m_session->colourScale());
    m_difference->alignWith(runs);
    m_difference->setGrid(cut_to(difference, m_session->range()), scale);
    followPath();
}

void ComparePage::addSetting(QTreeWidgetItem* stage, const QString& key, const std::vector<std::string>& values)
{
    QStringList cells{key};
    for (const std::string& value : values)
        cells << QString::fromStdString(value).simplified();
    auto* item = new QTreeWidgetItem(stage, cells);
    for (const int column : {1, 2}) {
        item->setToolTip(column, QString::fromStdString(values[static_cast<std::size_t>(column - 1)]));
        if (cells[column] == QLatin1String("not stated") || cells[column] == QLatin1String("not installed"))
            item->setForeground(column, mutedTextColor());
    }
}

void ComparePage::showSettings()
{
    m_settings->clear();
    m_settings->setHeaderLabels({tr("Setting"), tr("A"), tr("B")});
    qsizetype count = 0;
    if (m_comparison) {
        m_settings->setHeaderLabels({tr("Setting"), tr("A: %1").arg(QString::fromStdString(m_comparison->a.name)),
                                     tr("B: %1").arg(QString::fromStdString(m_comparison->b.name))});
        const EnvironmentDifference difference = environment_difference({m_comparison->a.trace, m_comparison->b.trace});
        for (const StageDifference& here : difference.stages) {
            const auto title = title_of(here.stage);
            auto* stage = new QTreeWidgetItem(m_settings,
                                              {QString::fromUtf8(title.data(), static_cast<qsizetype>(title.size()))});
            stage->setFirstColumnSpanned(true);
            QFont bold = stage->font(0);
            bold.setBold(true);
            stage->setFont(0, bold);
            for (const SettingDifference& setting : here.settings)
                addSetting(stage, QString::fromStdString(setting.key), setting.values);
            for (const PackageDifference& package : here.packages)
                addSetting(stage, tr("package %1").arg(QString::fromStdString(package.name)), package.values);
            stage->setExpanded(true);
        }
        count = static_cast<qsizetype>(difference.n_settings + difference.n_packages);
        if (count == 0)
            new QTreeWidgetItem(m_settings, {tr("none that the traces state")});
        if (const std::string notice = packages_notice(difference); !notice.empty()) {
            auto* item = new QTreeWidgetItem(m_settings, {QString::fromStdString(notice)});
            item->setFirstColumnSpanned(true);
            item->setForeground(0, mutedTextColor());
        }
        m_settings->resizeColumnToContents(0);
    }
    m_tabs->setTabText(1, count > 0 ? tr("Settings that differ (%1)").arg(count) : tr("Settings that differ"));
}

void ComparePage::fillContinuations()
{
    const QSignalBlocker quiet(m_chooseText);
    m_continuations.clear();
    if (m_comparison)
        m_continuations = pair_continuations(*m_comparison->a.trace, *m_comparison->b.trace);
    m_chooseText->clear();
    m_chooseText->addItem(tr("Token history, window by window"), -1);
    int different = 0;
    for (std::size_t i = 0; i < m_continuations.size(); ++i) {
        const ContinuationPair& pair = m_continuations[i];
        different += pair.first_difference >= 0 ? 1 : 0;
        m_chooseText->addItem(pair.first_difference < 0
                                  ? tr("Continuation at %1: equal").arg(groupedText(pair.a->prefix_tokens))
                                  : tr("Continuation at %1: differs from token %2 on")
                                        .arg(groupedText(pair.a->prefix_tokens),
                                             groupedText(pair.a->prefix_tokens + pair.first_difference)),
                              static_cast<int>(i));
    }
    m_tabs->setTabText(2, different > 0
                              ? tr("Texts (%1 of %2 continuations differ)").arg(different).arg(m_continuations.size())
                              : tr("Texts"));
    // The first that differs is what a person comes for.
    for (int i = 1; i < m_chooseText->count(); ++i)
        if (m_continuations[static_cast<std::size_t>(i - 1)].first_difference >= 0) {
            m_chooseText->setCurrentIndex(i);
            break;
        }
}

void ComparePage::showTexts()
{
    const int choice = m_chooseText->currentData().toInt();
    QVector<ColumnUnit> units;
    if (m_comparison && choice >= 0 && m_chooseText->currentIndex() >= 0) {
        units = continuationUnits(m_continuations[static_cast<std::size_t>(choice)], m_session->texts());
    } else if (m_comparison) {
        const qint64 start = std::max<qint64>(0, m_session->path().place().windowStart);
        const auto [first, last] = windowRange(*m_session, start);
        units = historyUnits(*m_comparison, m_session->texts(), first, last);
    }
    m_texts->setUnits(units);
    m_textNote->setText(tr("%1 disagreements").arg(groupedText(m_texts->disagreements())));
    m_texts->setCurrentKey(m_session->path().place().token);
}

void ComparePage::followPath()
{
    if (!m_comparison || !isVisible()) {
        m_stale = true;
        return;
    }
    const Place& place = m_session->path().place();
    m_following = true;
    const auto& starts = m_heatmap->grid().starts;
    const auto start = std::ranges::find(starts, place.windowStart);
    const int column = start == starts.end() ? -1 : static_cast<int>(start - starts.begin());
    const int row = column < 0 ? -1 : place.run == m_a ? 0 : place.run == m_b ? 1 : -1;
    m_heatmap->setCurrentCell(row, row < 0 ? -1 : column);
    m_difference->setCurrentCell(column < 0 ? -1 : 0, column);
    m_scatter->setCurrent(place.probe);
    QModelIndex current;
    for (int r = 0; r < m_sorted->rowCount() && place.probe >= 0; ++r)
        if (m_sorted->index(r, 0).data(WorseModel::PositionRole).toLongLong() == place.probe)
            current = m_sorted->index(r, std::max(0, m_worse->currentIndex().column()));
    m_worse->setCurrentIndex(current);
    const bool history = m_chooseText->currentData().toInt() < 0;
    const auto& units = m_texts->columns().units();
    const qint64 shown = units.isEmpty() ? -1 : units.front().key;
    if (history && place.windowStart >= 0 && shown != place.windowStart)
        showTexts();
    m_texts->setCurrentKey(place.token >= 0 ? place.token : place.probe >= 0 ? place.probe + 1 : -1);
    m_following = false;
}

// --- page to session ---

int ComparePage::idOf(int row) const
{
    return row == 0 ? m_a : row == 1 ? m_b : -1;
}

void ComparePage::cellChosen(int row, int column)
{
    Place place;
    place.run = idOf(row);
    if (place.run < 0 || column < 0)
        return;
    place.windowStart = m_heatmap->grid().starts[static_cast<std::size_t>(column)];
    const Place& now = m_session->path().place();
    if (place.run != now.run || place.windowStart != now.windowStart)
        m_session->path().go(place);
}

void ComparePage::differenceChosen(int column)
{
    cellChosen(m_session->path().place().run == m_a ? 0 : 1, column);
}

void ComparePage::cellActivated(int row, int column)
{
    cellChosen(row, column);
    m_session->path().go(downFrom(*m_session, m_session->path().place()));
}

void ComparePage::goToProbe(qint64 position, bool token)
{
    if (m_following || !m_comparison)
        return;
    // The run that is looked at stays; from elsewhere it is B, which the differences are about.
    const int run = m_session->path().place().run == m_a ? m_a : m_b;
    // A token of the history need not have a probe before it.
    const bool probe = !paired_between(m_comparison->probes, position, position + 1).empty();
    m_session->path().go(placeAt(*m_session, run, probe ? position : -1, token ? position + 1 : -1));
}

} // namespace flipscope
