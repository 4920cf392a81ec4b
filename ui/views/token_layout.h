// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/history_text.h"
#include "ui/models/token_glyphs.h"

#include <QFont>
#include <QFontMetricsF>

#include <unordered_map>
#include <vector>

namespace flipscope {

/// Breaks a history into lines of a given width, a paragraph at a time and only when asked: a paragraph starts after a
/// line feed (or after 1,024 tokens without one), so that no line depends on anything before its paragraph.
class TokenLayout {
public:
    struct Run {
        QString text;
        GlyphRun::Kind kind;
        double width;
    };
    /// The part of one token that stands on one line.
    struct Piece {
        qint64 token;
        double x, width;
        std::vector<Run> runs;
        bool first, last; ///< of its token
    };
    struct Line {
        std::vector<Piece> pieces; ///< never empty
        qint64 firstToken() const { return pieces.front().token; }
    };
    /// A line by its paragraph and its number there.
    struct Spot {
        int paragraph = 0, line = 0;
        bool operator==(const Spot&) const = default;
        bool operator<(const Spot& o) const
        {
            return paragraph != o.paragraph ? paragraph < o.paragraph : line < o.line;
        }
    };

    explicit TokenLayout(const QFont& font = {});
    void setHistory(HistoryText history);
    void setFont(const QFont& font);
    void setWidth(double width); ///< room for text; forgets all lines when it changes

    bool isEmpty() const { return m_starts.empty(); }
    int paragraphCount() const { return static_cast<int>(m_starts.size()); }
    const std::vector<Line>& lines(int paragraph) const;
    const Line& line(Spot spot) const { return lines(spot.paragraph)[static_cast<std::size_t>(spot.line)]; }

    Spot spotOf(qint64 token) const; ///< the line where the token starts
    Spot lastSpot() const;
    /// `n` lines further (or back, n < 0), as far as there are lines.
    Spot moved(Spot spot, int n) const;
    int laidOutParagraphs() const { return static_cast<int>(m_lines.size()); } ///< for tests: how lazy it is

private:
    std::vector<Line> layOut(int paragraph) const;
    double widthOf(const QString& text) const;

    HistoryText m_history;
    QFontMetricsF m_metrics;
    double m_width = 400;
    std::vector<qint64> m_starts; ///< first token of each paragraph
    mutable std::unordered_map<int, std::vector<Line>> m_lines;
};

} // namespace flipscope
