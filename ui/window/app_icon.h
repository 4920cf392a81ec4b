// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>

namespace flipscope {

/// The program's icon in the sizes that desktops ask for, also where nothing is installed.
QIcon appIcon();

} // namespace flipscope
