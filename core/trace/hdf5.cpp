// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5.h"

#include <cstdint>
#include <string_view>

namespace flipscope::h5 {

namespace {

std::recursive_mutex& library_mutex()
{
    static std::recursive_mutex mutex;
    return mutex;
}

/// Length of the valid UTF-8 character at the start of `s`, 0 where there is none (overlong forms, surrogates and
/// code points above U+10FFFF are not valid).
std::size_t utf8_length(std::string_view s)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    const unsigned first = byte(0);
    if (first < 0x80)
        return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || s.size() < length)
        return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80)
            return 0;
    const unsigned second = byte(1);
    const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return bad ? 0 : length;
}

std::string version()
{
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release);
}

} // namespace

Session::Session() : lock_(library_mutex())
{
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle::~Handle()
{
    if (id_ < 0)
        return;
    const Session session;
    H5Idec_ref(id_);
}

std::string last_error()
{
    std::string text;
    const auto take_first = [](unsigned, const H5E_error2_t* entry, void* out) -> herr_t {
        auto& result = *static_cast<std::string*>(out);
        if (entry->desc != nullptr)
            result = entry->desc;
        return 1; // the first entry walking downward from the innermost call is the most specific one
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &text);
    while (!text.empty() && (text.back() == '.' || text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    if (text.find("bad version number") != std::string::npos)
        text += ", so the file is damaged, or written in a layout newer than HDF5 " + version() +
                " knows (h5py: libver=(\"earliest\", \"v110\") writes one it does)";
    return text.empty() ? "the HDF5 library gave no reason" : one_line(text);
}

std::string valid_utf8(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0)
            out += "\xef\xbf\xbd";
        else
            out += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

std::string one_line(std::string_view text, std::size_t max_bytes)
{
    const bool cut = text.size() > max_bytes;
    std::string out = valid_utf8(text.substr(0, max_bytes));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            c = ' ';
    if (cut)
        out += "…";
    return out;
}

} // namespace flipscope::h5
