// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/dialect.h"
#include "core/toolcalls/values.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flipscope {

/// A call as a dialect finds it, before it becomes a Call.
struct CallDraft {
    ByteRange bytes;
    std::string name;
    ByteRange name_bytes;
    std::vector<Argument> arguments;
    std::vector<CallPart> parts;
    std::string note;                    ///< what was overlooked or is wrong, as part of a sentence
    bool strict = true, tolerant = true; ///< who accepts it
    /// What strict readers take instead, where they accept it with another name or other arguments.
    std::optional<std::vector<Argument>> strict_arguments;
    CallStatus status = CallStatus::Good;

    /// Of several faults the first one is told.
    void wrong(CallStatus fault, std::string what);
    void set_name(std::string_view text, ByteRange range);
    /// A leaf under "$" whose value is raw text of the stream.
    void add_argument(std::string_view key, ByteRange key_bytes, std::string value, ByteRange value_bytes,
                      Argument::Type type, bool complete = true);
};

/// What a dialect's reader works with: one turn of a stream. Positions are bytes of the stream.
class CallWriter {
public:
    CallWriter(const TokenStream& stream, const Dialect& dialect, ByteRange turn, Recognised& out);

    std::string_view text() const { return text_; } ///< the stream up to the end of the turn
    std::size_t begin() const { return turn_.begin; }
    std::size_t end() const { return turn_.end; }

    /// The next such marker that counts, or npos. In a dialect of control tokens, letters typed in several tokens do
    /// not count where the vocabulary has the marker as one.
    std::size_t find(std::string_view marker, std::size_t from) const;
    std::size_t find_any(std::span<const std::string_view> markers, std::size_t from) const;
    bool at(std::string_view marker, std::size_t place) const;
    /// Whether the turn ends at `place` inside such a marker, at least one byte of which is there.
    bool cut_off(std::string_view marker, std::size_t place) const;
    std::size_t blanks(std::size_t place) const { return skip_blanks(text_, place, end()); }
    std::string_view slice(std::size_t from, std::size_t to) const { return text_.substr(from, to - from); }
    /// Whether only blanks stand before `place` on its line, or a call or a thinking section ends there.
    bool line_start(std::size_t place) const;

    void add(CallDraft draft);
    void add(CallDraft draft, CallStatus status);
    void mention(ByteRange bytes, std::string note);
    void thinking(ByteRange bytes); ///< for dialects with sections of their own

private:
    /// The last answer of find() for a marker: valid for every start from `from` to `found`, so that searching again
    /// and again for what is not there stays linear.
    struct Search {
        std::string_view marker;
        std::size_t from, found;
    };
    std::size_t search(std::string_view marker, std::size_t from) const;

    const TokenStream& stream_;
    const Dialect& dialect_;
    ByteRange turn_;
    std::string_view text_;
    Recognised& out_;
    std::size_t last_end_;
    mutable std::vector<Search> searches_;
};

/// How a JSON object names tool and arguments.
struct ObjectKeys {
    std::vector<std::string_view> name = {"name"};
    std::vector<std::string_view> arguments = {"arguments", "parameters"};
    bool arguments_needed = true; ///< for strict readers; tolerant ones take none for {}
};

/// A call written as a JSON object, read from `at` on.
struct ObjectCall {
    CallDraft draft;
    ParsedValue::State state = ParsedValue::State::Bad;
    std::size_t end = 0; ///< behind the object, or where it goes wrong
    bool call = false;   ///< Whole: it names a tool and has arguments
    bool has_arguments = false;
    ByteRange last_text;
    std::string problem; ///< not Whole, or no call
    ValueNode node;
};

ObjectCall read_object_call(std::string_view text, std::size_t at, std::size_t limit, const ObjectKeys& keys = {});
/// The same of a node that was read already.
ObjectCall object_call(std::string_view text, const ParsedValue& parsed, const ObjectKeys& keys);

/// The call that `object` holds between an opening delimiter at `begin` and the end tag that should follow it; added to
/// `turn`. `openers`: what begins the next call. Returns where to go on.
std::size_t finish_tagged_call(CallWriter& turn, std::size_t begin, ObjectCall object, std::string_view end_tag,
                               std::span<const std::string_view> openers, std::string liberty = {});

/// The place of the end tag that ends a broken value, npos = none before the next opener: sought behind the last string
/// unless that string has swallowed it.
std::size_t find_end_tag(const CallWriter& turn, std::size_t from, ByteRange last_text, std::string_view end_tag,
                         std::span<const std::string_view> openers);

/// A marker at `begin` that is not followed by what should follow it at `body`: a call that went wrong where it stands
/// at the start of a line and is closed or the turn ends, else a mention in prose. Returns where to go on.
std::size_t opener_without_body(CallWriter& turn, std::size_t begin, std::size_t body, std::string_view opener,
                                std::string_view closer, std::string_view wanted);

} // namespace flipscope
