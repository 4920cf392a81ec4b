// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/call.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// A JSON value (or a Python literal, …) of a text, with the bytes that it and its keys stand in.
struct ValueNode {
    enum class Kind : std::uint8_t { Object, Array, Text, Number, Word };
    Kind kind = Kind::Word;
    ByteRange bytes;     ///< all of it, with quotes or brackets
    ByteRange content;   ///< text: without quotes; else as `bytes`
    std::string text;    ///< text: escapes resolved; numbers: as written; words: "true", "false", "null"
    ByteRange key_bytes; ///< member of an object: its key without quotes
    std::string key;
    std::vector<ValueNode> children;
    bool complete = true; ///< false: the text ended inside it, or it went wrong there

    const ValueNode* member(std::string_view name) const; ///< the last of that name
};

/// How values are written.
struct ValueStyle {
    bool python = false;          ///< True, None, either quote, tuples, Python's escapes
    bool bare_keys = false;       ///< keys may be words without quotes
    std::string_view text_mark{}; ///< text may stand between two of these, without escapes (Gemma's <|"|>, <escape>)
};

struct ParsedValue {
    enum class State : std::uint8_t {
        Whole,
        Cut, ///< the text ends inside the value
        Bad, ///< it goes wrong at `end`
    };
    State state = State::Bad;
    ValueNode node;      ///< as far as it goes
    std::size_t end = 0; ///< behind the value, or where it stops
    std::string problem; ///< Cut and Bad: what is wrong, as part of a sentence
    std::string liberty; ///< Whole, but not as the style demands (a raw line feed in a string …); as part of a sentence
    ByteRange last_text; ///< the content of the string met last, closed or not: it may have swallowed an end tag
};

/// Reads the value that begins at `begin` (blanks before it are skipped); nothing from `limit` on is looked at.
ParsedValue parse_value(std::string_view text, std::size_t begin, std::size_t limit, const ValueStyle& style = {});

/// Appends the leaves of `node` under `path` and the parts of its text. `source`: the bytes that decoded text came
/// from, where `node` was read out of a string (empty = read from the stream itself): entry i is the place of byte i.
void collect_leaves(const ValueNode& node, const std::string& path, std::vector<Argument>& arguments,
                    std::vector<CallPart>& parts, const std::vector<std::size_t>& source = {});

/// The arguments of a call: an object, or a string that holds one (decoded once). Anything else is a leaf at "$".
/// `text`: what the node was read from. False: it is no object, or the object inside the string is broken.
bool collect_arguments(std::string_view text, const ValueNode& node, std::vector<Argument>& arguments,
                       std::vector<CallPart>& parts);

/// "$.a" + "b c" = "$.a['b c']".
std::string member_path(const std::string& path, std::string_view key);

/// Blanks of JSON: space, tab, line feed, carriage return.
std::size_t skip_blanks(std::string_view text, std::size_t at, std::size_t limit);

} // namespace flipscope
