// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QString>

#include <utility>

namespace flipscope {

/// The run that views show: the selected one, else the only visible one, else null.
const SessionRun* shownRun(Session& session);

/// One sentence for a view that has no numbers to show; empty where the shown run has its table.
QString whyNoTable(Session& session);

/// Half-open token range of the column (window, segment, turn) that starts at `start`, cut where the longest history
/// ends.
std::pair<qint64, qint64> windowRange(Session& session, qint64 start);

/// A place at a probe of `run` (and, where >= 0, at a token), with the window of the probe; where there is no probe
/// (-1), that of the token.
Place placeAt(Session& session, int run, qint64 probe, qint64 token = -1);

} // namespace flipscope
