// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace flipscope {

/// "41,376": positions and counts as a person reads them, the same in every locale.
QString groupedText(qint64 n);

/// Four significant digits, as "0.2141" or "1.207e-05"; "∞" and "−∞"; "–" for NaN (no such value).
QString realText(double value);

/// "1 probe", "239 probes".
QString counted(qint64 n, const QString& one, const QString& many);

/// A share 0..1 as "1.7 %"; only none and all are "0 %" and "100 %"; "" where there is no value.
QString shareText(double share);

/// A divergence with two or three significant digits, for narrow columns: "0.214", "1.4e-3", "0"; "" where there is
/// none.
QString shortNatsText(double value);

/// Every digit (17 significant), as CSV files have it: "inf", "-inf", "nan" where it is not finite.
QString exactText(double value);

/// A probability: "0.6213", "< 0.0001", "–" for NaN.
QString probabilityText(double p);

/// Half-open range of positions, as "8k–16k" where both are whole thousands, else "7,168–7,680".
QString rangeText(qint64 start, qint64 end);

} // namespace flipscope
