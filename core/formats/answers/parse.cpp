// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/parse.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

namespace flipscope::answers {

namespace {

constexpr int end_of_input = -1;

bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Characters of a stream, counted, with one to look ahead.
class Characters {
public:
    explicit Characters(std::istream& in) : in_(*in.rdbuf()) {}
    int peek()
    {
        const auto c = in_.sgetc();
        return c == std::char_traits<char>::eof() ? end_of_input : c & 0xff;
    }
    int take()
    {
        const auto c = in_.sbumpc();
        if (c == std::char_traits<char>::eof())
            return end_of_input;
        ++position_;
        return c & 0xff;
    }
    std::size_t position() const { return position_; }

private:
    std::streambuf& in_;
    std::size_t position_ = 0;
};

/// Turns what servers write and JSON does not know into JSON: NaN and infinities outside of strings, halves of
/// surrogate pairs inside.
class Tolerant {
public:
    explicit Tolerant(Characters& in) : in_(in) {}

    int next()
    {
        if (at_ < ready_.size())
            return static_cast<unsigned char>(ready_[at_++]);
        const int c = in_.take();
        if (in_string_)
            return inside(c);
        if (c == '"')
            in_string_ = true;
        else if (c == '-' || c == '+') {
            if (const int letter = in_.peek(); letter != end_of_input && std::isalpha(letter) != 0)
                return word(c);
        } else if (c != end_of_input && std::isalpha(c) != 0 && !in_number_)
            return word(c);
        in_number_ = c != end_of_input && (std::isdigit(c) != 0 || (in_number_ && (c == '.' || c == 'e' || c == 'E')));
        return c;
    }
    std::size_t bad_surrogates() const { return bad_surrogates_; }
    /// Before another value: nothing of the last one counts any more.
    void restart()
    {
        in_string_ = in_number_ = false;
        ready_.clear();
        at_ = 0;
    }

private:
    int give(std::string text)
    {
        ready_ = std::move(text);
        at_ = 1;
        return ready_.empty() ? end_of_input : static_cast<unsigned char>(ready_[0]);
    }

    int inside(int c)
    {
        if (c == '"')
            in_string_ = false;
        if (c != '\\')
            return c;
        const int escaped = in_.take();
        if (escaped == end_of_input)
            return give("\\");
        if (escaped != 'u')
            return give({'\\', static_cast<char>(escaped)});
        return unicode();
    }

    std::string hex_digits()
    {
        std::string digits;
        while (digits.size() < 4 && in_.peek() != end_of_input && std::isxdigit(in_.peek()) != 0)
            digits += static_cast<char>(in_.take());
        return digits;
    }

    int unicode()
    {
        const std::string high = hex_digits();
        const unsigned long code = high.size() == 4 ? std::stoul(high, nullptr, 16) : 0;
        if (code < 0xd800 || code > 0xdfff)
            return give("\\u" + high);
        if (code >= 0xdc00 || in_.peek() != '\\') {
            ++bad_surrogates_;
            return give("\\ufffd");
        }
        in_.take();
        if (in_.peek() != 'u') {
            ++bad_surrogates_;
            const int other = in_.take();
            return give(other == end_of_input ? "\\ufffd\\" : std::string("\\ufffd\\") + static_cast<char>(other));
        }
        in_.take();
        const std::string low = hex_digits();
        const unsigned long second = low.size() == 4 ? std::stoul(low, nullptr, 16) : 0;
        if (second >= 0xdc00 && second <= 0xdfff)
            return give("\\u" + high + "\\u" + low);
        ++bad_surrogates_;
        const bool surrogate = second >= 0xd800 && second <= 0xdfff;
        return give(surrogate ? "\\ufffd\\ufffd" : "\\ufffd\\u" + low);
    }

    int word(int first)
    {
        std::string text(1, static_cast<char>(first));
        while (text.size() < 16 && in_.peek() != end_of_input && std::isalpha(in_.peek()) != 0)
            text += static_cast<char>(in_.take());
        std::string lower;
        for (const char c : text)
            lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const std::string_view bare = std::string_view(lower).substr(lower[0] == '-' || lower[0] == '+' ? 1 : 0);
        if (bare == "nan")
            return give("\"NaN\"");
        if (bare == "inf" || bare == "infinity")
            return give(lower[0] == '-' ? "\"-Infinity\"" : "\"Infinity\"");
        return give(text);
    }

    Characters& in_;
    std::string ready_;
    std::size_t at_ = 0;
    bool in_string_ = false, in_number_ = false;
    std::size_t bad_surrogates_ = 0;
};

/// What nlohmann's parser reads from: an input iterator over tolerated characters.
class Input {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Input() = default;
    explicit Input(Tolerant& in) : in_(&in) {}
    const char& operator*() const
    {
        load();
        return value_;
    }
    Input& operator++()
    {
        load();
        loaded_ = false;
        return *this;
    }
    Input operator++(int)
    {
        Input before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Input& other) const { return at_end() == other.at_end(); }
    bool operator!=(const Input& other) const { return !(*this == other); }

private:
    bool at_end() const
    {
        if (in_ != nullptr)
            load();
        return in_ == nullptr || ended_;
    }
    void load() const
    {
        if (loaded_ || in_ == nullptr)
            return;
        const int c = in_->next();
        ended_ = c == end_of_input;
        value_ = static_cast<char>(ended_ ? 0 : c);
        loaded_ = true;
    }

    Tolerant* in_ = nullptr;
    mutable char value_ = 0;
    mutable bool loaded_ = false, ended_ = false;
};

/// Writes parser events on a tape.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
    Builder(Tape& tape, const Limits& limits) : tape_(tape), limits_(limits) {}

    bool null() override { return add(Tape::Kind::Null); }
    bool boolean(bool value) override { return add(value ? Tape::Kind::True : Tape::Kind::False); }
    bool number_integer(number_integer_t value) override { return add_integer(value); }
    bool number_unsigned(number_unsigned_t value) override
    {
        if (value > static_cast<number_unsigned_t>(INT64_MAX))
            return number_float(static_cast<double>(value), {});
        return add_integer(static_cast<std::int64_t>(value));
    }
    bool number_float(number_float_t value, const string_t&) override
    {
        if (!add(Tape::Kind::Real))
            return false;
        tape_.nodes.back().real = value;
        return true;
    }
    bool string(string_t& value) override { return add_text(value); }
    bool key(string_t& value) override
    {
        if (!open_.empty())
            ++tape_.nodes[open_.back()].size;
        return add_text(value, true);
    }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Tape::Kind::Object); }
    bool start_array(std::size_t) override { return open(Tape::Kind::Array); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t, const std::string& last, const nlohmann::detail::exception& e) override
    {
        // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while …"
        const std::string_view what = e.what();
        const std::size_t from = what.find("syntax error");
        problem_ = from == std::string_view::npos ? "a number is out of range" : std::string(what.substr(from));
        at_end_ = last.find("end of input") != std::string::npos ||
                  problem_.find("end of input") != std::string::npos ||
                  problem_.find("missing closing quote") != std::string::npos;
        return false;
    }

    const std::string& problem() const { return problem_; }
    bool at_end() const { return at_end_; }

private:
    bool add(Tape::Kind kind, bool is_key = false)
    {
        if (tape_.nodes.size() >= limits_.nodes) {
            problem_ = fmt::format("holds more than {} values in one answer, more than is read at once; ask for fewer "
                                   "entries a token, or save an answer a line (JSONL)",
                                   limits_.nodes);
            return false;
        }
        if (!is_key && !open_.empty() && tape_.nodes[open_.back()].kind == Tape::Kind::Array)
            ++tape_.nodes[open_.back()].size;
        Tape::Node node{};
        node.kind = kind;
        tape_.nodes.push_back(node);
        return true;
    }
    bool add_integer(std::int64_t value)
    {
        if (!add(Tape::Kind::Integer))
            return false;
        tape_.nodes.back().integer = value;
        return true;
    }
    bool add_text(const std::string& value, bool is_key = false)
    {
        if (value.size() > limits_.text - tape_.text.size()) {
            problem_ = fmt::format("holds more than {} MB of text in one answer, more than is read at once",
                                   limits_.text / 1'000'000);
            return false;
        }
        if (!add(Tape::Kind::String, is_key))
            return false;
        tape_.nodes.back().offset = tape_.text.size();
        tape_.nodes.back().size = static_cast<std::uint32_t>(value.size());
        tape_.text += value;
        return true;
    }
    bool open(Tape::Kind kind)
    {
        if (open_.size() >= static_cast<std::size_t>(limits_.depth)) {
            problem_ = fmt::format("is nested deeper than {} levels, which no answer of a server is", limits_.depth);
            return false;
        }
        if (!add(kind))
            return false;
        open_.push_back(tape_.nodes.size() - 1);
        return true;
    }
    bool close()
    {
        tape_.nodes[open_.back()].end = tape_.nodes.size();
        open_.pop_back();
        return true;
    }

    Tape& tape_;
    const Limits& limits_;
    std::vector<std::size_t> open_;
    std::string problem_;
    bool at_end_ = false;
};

/// One file being read.
class Reading {
public:
    Reading(std::istream& in, const std::function<Result<void>(Json, const RecordInfo&)>& handle, const Job& job,
            const Limits& limits)
        : in_(in), handle_(handle), job_(job), limits_(limits)
    {
    }

    Result<ParseNotes> all()
    {
        skip_mark();
        skip_spaces();
        const int first = in_.peek();
        const auto done = first == '{' || first == '[' ? values() : events();
        if (!done)
            return tl::unexpected(done.error());
        return notes_;
    }

private:
    void skip_mark() // of byte order, as editors on Windows write it
    {
        if (in_.peek() == 0xef)
            for (int i = 0; i < 3; ++i)
                in_.take();
    }
    void skip_spaces()
    {
        while (is_space(in_.peek()) || in_.peek() == ',') // values joined by hand
            in_.take();
    }

    Result<void> values()
    {
        Tolerant tolerant(in_);
        for (;;) {
            skip_spaces();
            if (in_.peek() == end_of_input)
                break;
            tolerant.restart();
            const auto handled = value(tolerant, in_.position());
            if (!handled)
                return tl::unexpected(handled.error());
            if (!*handled)
                break;
        }
        notes_.bad_surrogates += tolerant.bad_surrogates();
        return {};
    }

    /// Reads and hands on one value; false where the file ends in the middle of it, after whole ones.
    Result<bool> value(Tolerant& tolerant, std::size_t start)
    {
        tape_.clear();
        Builder builder(tape_, limits_);
        const bool whole =
            nlohmann::json::sax_parse(Input(tolerant), Input(), &builder, nlohmann::json::input_format_t::json, false);
        if (!whole && builder.at_end()) {
            if (notes_.records == 0)
                return fail(ErrorKind::BadFormat,
                            "ends in the middle of its JSON (after {} bytes): the file was cut "
                            "off, so get it anew",
                            in_.position());
            notes_.cut_off = true;
            return false;
        }
        if (!whole)
            return refused(builder, start);
        if (auto ok = hand_on(); !ok)
            return tl::unexpected(ok.error());
        return true;
    }

    tl::unexpected<Error> refused(const Builder& builder, std::size_t start) const
    {
        const std::string& problem = builder.problem();
        if (problem.starts_with("holds ") || problem.starts_with("is "))
            return fail(ErrorKind::Unsupported, "{}", problem);
        return fail(ErrorKind::BadFormat, "is no sound JSON near byte {} (value {}, which starts at byte {}): {}",
                    in_.position(), notes_.records + 1, start, plain(problem));
    }

    /// The parser's words on one line, without bytes that are no text.
    static std::string plain(std::string_view text)
    {
        std::string out;
        for (const char c : text.substr(0, 200))
            out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f ? '?' : c;
        while (out.ends_with('.'))
            out.pop_back();
        return out;
    }

    Result<void> hand_on()
    {
        if (job_.cancelled())
            return cancelled();
        if (++notes_.records > limits_.records)
            return fail(ErrorKind::Unsupported, "holds more than {} answers", limits_.records);
        const Json root(tape_, 0);
        if (root.is_array() && root.size() > 0 && (*root.elements().begin()).is_object()) {
            for (const Json element : root.elements())
                if (auto ok = handle_(element, {notes_.records, notes_.from_stream}); !ok)
                    return ok;
            return {};
        }
        return handle_(root, {notes_.records, notes_.from_stream});
    }

    // --- events: lines "data: {…}", an empty line ends one ---
    Result<void> events()
    {
        notes_.from_stream = true;
        std::string data, line;
        while (in_.peek() != end_of_input) {
            if (auto ok = read_line(line); !ok)
                return ok;
            if (line.starts_with("data:") || line.starts_with("error:")) {
                const std::string_view rest = std::string_view(line).substr(line.find(':') + 1);
                data += data.empty() ? "" : "\n";
                data += rest.starts_with(' ') ? rest.substr(1) : rest;
                if (data.size() > limits_.line)
                    return fail(ErrorKind::Unsupported, "holds an event of more than {} MB", limits_.line / 1'000'000);
                // Some proxies leave the empty line out: a whole object is a whole event.
                if (!data.ends_with('}') || in_.peek() == ' ')
                    continue;
            } else if (!line.empty())
                continue; // event:, id:, retry:, comments
            if (auto ok = event(data); !ok)
                return ok;
            data.clear();
            if (notes_.cut_off)
                return {};
        }
        return event(data);
    }

    Result<void> read_line(std::string& line)
    {
        line.clear();
        for (int c = in_.take(); c != end_of_input && c != '\n'; c = in_.take()) {
            line += static_cast<char>(c);
            if (line.size() > limits_.line)
                return fail(ErrorKind::Unsupported, "holds a line of more than {} MB", limits_.line / 1'000'000);
        }
        if (line.ends_with('\r'))
            line.pop_back();
        return {};
    }

    Result<void> event(const std::string& data)
    {
        const std::size_t from = data.find_first_not_of(" \t\r\n");
        if (from == std::string::npos || data.compare(from, 6, "[DONE]") == 0)
            return {};
        std::istringstream text(data);
        Characters characters(text);
        Tolerant tolerant(characters);
        tape_.clear();
        Builder builder(tape_, limits_);
        if (!nlohmann::json::sax_parse(Input(tolerant), Input(), &builder, nlohmann::json::input_format_t::json,
                                       false)) {
            if (builder.at_end() && notes_.records > 0 && in_.peek() == end_of_input) {
                notes_.cut_off = true;
                return {};
            }
            return refused(builder, in_.position() - std::min(in_.position(), data.size()));
        }
        notes_.bad_surrogates += tolerant.bad_surrogates();
        return hand_on();
    }

    Characters in_;
    const std::function<Result<void>(Json, const RecordInfo&)>& handle_;
    const Job& job_;
    const Limits& limits_;
    Tape tape_;
    ParseNotes notes_;
};

} // namespace

Result<ParseNotes> for_each_record(std::istream& in, const std::function<Result<void>(Json, const RecordInfo&)>& handle,
                                   const Job& job, const Limits& limits)
{
    return Reading(in, handle, job, limits).all();
}

bool looks_like_records(std::string_view head)
{
    if (head.starts_with("\xef\xbb\xbf"))
        head.remove_prefix(3);
    while (!head.empty() && is_space(static_cast<unsigned char>(head.front())))
        head.remove_prefix(1);
    if (head.starts_with('{')) {
        head.remove_prefix(1);
        while (!head.empty() && is_space(static_cast<unsigned char>(head.front())))
            head.remove_prefix(1);
        return head.empty() || head.front() == '"' || head.front() == '}';
    }
    if (head.starts_with('[')) {
        head.remove_prefix(1);
        while (!head.empty() && is_space(static_cast<unsigned char>(head.front())))
            head.remove_prefix(1);
        return head.empty() || head.front() == '{' || head.front() == ']';
    }
    return head.starts_with("data:") || head.starts_with("event:") || head.starts_with(": ");
}

} // namespace flipscope::answers
