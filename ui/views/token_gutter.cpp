// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/token_gutter.h"

#include <algorithm>
#include <utility>

namespace flipscope {

std::vector<const Span*> spansAt(const std::vector<Span>& spans, qint64 token)
{
    std::vector<const Span*> found;
    for (const Span& span : spans) {
        if (span.start > token)
            break; // sorted by start
        if (token < span.end && span.kind != "chunk")
            found.push_back(&span);
    }
    std::stable_sort(found.begin(), found.end(), [](const Span* a, const Span* b) {
        return a->start != b->start ? a->start < b->start : a->end > b->end;
    });
    return found;
}

const Span* spanStarting(const std::vector<Span>& spans, qint64 first, qint64 last)
{
    const Span* found = nullptr;
    for (const Span& span : spans) {
        if (span.start > last)
            break; // sorted by start
        if (span.start < first || span.kind == "chunk")
            continue;
        // Of spans that start together the shorter lies inside.
        if (!found || span.start > found->start || span.end <= found->end)
            found = &span;
    }
    return found;
}

QString spanHeading(const Span& span)
{
    static const std::pair<const char*, QString> names[] = {{"assistant", QStringLiteral("asst")},
                                                            {"tool_call", QStringLiteral("◆ call")},
                                                            {"thinking", QStringLiteral("think")}};
    for (const auto& [kind, name] : names) {
        if (span.kind == kind)
            return name;
    }
    return QString::fromStdString(span.kind).left(7);
}

QColor spanColor(const Span& span, const QPalette& palette)
{
    static const std::pair<const char*, int> hues[] = {{"system", -1}, {"user", 210},      {"assistant", 145},
                                                       {"tool", 30},   {"tool_call", 285}, {"thinking", 185}};
    int hue = 330;
    for (const auto& [kind, value] : hues) {
        if (span.kind == kind)
            hue = value;
    }
    const bool dark = palette.color(QPalette::Base).lightness() < 128;
    if (hue < 0)
        return dark ? QColor(170, 170, 170) : QColor(95, 95, 95);
    return dark ? QColor::fromHsl(hue, 150, 170) : QColor::fromHsl(hue, 190, 80);
}

} // namespace flipscope
