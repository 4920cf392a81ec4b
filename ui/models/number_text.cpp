// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/number_text.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace flipscope {

QString groupedText(qint64 n)
{
    static const QLocale english(QLocale::English, QLocale::UnitedStates);
    return english.toString(n);
}

QString realText(double value)
{
    if (std::isnan(value))
        return QStringLiteral("–");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
    return QString::number(value, 'g', 4).replace(QLatin1String("e-0"), QLatin1String("e-"));
}

QString counted(qint64 n, const QString& one, const QString& many)
{
    return groupedText(n) + QLatin1Char(' ') + (n == 1 ? one : many);
}

QString shareText(double share)
{
    if (!std::isfinite(share))
        return QString();
    const double percent = share * 100;
    QString text;
    if (percent == 0 || percent == 100)
        text = QString::number(percent);
    else if (percent < 0.1)
        text = QString::number(percent, 'g', 2);
    else if (percent > 99)
        text = QString::number(std::min(percent, 99.9), 'f', 1);
    else
        text = QString::number(percent, 'f', percent < 9.95 ? 1 : 0);
    return text + QStringLiteral(" %");
}

QString shortNatsText(double value)
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

QString exactText(double value)
{
    if (std::isnan(value))
        return QStringLiteral("nan");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
    return QString::number(value, 'g', 17);
}

QString probabilityText(double p)
{
    if (std::isnan(p))
        return QStringLiteral("–");
    if (p > 0 && p < 0.0001)
        return QStringLiteral("< 0.0001");
    return QString::number(p, 'f', 4);
}

QString rangeText(qint64 start, qint64 end)
{
    if (start % 1000 == 0 && end % 1000 == 0 && end > 0)
        return QStringLiteral("%1k–%2k").arg(groupedText(start / 1000), groupedText(end / 1000));
    return groupedText(start) + QStringLiteral("–") + groupedText(end);
}

} // namespace flipscope
