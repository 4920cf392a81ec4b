// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"
#include "core/analysis/token_diff.h"
#include "core/text/token_text.h"
#include "ui/models/column_unit.h"

#include <QVector>

namespace flipscope {

/// The history from `start` on (`end` excluded), once for A and once for B: a token that a run would not have said
/// shows what it would have said instead, as " arp⇒ run". Keys are token positions.
QVector<ColumnUnit> historyUnits(const RunComparison& comparison, const TokenTexts& texts, qint64 start, qint64 end);

/// Of one run beside the history as it is: `units` of a run beside itself.
void baselineOnTheLeft(QVector<ColumnUnit>& units);

/// Two continuations, token by token, differing ones beside each other. Keys are positions of A's tokens (or of the
/// place where A has none).
QVector<ColumnUnit> continuationUnits(const ContinuationPair& pair, const TokenTexts& texts);

} // namespace flipscope
