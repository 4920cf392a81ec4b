// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"

#include <QTextBrowser>

namespace flipscope {

/// The paired statistics of two runs as a person reads them, with a plain verdict for each.
class ComparisonCard : public QTextBrowser {
    Q_OBJECT
public:
    explicit ComparisonCard(QWidget* parent = nullptr);
    void setComparison(const RunComparison* comparison); ///< null: empty
    QString markdown() const { return m_markdown; }      ///< the same as a table for a text file

private:
    QString m_markdown;
};

/// "B is further from the baseline", "A is further from the baseline", "no clear difference", or "" where there is no
/// interval.
QString verdictOf(const MeanDifference& difference);

/// A p value with two digits, never "0": "0.016", "< 0.0001".
QString pText(double p);

} // namespace flipscope
