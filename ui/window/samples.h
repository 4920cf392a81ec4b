// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace flipscope {

/// The sample traces that come with the program, baseline first; empty where they are not installed.
QStringList sampleFiles();

} // namespace flipscope
