// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/token_stream.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// What a byte or token of a stream belongs to.
enum class Inside : std::uint8_t { Prose, Name, Key, Value, Delimiter };

/// "prose", "name", "key", "value", "delimiter".
std::string_view inside_word(Inside inside);

/// One leaf of a call's arguments. {"a":{"b":[1]}} has the leaf "$.a.b[0]"; an empty object or array is a leaf.
struct Argument {
    enum class Type : std::uint8_t {
        Text,    ///< a string
        Number,  ///< as written
        Word,    ///< true, false, null
        Empty,   ///< {} or []
        Untyped, ///< the dialect carries no types (XML): could be any of them
    };
    std::string path;  ///< JSON path: "$.command"; keys that are no plain words as "$['a b']"
    std::string value; ///< text with escapes resolved, else the literal in JSON's spelling; may hold any bytes
    Type type = Type::Text;
    ByteRange key_bytes;   ///< the innermost key, without quotes; empty for array elements
    ByteRange value_bytes; ///< without quotes; where a call breaks off, up to there
    bool complete = true;  ///< false: the stream ended inside it
};

/// Equal for a reader of JSON: text by text, numbers by value (1 and 1.0), an untyped value by its text.
bool equal_value(const Argument& a, const Argument& b);
/// As a person should see it: text as it is, or in quotes where `other` has the same letters with another type.
std::string shown_value(const Argument& argument, const Argument* other = nullptr);

/// How one kind of reader understands a call.
struct Reading {
    bool accepted = false;           ///< it takes it for a call
    std::string name;                ///< of the tool
    std::vector<Argument> arguments; ///< in the order written; a key written twice: the last
    std::string note;                ///< why not, or what it had to overlook; one sentence or empty

    const Argument* find(std::string_view path) const;
};

enum class CallStatus : std::uint8_t {
    Good,
    Unclosed,  ///< the turn or the stream ended inside it, or its end tag is missing
    Malformed, ///< closed, but not what the dialect demands
    Mention,   ///< a marker in prose or thinking that starts no call
};

/// "good", "unclosed", "malformed", "mention".
std::string_view status_word(CallStatus status);

/// A part of a call with a meaning; what lies in the call and in no part is delimiter.
struct CallPart {
    ByteRange bytes;
    Inside inside = Inside::Delimiter;
    std::string path; ///< of the key or value, "$.command"
};

/// One call found in a stream.
struct Call {
    CallStatus status = CallStatus::Good;
    ByteRange bytes; ///< from the opening to the closing delimiter, both included
    StreamRange tokens;
    ByteRange name_bytes;
    std::vector<CallPart> parts; ///< name, keys and values in the order of the text; they do not overlap
    /// As the dialect's own format demands, and as the most lenient known parsers take it. Both are filled as far as
    /// the text goes, also where they do not accept it.
    Reading strict, tolerant;
    bool readings_differ = false; ///< accepted by one only, or with other names or arguments

    const std::string& name() const { return tolerant.name; }
    const std::vector<Argument>& arguments() const { return tolerant.arguments; }
};

/// Where in a call something stands.
struct CallPlace {
    Inside inside = Inside::Prose;
    std::string_view path; ///< of the key or value; empty elsewhere. Lives as long as the call
};

/// What a byte is part of. Outside of the call: prose.
CallPlace place_of_byte(const Call& call, std::size_t byte);
/// The first byte of the token that is name, key or value decides; else delimiter.
CallPlace place_of_token(const Call& call, const TokenStream& stream, std::size_t token);

} // namespace flipscope
