// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/samples.h"

#include <QCoreApplication>
#include <QDir>

#include <algorithm>

namespace flipscope {

QStringList sampleFiles()
{
    const QString beside = QCoreApplication::applicationDirPath() + QStringLiteral("/../share/flipscope/samples");
    for (const QString& folder : {beside, QStringLiteral(FLIPSCOPE_SAMPLES_DIR)}) {
        const QDir dir(folder);
        QStringList names = dir.entryList({QStringLiteral("*.h5")}, QDir::Files | QDir::Readable, QDir::Name);
        if (names.isEmpty())
            continue;
        if (const auto base = names.indexOf(QStringLiteral("baseline.h5")); base > 0)
            names.move(base, 0);
        for (QString& name : names)
            name = QDir::cleanPath(dir.absoluteFilePath(name));
        return names;
    }
    return {};
}

} // namespace flipscope
