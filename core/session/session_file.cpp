// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/session_file.h"

#include "core/base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace flipscope {

namespace {

// Not the ordered kind, which searches all keys of an object for every one that it adds.
using Json = nlohmann::json;

constexpr std::size_t most_bytes = 16 << 20, most_text = 64 << 10;
constexpr std::size_t most_files = 4096, most_bookmarks = 100'000;
constexpr int most_depth = 16;
constexpr std::int64_t most_position = std::int64_t{1} << 48;

/// Takes values out of an object and remembers the first thing that is wrong.
class Reader {
public:
    Reader(const Json& object, std::string where, std::string& problem)
        : object_(object), where_(std::move(where)), problem_(problem)
    {
        if (!object.is_object())
            complain("", "an object");
    }
    void text(const char* key, std::string& value)
    {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (found->is_string() && found->get_ref<const std::string&>().size() <= most_text)
            value = found->get<std::string>();
        else
            complain(key, "a text of at most 64 KiB");
    }
    void path(const char* key, std::filesystem::path& value)
    {
        std::string given;
        text(key, given);
        if (given.find('\0') != std::string::npos)
            complain(key, "a path");
        else
            value = given;
    }
    void yes_no(const char* key, bool& value)
    {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (found->is_boolean())
            value = found->get<bool>();
        else
            complain(key, "true or false");
    }
    void real(const char* key, double& value)
    {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (found->is_number() && std::isfinite(found->get<double>()))
            value = found->get<double>();
        else
            complain(key, "a number");
    }
    template <class Whole>
    void whole(const char* key, Whole& value, std::int64_t least, std::int64_t most)
    {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        // An unsigned number above the signed ones would wrap around.
        const bool fits =
            found->is_number_integer() &&
            !(found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(most));
        if (fits && found->get<std::int64_t>() >= least && found->get<std::int64_t>() <= most)
            value = static_cast<Whole>(found->get<std::int64_t>());
        else
            complain(key, fmt::format("a whole number from {} to {}", least, most));
    }
    void one_of(const char* key, std::string& value, std::initializer_list<std::string_view> known)
    {
        text(key, value);
        if (std::ranges::find(known, value) == known.end())
            complain(key, fmt::format("one of {}", fmt::join(known, ", ")));
    }
    /// Calls `each` with every element of a list.
    template <class Each>
    void list(const char* key, std::size_t most, const Each& each)
    {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (!found->is_array() || found->size() > most) {
            complain(key, fmt::format("a list of at most {}", most));
            return;
        }
        std::size_t i = 0;
        for (const Json& element : *found)
            each(Reader(element, fmt::format("{}{}[{}].", where_, key, i++), problem_));
    }
    template <class Each>
    void object(const char* key, const Each& each)
    {
        if (const Json* found = find(key))
            each(Reader(*found, fmt::format("{}{}.", where_, key), problem_));
    }

private:
    const Json* find(const char* key) const
    {
        if (!object_.is_object())
            return nullptr;
        const auto it = object_.find(key);
        return it == object_.end() ? nullptr : &*it;
    }
    void complain(const std::string& key, const std::string& wanted)
    {
        if (problem_.empty())
            problem_ = fmt::format("{}{} is not {}", where_, key, wanted);
    }

    const Json& object_;
    std::string where_;
    std::string& problem_;
};

/// How deep lists and objects are nested. Told before parsing: a callback that is asked at every depth makes parsing
/// take a time that grows with the square of a list's length.
int depth_of(std::string_view text)
{
    int depth = 0, deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            deepest = std::max(deepest, ++depth);
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return deepest;
}

bool is_color(const std::string& text)
{
    return text.empty() ||
           (text.size() == 7 && text[0] == '#' &&
            std::all_of(text.begin() + 1, text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; }));
}

void read_hints(Reader hints, OpenHints& to, std::string& problem)
{
    constexpr std::int64_t most = most_position;
    const auto number = [&](const char* key, std::optional<std::int64_t>& value, std::int64_t least) {
        std::int64_t n = -1; // no value of any of them
        hints.whole(key, n, least, most);
        if (n >= least)
            value = n;
    };
    hints.text("array", to.array);
    hints.text("axes", to.axes);
    std::string type;
    hints.text("type", type);
    for (const LogitType t : {LogitType::BF16, LogitType::F16, LogitType::F32, LogitType::F64})
        if (type == name_of(t))
            to.type = t;
    number("vocabulary", to.vocabulary, 1);
    hints.path("tokens", to.tokens);
    hints.path("positions", to.positions);
    number("first", to.first, 0);
    number("stride", to.stride, 1);
    std::int32_t bos = -1;
    hints.whole("bos", bos, 0, std::numeric_limits<std::int32_t>::max());
    if (bos >= 0)
        to.bos = bos;
    hints.whole("shift", to.shift, -1, 1);
    hints.text("scoring", to.scoring);
    hints.text("values", to.values);
    double temperature = 0;
    hints.real("temperature", temperature);
    if (temperature > 0)
        to.temperature = temperature;
    if (problem.empty() && !type.empty() && !to.type)
        problem = "a hint names no type of numbers";
}

/// Only what was said.
nlohmann::ordered_json hints_json(const OpenHints& h)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    const auto text = [&](const char* key, const std::string& value) {
        if (!value.empty())
            json[key] = value;
    };
    const auto number = [&](const char* key, const auto& value) {
        if (value)
            json[key] = *value;
    };
    text("array", h.array);
    text("axes", h.axes);
    text("type", h.type ? std::string(name_of(*h.type)) : std::string());
    number("vocabulary", h.vocabulary);
    text("tokens", h.tokens.string());
    text("positions", h.positions.string());
    number("first", h.first);
    number("stride", h.stride);
    number("bos", h.bos);
    if (h.shift != 0)
        json["shift"] = h.shift;
    text("scoring", h.scoring);
    text("values", h.values);
    number("temperature", h.temperature);
    return json;
}

SessionFile read_all(const Json& json, std::string& problem)
{
    SessionFile s;
    Reader all(json, "", problem);
    all.list("files", most_files, [&](Reader file) {
        SessionFile::File f;
        file.path("relative", f.relative);
        file.path("absolute", f.absolute);
        file.text("content_key", f.content_key);
        file.text("name", f.name);
        file.text("color", f.color);
        file.yes_no("hidden", f.hidden);
        file.object("hints", [&](Reader hints) { read_hints(hints, f.hints, problem); });
        if (problem.empty() && f.relative.empty() && f.absolute.empty())
            problem = fmt::format("files[{}] has no path", s.files.size());
        if (problem.empty() && !is_color(f.color))
            problem = fmt::format("files[{}].color is not a colour such as #1f77b4", s.files.size());
        s.files.push_back(std::move(f));
    });
    all.list("printouts", most_files, [&](Reader file) {
        SessionFile::File f;
        file.path("relative", f.relative);
        file.path("absolute", f.absolute);
        s.printouts.push_back(std::move(f));
    });
    const auto last = static_cast<std::int64_t>(s.files.size()) - 1;
    all.whole("baseline", s.baseline, -1, last);
    all.whole("floor", s.floor, -1, last);
    all.object("compare", [&](Reader pair) {
        pair.whole("a", s.compared_a, -1, last);
        pair.whole("b", s.compared_b, -1, last);
    });
    all.whole("window_tokens", s.window_tokens, 0, most_position);
    all.text("metric", s.metric);
    all.real("margin", s.margin);
    if (problem.empty() && s.margin < 0)
        problem = "margin is below 0";
    all.object("scale", [&](Reader scale) {
        scale.one_of("kind", s.scale.kind, {"linear", "log", "percentile"});
        scale.yes_no("automatic", s.scale.automatic);
        scale.real("low", s.scale.low);
        scale.real("high", s.scale.high);
        scale.text("map", s.scale.map);
    });
    all.object("range", [&](Reader range) {
        range.whole("start", s.range_start, 0, most_position);
        range.whole("end", s.range_end, -1, most_position);
    });
    all.object("place", [&](Reader place) {
        place.whole("run", s.place.run, -1, last);
        place.whole("window_start", s.place.window_start, -1, most_position);
        place.whole("probe", s.place.probe, -1, most_position);
        place.whole("token", s.place.token, -1, most_position);
    });
    all.text("page", s.page);
    all.list("bookmarks", most_bookmarks, [&](Reader bookmark) {
        Bookmark b;
        bookmark.whole("position", b.position, 0, most_position);
        bookmark.whole("run", b.run, -1, last);
        bookmark.text("text", b.text);
        s.bookmarks.push_back(std::move(b));
    });
    return s;
}

} // namespace

bool is_session(const std::filesystem::path& path)
{
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none))
        return false;
    std::ifstream in(path, std::ios::binary);
    std::string head(4096, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    const auto first = head.find_first_not_of(" \t\r\n");
    return first != std::string::npos && head[first] == '{' &&
           (head.find("\"flipscope-session\"") != std::string::npos || path.extension() == ".flipscope");
}

nlohmann::ordered_json session_json(const SessionFile& s)
{
    nlohmann::ordered_json json = {
        {"format", "flipscope-session"}, {"version", 1}, {"files", nlohmann::ordered_json::array()}};
    for (const SessionFile::File& f : s.files) {
        json["files"].push_back({{"relative", f.relative.string()},
                                 {"absolute", f.absolute.string()},
                                 {"content_key", f.content_key},
                                 {"name", f.name},
                                 {"color", f.color},
                                 {"hidden", f.hidden}});
        if (auto hints = hints_json(f.hints); !hints.empty())
            json["files"].back()["hints"] = std::move(hints);
    }
    for (const SessionFile::File& f : s.printouts)
        json["printouts"].push_back({{"relative", f.relative.string()}, {"absolute", f.absolute.string()}});
    json["baseline"] = s.baseline;
    json["floor"] = s.floor;
    json["compare"] = {{"a", s.compared_a}, {"b", s.compared_b}};
    json["window_tokens"] = s.window_tokens;
    json["metric"] = s.metric;
    json["margin"] = s.margin;
    json["scale"] = {{"kind", s.scale.kind},
                     {"automatic", s.scale.automatic},
                     {"low", s.scale.low},
                     {"high", s.scale.high},
                     {"map", s.scale.map}};
    json["range"] = {{"start", s.range_start}, {"end", s.range_end}};
    json["place"] = {{"run", s.place.run},
                     {"window_start", s.place.window_start},
                     {"probe", s.place.probe},
                     {"token", s.place.token}};
    json["page"] = s.page;
    json["bookmarks"] = nlohmann::ordered_json::array();
    for (const Bookmark& b : s.bookmarks)
        json["bookmarks"].push_back({{"position", b.position}, {"run", b.run}, {"text", b.text}});
    return json;
}

Result<SessionFile> parse_session(std::string_view text, const std::string& name)
{
    if (text.size() > most_bytes)
        return fail(ErrorKind::BadFormat, "{}: a session of more than 16 MiB is none of ours.", name);
    const bool deep = depth_of(text) > most_depth;
    const Json json = deep ? Json() : Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object() || deep)
        return fail(ErrorKind::BadFormat, "{}: this is no session: {}.", name,
                    deep ? "its JSON is nested too deeply" : "it is not a JSON object");
    const auto format = json.find("format"), version = json.find("version");
    if (format == json.end() || *format != "flipscope-session")
        return fail(ErrorKind::BadFormat, "{}: this is no session: its \"format\" is not \"flipscope-session\".", name);
    if (version == json.end() || !version->is_number_integer())
        return fail(ErrorKind::BadFormat, "{}: the session states no version.", name);
    if (*version != 1)
        return fail(ErrorKind::Unsupported,
                    "{}: the session was written for version {}; this Flipscope reads version 1.", name,
                    version->dump());
    std::string problem;
    SessionFile session = read_all(json, problem);
    if (!problem.empty())
        return fail(ErrorKind::BadFormat, "{}: the session is damaged: {}.", name, problem);
    return session;
}

Result<SessionFile> read_session(const std::filesystem::path& path)
{
    std::error_code none;
    if (!std::filesystem::exists(path, none))
        return fail(ErrorKind::NotFound, "{}: there is no such file.", path.string());
    if (!std::filesystem::is_regular_file(path, none))
        return fail(ErrorKind::Unreadable, "{}: this is not a plain file.", path.string());
    std::ifstream in(path, std::ios::binary);
    std::string text(most_bytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad() || (!in && !in.eof()))
        return fail(ErrorKind::Unreadable, "{}: the file cannot be read.", path.string());
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
    return parse_session(text, path.string());
}

Result<void> write_session(const std::filesystem::path& path, SessionFile session)
{
    std::error_code none;
    const auto folder = std::filesystem::weakly_canonical(std::filesystem::absolute(path, none).parent_path(), none);
    for (auto* files : {&session.files, &session.printouts})
        for (SessionFile::File& file : *files)
            file.relative = std::filesystem::weakly_canonical(file.absolute, none).lexically_relative(folder);
    return write_text(path, session_json(session).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::filesystem::path find_session_file(const SessionFile::File& file, const std::filesystem::path& session,
                                        const std::vector<std::filesystem::path>& folders)
{
    std::vector<std::filesystem::path> places;
    if (!file.relative.empty())
        places.push_back(session.parent_path() / file.relative);
    places.push_back(file.absolute);
    const auto name = file.absolute.empty() ? file.relative.filename() : file.absolute.filename();
    for (const auto& folder : folders)
        places.push_back(folder / name);
    std::error_code none;
    for (const auto& place : places)
        if (!place.empty() && std::filesystem::is_regular_file(place, none))
            return place.lexically_normal();
    return {};
}

} // namespace flipscope
