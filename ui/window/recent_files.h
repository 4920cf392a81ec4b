// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QVector>

namespace flipscope {

/// What was open together, baseline first.
using RecentEntry = QStringList;

/// The last sets of files, kept in the user's settings; newest first, nine at most.
namespace recent {
QVector<RecentEntry> entries();
/// A set that holds all of the newest one replaces it: files that were added one after another are one entry.
void remember(const RecentEntry& paths);
void clear();
/// "baseline.h5 and 4 more"
QString title(const RecentEntry& entry);
} // namespace recent

} // namespace flipscope
