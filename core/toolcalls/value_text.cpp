// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/value_text.h"

namespace flipscope {

namespace {

int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// `digits` hex digits at `at`, or -1.
long hex_number(std::string_view text, std::size_t at, std::size_t limit, std::size_t digits)
{
    if (limit - at < digits)
        return -1;
    long value = 0;
    for (std::size_t i = at; i < at + digits; ++i) {
        const int digit = hex_digit(text[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

void append_utf8(std::string& out, long code)
{
    if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd; // half a surrogate pair is no character
    const auto put = [&](long byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | code >> 6);
        put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(0xe0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
        put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    }
}

constexpr std::string_view json_escapes = "\"\\/bfnrt", json_meanings = "\"\\/\b\f\n\r\t";
constexpr std::string_view python_escapes = "\"\\'bfnrtav", python_meanings = "\"\\'\b\f\n\r\t\a\v";

class TextReader {
public:
    TextReader(std::string_view text, std::size_t limit, bool python) : text_(text), limit_(limit), python_(python) {}

    /// The escape whose backslash stands at `at`; returns the place behind it, or `limit` where it is cut off.
    std::size_t escape(std::size_t at, TextLiteral& literal) const
    {
        if (at + 1 >= limit_)
            return limit_;
        const char c = text_[at + 1];
        const auto letters = python_ ? python_escapes : json_escapes;
        if (const auto known = letters.find(c); known != std::string_view::npos) {
            literal.text += (python_ ? python_meanings : json_meanings)[known];
            return at + 2;
        }
        if (c == 'u')
            return unicode(at, literal);
        if (python_ && (c == 'x' || c == 'U'))
            return hex(at, c == 'x' ? 2 : 8, literal);
        if (python_ && c >= '0' && c <= '7')
            return octal(at, literal);
        if (python_ && c == '\n')
            return at + 2;
        // Python keeps an unknown escape as it is; JSON does not allow one.
        literal.text += '\\';
        if (!python_ && literal.liberty.empty())
            literal.liberty = "a backslash stands before a letter that JSON does not escape";
        return at + 1;
    }

private:
    std::size_t unicode(std::size_t at, TextLiteral& literal) const
    {
        long code = hex_number(text_, at + 2, limit_, 4);
        if (code < 0)
            return broken(at, 4, literal);
        std::size_t next = at + 6;
        if (!python_ && code >= 0xd800 && code < 0xdc00 && limit_ - next >= 6 && text_.substr(next, 2) == "\\u") {
            const long low = hex_number(text_, next + 2, limit_, 4);
            if (low >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                next += 6;
            }
        }
        append_utf8(literal.text, code);
        return next;
    }

    std::size_t hex(std::size_t at, std::size_t digits, TextLiteral& literal) const
    {
        const long code = hex_number(text_, at + 2, limit_, digits);
        if (code < 0)
            return broken(at, digits, literal);
        append_utf8(literal.text, code);
        return at + 2 + digits;
    }

    std::size_t octal(std::size_t at, TextLiteral& literal) const
    {
        long code = 0;
        std::size_t next = at + 1;
        for (; next < limit_ && next < at + 4 && text_[next] >= '0' && text_[next] <= '7'; ++next)
            code = code * 8 + (text_[next] - '0');
        append_utf8(literal.text, code);
        return next;
    }

    std::size_t broken(std::size_t at, std::size_t digits, TextLiteral& literal) const
    {
        if (limit_ - at < 2 + digits) {
            bool all_hex = true;
            for (std::size_t i = at + 2; i < limit_; ++i)
                all_hex = all_hex && hex_digit(text_[i]) >= 0;
            if (all_hex)
                return limit_; // cut inside the escape
        }
        literal.text += '\\';
        if (literal.liberty.empty())
            literal.liberty = "an escape lacks its hexadecimal digits";
        return at + 1;
    }

    std::string_view text_;
    std::size_t limit_;
    bool python_;
};

} // namespace

TextLiteral read_text_literal(std::string_view text, std::size_t begin, std::size_t limit, char quote, bool python,
                              std::vector<std::size_t>* source)
{
    TextLiteral literal;
    const TextReader reader(text, limit, python);
    std::size_t at = begin;
    const auto note_source = [&](std::size_t from) {
        if (source)
            source->resize(literal.text.size(), from);
    };
    while (at < limit && text[at] != quote) {
        const std::size_t from = at;
        if (text[at] == '\\') {
            at = reader.escape(at, literal);
        } else {
            if (static_cast<unsigned char>(text[at]) < 0x20 && literal.liberty.empty() && (!python || text[at] == '\n'))
                literal.liberty = "a string holds a raw control character";
            literal.text += text[at++];
        }
        note_source(from);
    }
    literal.end = at < limit ? at : limit;
    literal.closed = at < limit;
    if (source)
        source->push_back(literal.end);
    return literal;
}

} // namespace flipscope
