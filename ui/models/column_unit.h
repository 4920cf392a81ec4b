// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace flipscope {

/// What stands beside each other in the two columns: usually one token of each.
struct ColumnUnit {
    QString a, b;                      ///< readable on one line; empty = nothing on that side
    QString tipA, tipB;                ///< what there is to say about them
    qint64 key = -1;                   ///< what it is known by: a position
    bool differs = false;              ///< the two sides disagree
    bool markA = false, markB = false; ///< marked although they agree (both flip to the same token)
    bool breakAfter = false;           ///< a line feed: both columns go on in a new line
};

} // namespace flipscope
