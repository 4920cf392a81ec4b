// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/chart_style.h"
#include "ui/charts/colormap.h"
#include "ui/models/flip_stops.h"
#include "ui/models/history_search.h"
#include "ui/models/probe_lookup.h"
#include "ui/models/probe_measure.h"
#include "ui/session/session.h"
#include "ui/views/token_area.h"

#include <QTimer>
#include <QWidget>

#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace flipscope {

class TokenLegend;

/// The text around the selection: exact bytes, tokens that a probe predicts coloured by its divergence in the shown
/// run, flips marked; linked with the session's selection both ways. The probe at t is about token t+1.
class TokenView : public QWidget {
    Q_OBJECT
public:
    explicit TokenView(Session* session, QWidget* parent = nullptr);

    TokenArea* area() const { return m_area; }
    TokenMark mark(qint64 token) const;
    QString toolTipOf(qint64 token) const; ///< rich text
    QString status() const;                ///< what the line under the text says

public slots:
    void setFlipStops(FlipStops which); ///< what next and previous stop at
    void goToLargestKl();
    void setProportional(bool proportional);
    void nextFlip() { goToFlip(1); }
    void previousFlip() { goToFlip(-1); }
    void showFind();
    void findNext() { findFrom(1); }
    void findPrevious() { findFrom(-1); }
    void showGoTo();
    void hideBar();

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum class Bar { Find, GoTo };
    void buildBar();
    void buildFooter();
    void showBar(Bar bar);
    void reloadHistory();
    void reloadColours();
    void followPlace();
    void updateMessage();
    void updateStatus();
    void commit(qint64 token);
    void goToFlip(int direction);
    void findFrom(int direction);
    void search();
    bool findMatches(); ///< of m_searched; false where it is no regular expression, which is said
    void reloadStops();
    QString stopsWords(qint64 n) const;
    void jump();

    Session* m_session;
    TokenArea* m_area;
    QWidget* m_bar;
    QLabel* m_barLabel;
    QLineEdit* m_barEdit;
    QLabel* m_barNote;
    QToolButton* m_findPrevious;
    QToolButton* m_findNext;
    TokenLegend* m_legend;
    QToolButton* m_previousFlip;
    QToolButton* m_nextFlip;
    QToolButton* m_largest;
    QToolButton* m_proportional;
    QToolButton* m_regex;
    QComboBox* m_stopsBox;
    FlipStops m_which = FlipStops::All;
    std::vector<qint64> m_stops; ///< positions of the probes that next and previous stop at
    QLabel* m_status;
    QLabel* m_message;
    QTimer m_follow; ///< a held arrow key goes to where it stops, not to every token on the way

    TracePtr m_trace;
    ProbeLookup m_probes;
    ProbeMeasure m_measure;
    ColourScale m_scale;
    std::optional<Normalizer> m_normalizer;
    ChartStyle m_style;
    Bar m_mode = Bar::Find;
    std::optional<HistorySearch> m_search; ///< made when it is first needed
    std::vector<HistorySearch::Match> m_matches;
    QString m_searched;
};

} // namespace flipscope
