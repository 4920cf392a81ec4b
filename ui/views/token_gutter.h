// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <QColor>
#include <QPalette>
#include <QString>
#include <QtGlobal>

#include <vector>

namespace flipscope {

/// Spans that hold a token, outermost first; chunks of the prefill (which mean nothing to the text) left out.
std::vector<const Span*> spansAt(const std::vector<Span>& spans, qint64 token);

/// The last (so innermost) span that starts at a token of [first, last]; null = none.
const Span* spanStarting(const std::vector<Span>& spans, qint64 first, qint64 last);

/// Short name of a kind of span for the gutter: "asst", "◆ call".
QString spanHeading(const Span& span);

/// Colour of a kind of span, readable on the palette's base.
QColor spanColor(const Span& span, const QPalette& palette);

} // namespace flipscope
