// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace flipscope {

class Session;

/// Keys of the window, and what every number means, in a window of its own.
void showManual(QWidget* parent);
/// Version, licence, libraries, and what computes here and why.
void showAbout(QWidget* parent, const Session& session);

} // namespace flipscope
