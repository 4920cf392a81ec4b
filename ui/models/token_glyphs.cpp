// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/token_glyphs.h"

#include "core/base/utf8.h"
#include "core/text/token_text.h"

#include <string>

namespace flipscope {

namespace {

bool isControl(char c)
{
    const auto u = static_cast<unsigned char>(c);
    return u < 0x20 || u == 0x7F;
}

/// Bytes of the character at `i` when it is drawn as itself, else 0.
std::size_t plainLength(std::string_view bytes, std::size_t i)
{
    if (bytes[i] == ' ' || isControl(bytes[i]))
        return 0;
    if (static_cast<unsigned char>(bytes[i]) < 0x80)
        return 1;
    const std::string_view character = bytes.substr(i, utf8_at(bytes, i).length);
    return visible(character) == character ? character.size() : 0;
}

} // namespace

std::vector<GlyphRun> glyphRuns(std::string_view bytes)
{
    std::vector<GlyphRun> runs;
    const auto add = [&](std::string_view part, GlyphRun::Kind kind) {
        if (kind == GlyphRun::Kind::Space)
            runs.push_back({QString(static_cast<qsizetype>(part.size()), QChar(u'␣')), kind});
        else if (kind == GlyphRun::Kind::Text)
            runs.push_back({QString::fromUtf8(part.data(), static_cast<qsizetype>(part.size())), kind});
        else
            runs.push_back({QString::fromStdString(visible(part)), kind});
    };
    std::size_t i = 0;
    while (i < bytes.size()) {
        std::size_t end = i;
        if (bytes[i] == ' ') {
            while (end < bytes.size() && bytes[end] == ' ')
                ++end;
            add(bytes.substr(i, end - i), GlyphRun::Kind::Space);
        } else if (isControl(bytes[i])) {
            end = i + 1;
            add(bytes.substr(i, 1), GlyphRun::Kind::Control);
            runs.back().breaksLine = bytes[i] == '\n';
        } else if (plainLength(bytes, i) > 0) {
            while (end < bytes.size()) {
                const std::size_t n = plainLength(bytes, end);
                if (n == 0)
                    break;
                end += n;
            }
            add(bytes.substr(i, end - i), GlyphRun::Kind::Text);
        } else {
            while (end < bytes.size() && bytes[end] != ' ' && !isControl(bytes[end]) && plainLength(bytes, end) == 0)
                ++end;
            add(bytes.substr(i, end - i), GlyphRun::Kind::Bytes);
        }
        i = end;
    }
    return runs;
}

} // namespace flipscope
