// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QWidget;

namespace flipscope {

/// Where the manual's pages are: beside the installed program, else in the source. Empty where they are in neither.
QString manualFolder();

/// Shows a page ("compare.md") with its pictures in a window of its own, one for each parent; links lead from page to
/// page. False where the manual is not installed.
bool showManualPage(QWidget* parent, const QString& page);

} // namespace flipscope
