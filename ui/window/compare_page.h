// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/token_diff.h"
#include "ui/session/comparison.h"
#include "ui/session/session.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QSortFilterProxyModel;
class QStackedWidget;
class QTabWidget;
class QTableView;
class QToolButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace flipscope {

class ComparisonCard;
class HeatmapView;
class PairScatterView;
class TokenColumns;
class WorseModel;

/// Two runs side by side: their windows on one scale, the difference, paired statistics, every probe of A against that
/// of B, what got worse, the settings that differ, and the texts in two columns. Linked with the session's selection
/// both ways.
class ComparePage : public QWidget {
    Q_OBJECT
public:
    explicit ComparePage(Session* session, QWidget* parent = nullptr);

    HeatmapView* heatmap() const { return m_heatmap; }
    HeatmapView* difference() const { return m_difference; }
    PairScatterView* scatter() const { return m_scatter; }
    ComparisonCard* card() const { return m_card; }
    TokenColumns* texts() const { return m_texts; }
    QTableView* worse() const { return m_worse; }
    const RunComparison* comparison() const { return m_comparison.get(); }

    void swap();       ///< A becomes B and B becomes A
    void rebaseline(); ///< A becomes the baseline, the old baseline takes its place

protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeHead();
    QWidget* makeUpper();
    QWidget* makeLower();
    void makeWorse();
    QWidget* makeTexts();
    void applyStyle();

    void runsChanged();
    void viewChanged();
    void fillChoices();
    void choiceMade();
    void compute(); ///< anew only where the tables are others
    void showComparison();
    void addSetting(QTreeWidgetItem* stage, const QString& key, const std::vector<std::string>& values);
    void showSettings();
    void fillContinuations();
    void showTexts();
    void followPath();

    void cellChosen(int row, int column);
    void differenceChosen(int column);
    void cellActivated(int row, int column);
    void goToProbe(qint64 position, bool token);
    int idOf(int row) const; ///< session id of A (0) or B (1); -1 = none

    Session* m_session;
    ComparisonPtr m_comparison;
    int m_a = -1, m_b = -1; ///< session ids of what m_comparison is about
    std::vector<ContinuationPair> m_continuations;
    QComboBox *m_chooseA = nullptr, *m_chooseB = nullptr, *m_chooseText = nullptr;
    QToolButton *m_swap = nullptr, *m_rebaseline = nullptr;
    QLabel *m_against = nullptr, *m_why = nullptr, *m_textNote = nullptr;
    QStackedWidget* m_stack = nullptr;
    QTabWidget* m_tabs = nullptr;
    HeatmapView *m_heatmap = nullptr, *m_difference = nullptr;
    PairScatterView* m_scatter = nullptr;
    ComparisonCard* m_card = nullptr;
    WorseModel* m_worseModel = nullptr;
    QSortFilterProxyModel* m_sorted = nullptr;
    QTableView* m_worse = nullptr;
    QTreeWidget* m_settings = nullptr;
    TokenColumns* m_texts = nullptr;
    bool m_following = false; ///< views are being moved to the session's place
    bool m_stale = true;      ///< something changed while the page was not looked at
};

} // namespace flipscope
