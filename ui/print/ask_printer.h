// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>

class QPagedPaintDevice;
class QWidget;

namespace flipscope {

/// Asks on what printer, or to what file, and on what paper (landscape at first); then has the page painted. Returns
/// at once; the dialog goes with `parent`.
void askPrinter(QWidget* parent, const QString& title, std::function<void(QPagedPaintDevice&)> paint);

} // namespace flipscope
