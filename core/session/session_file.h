// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/open_hints.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// A mark at a position of the token history, with or without words.
struct Bookmark {
    std::int64_t position = 0; ///< of a token
    int run = -1;              ///< what it is about: an index (in a file) or a session id (in a window); -1 = all runs
    std::string text;
    bool operator==(const Bookmark&) const = default;
};

/// What a `.flipscope` file holds: which traces were open and how they were looked at. Runs are referred to by their
/// index in `files`; -1 = none.
struct SessionFile {
    struct File {
        std::filesystem::path relative; ///< to the session's folder; empty = on another disk
        std::filesystem::path absolute;
        std::string content_key; ///< Trace::content_key when it was saved
        std::string name;        ///< empty = the trace's own
        std::string color;       ///< "#rrggbb"; empty = not chosen
        bool hidden = false;
        OpenHints hints = {}; ///< what a person said about the file; name and settings are not kept here
        bool operator==(const File&) const = default;
    };
    struct Scale {
        std::string kind = "linear"; ///< linear, log, percentile
        bool automatic = true;
        double low = 0, high = 1;
        std::string map = "cividis";
        bool operator==(const Scale&) const = default;
    };
    struct Place {
        int run = -1;
        std::int64_t window_start = -1, probe = -1, token = -1;
        bool operator==(const Place&) const = default;
    };
    std::vector<File> files;
    std::vector<File> printouts; ///< of llama-perplexity; only their paths
    int baseline = -1, floor = -1;
    int compared_a = -1, compared_b = -1;
    std::int64_t window_tokens = 0; ///< 0 = chosen by length
    std::string metric = "flip_rate";
    double margin = 0.5;
    Scale scale;
    std::int64_t range_start = 0, range_end = -1; ///< tokens shown; end -1 = all
    Place place;
    std::string page; ///< which page was on top; empty = the first
    std::vector<Bookmark> bookmarks;
    bool operator==(const SessionFile&) const = default;
};

/// Whether a file's first bytes are those of a session (and not of a trace): decides by content.
bool is_session(const std::filesystem::path& path);

/// The text of a session file (format "flipscope-session", version 1).
nlohmann::ordered_json session_json(const SessionFile& session);

/// Everything is checked: types, ranges, indices, lengths, depth. `name` stands in the sentences. Unknown keys are
/// left alone: a later version may have written them.
Result<SessionFile> parse_session(std::string_view text, const std::string& name);

Result<SessionFile> read_session(const std::filesystem::path& path);
/// `relative` of every file is filled in from where the session is written.
Result<void> write_session(const std::filesystem::path& path, SessionFile session);

/// Where a file of a session is now: beside the session, where it was, or (the same name) in one of `folders`. Empty =
/// nowhere.
std::filesystem::path find_session_file(const SessionFile::File& file, const std::filesystem::path& session,
                                        const std::vector<std::filesystem::path>& folders = {});

} // namespace flipscope
