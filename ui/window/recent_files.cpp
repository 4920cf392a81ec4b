// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/recent_files.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace flipscope::recent {

namespace {

const QString recentKey = QStringLiteral("recent/sets");
constexpr qsizetype maxEntries = 9;

bool holdsAll(const RecentEntry& larger, const RecentEntry& smaller)
{
    return std::all_of(smaller.begin(), smaller.end(), [&](const QString& path) { return larger.contains(path); });
}

void store(const QVector<RecentEntry>& all)
{
    QVariantList list;
    for (const RecentEntry& entry : all)
        list.append(QVariant(entry));
    QSettings().setValue(recentKey, list);
}

} // namespace

QVector<RecentEntry> entries()
{
    QVector<RecentEntry> all;
    for (const QVariant& value : QSettings().value(recentKey).toList())
        if (const QStringList entry = value.toStringList(); !entry.isEmpty())
            all.append(entry);
    return all;
}

void remember(const RecentEntry& paths)
{
    if (paths.isEmpty())
        return;
    QVector<RecentEntry> all = entries();
    if (!all.isEmpty() && holdsAll(paths, all.front()))
        all.removeFirst();
    all.removeIf([&](const RecentEntry& entry) { return holdsAll(paths, entry) && holdsAll(entry, paths); });
    all.prepend(paths);
    if (all.size() > maxEntries)
        all.resize(maxEntries);
    store(all);
}

void clear()
{
    QSettings().remove(recentKey);
}

QString title(const RecentEntry& entry)
{
    const QString first = QFileInfo(entry.front()).fileName();
    return entry.size() == 1
               ? first
               : QCoreApplication::translate("flipscope", "%1 and %2 more").arg(first).arg(entry.size() - 1);
}

} // namespace flipscope::recent
