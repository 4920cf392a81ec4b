// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <string_view>
#include <vector>

namespace flipscope {

/// A stretch of one token as it is drawn.
struct GlyphRun {
    enum class Kind {
        Text,    ///< characters as they are
        Space,   ///< "␣" for each space
        Control, ///< a picture or name of a control character: "⏎", "⇥"
        Bytes,   ///< bytes that are no whole character: "‹E2 9C›"
    };
    QString text;
    Kind kind = Kind::Text;
    bool breaksLine = false; ///< a line feed: the line ends after it
    bool operator==(const GlyphRun&) const = default;
};

/// Cuts the exact bytes of a token into runs, so that what stands for something else can be drawn apart from the same
/// characters in the text itself. What stands for what is core/text's visible().
std::vector<GlyphRun> glyphRuns(std::string_view bytes);

} // namespace flipscope
