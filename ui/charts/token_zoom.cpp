// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/token_zoom.h"

#include <algorithm>
#include <cmath>

namespace flipscope::token_zoom {

namespace {

TokenRange fitted(double start, double length, qint64 tokens)
{
    const double all = static_cast<double>(std::max<qint64>(tokens, 1));
    length = std::clamp(length, std::min(static_cast<double>(least_tokens), all), all);
    start = std::clamp(start, 0.0, all - length);
    const TokenRange range{std::llround(start), std::llround(start + length)};
    return range.start <= 0 && range.end >= tokens ? TokenRange{} : range;
}

} // namespace

TokenRange zoomed(const TokenRange& shown, double anchor, double factor, qint64 tokens)
{
    const double length = static_cast<double>(shown.end - shown.start);
    const double share = std::clamp((anchor - static_cast<double>(shown.start)) / length, 0.0, 1.0);
    const double all = static_cast<double>(std::max<qint64>(tokens, 1));
    const double wanted = std::clamp(length * factor, std::min(static_cast<double>(least_tokens), all), all);
    return fitted(anchor - share * wanted, wanted, tokens);
}

TokenRange moved(const TokenRange& shown, qint64 by, qint64 tokens)
{
    return fitted(static_cast<double>(shown.start + by), static_cast<double>(shown.end - shown.start), tokens);
}

TokenRange between(double a, double b, qint64 tokens)
{
    const double start = std::max(std::min(a, b), 0.0);
    const double end = std::min(std::max(a, b), static_cast<double>(tokens));
    return fitted(start, end - start, tokens);
}

double factorOf(int delta)
{
    return std::pow(1.25, -delta / 120.0);
}

} // namespace flipscope::token_zoom
