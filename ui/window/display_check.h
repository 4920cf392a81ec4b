// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace flipscope {

/// Why no window can be opened here, as one sentence; "" where one can. Asked before QApplication is made, which would
/// abort the program instead: no display, a display that does not answer, a missing library of the xcb plugin.
QString displayProblem();

/// Debian's name of the package that holds a shared library: "libxcb-cursor.so.0" is in "libxcb-cursor0".
QString packageOfLibrary(const QString& library);

} // namespace flipscope
