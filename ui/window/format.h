// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLocale>
#include <QString>

#include <cmath>

namespace flipscope {

/// Positions and counts, with the separators that make 8,000 readable.
inline QString formatCount(qint64 n)
{
    return QLocale(QLocale::English).toString(n);
}

/// "1 probe", "239 probes".
inline QString counted(qint64 n, const QString& one, const QString& many)
{
    return formatCount(n) + QLatin1Char(' ') + (n == 1 ? one : many);
}

/// A share 0..1 as "1.7 %".
inline QString formatShare(double share)
{
    if (!std::isfinite(share))
        return QString();
    return share == 0 ? QStringLiteral("0 %")
                      : QString::number(share * 100, 'f', share < 0.0995 ? 1 : 0) + QStringLiteral(" %");
}

/// A divergence with three significant digits: "0.214", "1.4e-3", "0".
inline QString formatNats(double value)
{
    if (std::isnan(value))
        return QString();
    if (std::isinf(value))
        return QStringLiteral("∞");
    if (value == 0)
        return QStringLiteral("0");
    const double size = std::abs(value);
    if (size >= 0.001 && size < 1000)
        return QString::number(value, 'g', 3);
    const QString text = QString::number(value, 'e', 1); // "5.2e-06"
    const auto e = text.indexOf(QLatin1Char('e'));
    return text.left(e + 1) + QString::number(text.mid(e + 1).toInt());
}

} // namespace flipscope
