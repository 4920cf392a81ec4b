// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"
#include "tests/ui/ui_fixture.h"

#include <QString>

#include <array>

namespace flipscope::test {

/// A session whose every number can be had by hand. Eight ids with these bytes:
///   0 " arp"  1 " run"  2 "\n"  3 E2 9C  4 93 (with 3: "✓")  5 tab  6 ESC  7 "the"
/// The history repeats the ids 7 0 7 1 3 4 5 6 7 2, ten to a line. Probes at 15, 31, 47 ... (every 16th token). In
/// every row of the baseline id i has probability 2^-(i+1), ids 6 and 7 both 2^-7.
struct ViewsTrace {
    QString name;
    std::int64_t tokens = 400;
    std::vector<std::int64_t> swapsAt; ///< ids 0 and 1 trade places: a flip, KL(P‖Q) = KL(Q‖P) = (ln 2)/4, TV 1/4
    std::vector<std::int64_t> nanAt;   ///< rows with a NaN
    std::vector<std::int64_t> zeroAt;  ///< id 7 gets probability 0: KL(P‖Q) is +inf
    std::vector<std::int64_t> dense;   ///< positions of a dense group
    bool text = true;                  ///< bytes of the tokens and of the vocabulary are stored
    std::int64_t stride = 16;
};

extern const std::array<const char*, 8> viewsTexts;
std::int32_t viewsId(std::int64_t position); ///< of the history

/// Writes it as <folder>/<name>.h5 and returns the path.
QString write(const QString& folder, const ViewsTrace& made);

/// "base", and "run" with flips at 47, 63 and 207, a NaN at 95, an infinite KL at 111, dense probes at 201..204 with a
/// flip at 203. Baseline first.
QStringList writeViews(const QString& folder, bool text = true);

} // namespace flipscope::test
