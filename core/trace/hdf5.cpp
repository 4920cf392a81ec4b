// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5.h"

#include "core/base/utf8.h"
#include "core/trace/open.h"

#include <string_view>

namespace flipscope::h5 {

namespace {

std::recursive_mutex& library_mutex()
{
    static std::recursive_mutex mutex;
    return mutex;
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
        text += ", so the file is damaged, or written in a layout newer than HDF5 " + hdf5_version() +
                " knows (h5py: libver=(\"earliest\", \"v110\") writes one it does)";
    return text.empty() ? "the HDF5 library gave no reason" : one_line(text);
}

std::string valid_utf8(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_at(text, 0).length;
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

std::string flipscope::hdf5_version()
{
    const h5::Session session;
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}
