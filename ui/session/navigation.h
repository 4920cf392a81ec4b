// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <optional>

namespace flipscope {

/// The position of the probe that `metric` finds worst among those in [start, end): for flip metrics the flipped ones
/// come first; then the largest divergence (infinite before finite), the smallest overlap, the largest loss of the
/// history's own token. The first of equals. nullopt = no valid probe there.
std::optional<qint64> worstProbe(const MetricsTable& table, const WindowMetric& metric, qint64 start, qint64 end);

/// One level deeper than `place`, to what is worst there: top > first visible run > its worst window > the window's
/// worst probe > the token that probe predicts. The same place where there is nothing deeper.
Place downFrom(const Session& session, const Place& place);

/// All that `flipscope analyze` says about what is open and shown, for exports.
Analysis analysisOf(const Session& session);

} // namespace flipscope
