// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVector>

namespace flipscope {

/// Multiples of 1, 2 or 5 times a power of ten within [low, high], about `count` of them. `unit`: what one is shown as
/// (100 for a share in %), so that the shown numbers are the round ones.
QVector<double> niceTicks(double low, double high, int count, double unit = 1);

/// The same for an axis of `length` pixels: one in about `apart` of them, more where that would be one or two and
/// labels of `label` pixels do not touch.
QVector<double> axisTicks(double low, double high, double length, double apart, double label, double unit = 1);

/// Powers of ten within [low, high], every n-th so that there are at most `most`.
QVector<double> decades(double low, double high, int most);

} // namespace flipscope
