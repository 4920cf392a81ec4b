// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/windows.h"

#include <QtGlobal>

/// How ranges of token positions are zoomed and moved; the same in every view.
namespace flipscope::token_zoom {

inline constexpr qint64 least_tokens = 16; ///< no range is shorter

/// `shown` narrowed (factor < 1) or widened (> 1) so that `anchor` stays where it is. What covers [0, tokens) is all.
TokenRange zoomed(const TokenRange& shown, double anchor, double factor, qint64 tokens);
/// Moved by `by` tokens, as far as there are any.
TokenRange moved(const TokenRange& shown, qint64 by, qint64 tokens);
/// From one position to another, in either order.
TokenRange between(double a, double b, qint64 tokens);
/// For a wheel that turned by `delta` (120 = one notch): 1.25 a notch.
double factorOf(int delta);

} // namespace flipscope::token_zoom
