// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/probe_lookup.h"
#include "ui/models/probe_numbers.h"
#include "ui/models/token_shares_model.h"
#include "ui/session/session.h"
#include "ui/views/detail_reader.h"

#include <QWidget>

#include <optional>

class QLabel;
class QTableView;
class QToolButton;
class QVBoxLayout;

namespace flipscope {

/// Everything about the selected probe: top tokens of both sides, what makes up the KL, its numbers, and what the
/// other runs say there. The rows are read in the background; the latest selection wins.
class ProbePanel : public QWidget {
    Q_OBJECT
public:
    explicit ProbePanel(Session* session, QWidget* parent = nullptr);

    QString heading() const;
    QString message() const; ///< the sentence shown instead of, or above, the numbers
    const QVector<NumberRow>& numbers() const { return m_numberRows; }
    bool reading() const { return m_reading; } ///< rows are still being read
    QString copyText() const;

    const TopTokensModel* topTokens() const { return m_top; }
    const KlTermsModel* klTerms() const { return m_terms; }
    const RunsAtPositionModel* runsHere() const { return m_runs; }

public slots:
    void copy() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QTableView* makeTable(QAbstractItemModel* model, const QString& name, int stretchColumn, int secondStretch = -1);
    QLabel* makeTitle(const QString& text, QWidget* buddy);
    void build();
    void reload();
    void clearAll(const QString& heading, const QString& message);
    void showNumbers(const ProbeMetrics& probe, bool lowerBound);
    void showRuns(qint64 position);
    void request(qint64 position);
    void take(int run, const Result<ProbeDetail>& detail);
    void showNext(const TokenShare& next);
    void fitTables();
    void setSectionsVisible(bool visible);

    Session* m_session;
    DetailReader m_reader;
    TopTokensModel* m_top;
    KlTermsModel* m_terms;
    RunsAtPositionModel* m_runs;
    QLabel* m_heading;
    QLabel* m_sides;
    QLabel* m_message;
    QLabel* m_next;
    QLabel* m_numbers;
    QToolButton* m_copy;
    QVector<QTableView*> m_tables;
    QVector<QWidget*> m_sections; ///< hidden while there is no probe
    qint64 m_position = -1;
    int m_run = -1;
    TracePtr m_baseTrace, m_runTrace; ///< what was asked for
    TablePtr m_table;
    ProbeLookup m_lookup;
    QVector<NumberRow> m_numberRows;
    QString m_note; ///< lower bound, dense: said also when the rows were read well
    bool m_reading = false;
};

} // namespace flipscope
