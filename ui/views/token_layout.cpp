// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/token_layout.h"

#include <QTextBoundaryFinder>

#include <algorithm>
#include <utility>

namespace flipscope {

namespace {

constexpr qint64 longestParagraph = 1024; // tokens
constexpr std::size_t mostParagraphsKept = 4096;

/// How many UTF-16 units of `text` fit into `room`, never splitting what is drawn as one character.
qsizetype fitting(const QString& text, double room, const QFontMetricsF& metrics)
{
    QTextBoundaryFinder finder(QTextBoundaryFinder::Grapheme, text);
    qsizetype fits = 0;
    for (qsizetype at = finder.toNextBoundary(); at > 0; at = finder.toNextBoundary()) {
        if (metrics.horizontalAdvance(text.left(at)) > room)
            break;
        fits = at;
    }
    return fits;
}

qsizetype firstCharacter(const QString& text)
{
    QTextBoundaryFinder finder(QTextBoundaryFinder::Grapheme, text);
    return std::max<qsizetype>(finder.toNextBoundary(), 1);
}

} // namespace

TokenLayout::TokenLayout(const QFont& font) : m_metrics(font) {}

void TokenLayout::setHistory(HistoryText history)
{
    m_history = std::move(history);
    m_lines.clear();
    m_starts.clear();
    qint64 start = 0;
    for (qint64 t = 0; t < m_history.size(); ++t) {
        if (t == start)
            m_starts.push_back(t);
        const auto bytes = m_history.bytes(t);
        const bool ends = bytes && !bytes->empty() && bytes->back() == '\n';
        if (ends || t + 1 - start >= longestParagraph)
            start = t + 1;
    }
}

void TokenLayout::setFont(const QFont& font)
{
    m_metrics = QFontMetricsF(font);
    m_lines.clear();
}

void TokenLayout::setWidth(double width)
{
    width = std::max(width, m_metrics.maxWidth());
    if (width == m_width)
        return;
    m_width = width;
    m_lines.clear();
}

double TokenLayout::widthOf(const QString& text) const
{
    return m_metrics.horizontalAdvance(text);
}

const std::vector<TokenLayout::Line>& TokenLayout::lines(int paragraph) const
{
    const auto known = m_lines.find(paragraph);
    if (known != m_lines.end())
        return known->second;
    if (m_lines.size() >= mostParagraphsKept)
        m_lines.clear();
    return m_lines.emplace(paragraph, layOut(paragraph)).first->second;
}

std::vector<TokenLayout::Line> TokenLayout::layOut(int paragraph) const
{
    const auto p = static_cast<std::size_t>(paragraph);
    const qint64 end = p + 1 < m_starts.size() ? m_starts[p + 1] : m_history.size();
    std::vector<Line> lines(1);
    double x = 0;
    const auto newLine = [&] {
        lines.emplace_back();
        x = 0;
    };
    for (qint64 t = m_starts[p]; t < end; ++t) {
        std::vector<GlyphRun> runs;
        if (const auto bytes = m_history.bytes(t))
            runs = glyphRuns(*bytes);
        else
            runs = {{QStringLiteral("#%1 ").arg(m_history.id(t)), GlyphRun::Kind::Control}};
        double whole = 0;
        for (const GlyphRun& run : runs)
            whole += widthOf(run.text);
        // A token stays on one line where it can.
        if (x > 0 && x + whole > m_width)
            newLine();
        Piece piece{t, x, 0, {}, true, false};
        const auto finish = [&](bool last) {
            piece.last = last;
            lines.back().pieces.push_back(piece);
        };
        for (std::size_t r = 0; r < runs.size(); ++r) {
            QString rest = runs[r].text;
            while (!rest.isEmpty()) {
                qsizetype n = x + widthOf(rest) <= m_width ? rest.size() : fitting(rest, m_width - x, m_metrics);
                if (n == 0 && x == 0)
                    n = firstCharacter(rest); // wider than any line
                if (n > 0) {
                    const QString part = rest.left(n);
                    const double width = widthOf(part);
                    piece.runs.push_back({part, runs[r].kind, width});
                    piece.width += width;
                    x += width;
                    rest = rest.mid(n);
                }
                if (!rest.isEmpty()) {
                    if (!piece.runs.empty())
                        finish(false);
                    newLine();
                    piece = {t, 0, 0, {}, piece.runs.empty() && piece.first, false};
                }
            }
            if (runs[r].breaksLine && r + 1 < runs.size()) {
                finish(false);
                newLine();
                piece = {t, 0, 0, {}, false, false};
            }
        }
        finish(true);
    }
    return lines;
}

TokenLayout::Spot TokenLayout::spotOf(qint64 token) const
{
    if (isEmpty())
        return {};
    token = std::clamp<qint64>(token, 0, m_history.size() - 1);
    const auto next = std::upper_bound(m_starts.begin(), m_starts.end(), token);
    const int paragraph = static_cast<int>(next - m_starts.begin()) - 1;
    const auto& all = lines(paragraph);
    // The first line that reaches the token: pieces are in the order of tokens.
    const auto line = std::lower_bound(all.begin(), all.end(), token,
                                       [](const Line& l, qint64 t) { return l.pieces.back().token < t; });
    return {paragraph, static_cast<int>(line - all.begin())};
}

TokenLayout::Spot TokenLayout::lastSpot() const
{
    if (isEmpty())
        return {};
    const int paragraph = paragraphCount() - 1;
    return {paragraph, static_cast<int>(lines(paragraph).size()) - 1};
}

TokenLayout::Spot TokenLayout::moved(Spot spot, int n) const
{
    if (isEmpty())
        return {};
    while (n > 0) {
        const int left = static_cast<int>(lines(spot.paragraph).size()) - 1 - spot.line;
        if (n <= left || spot.paragraph + 1 >= paragraphCount())
            return {spot.paragraph, spot.line + std::min(n, left)};
        n -= left + 1;
        spot = {spot.paragraph + 1, 0};
    }
    while (n < 0) {
        if (-n <= spot.line || spot.paragraph == 0)
            return {spot.paragraph, std::max(0, spot.line + n)};
        n += spot.line + 1;
        --spot.paragraph;
        spot.line = static_cast<int>(lines(spot.paragraph).size()) - 1;
    }
    return spot;
}

} // namespace flipscope
