// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/token_file.h"

#include "core/formats/npy.h"
#include "core/trace/hdf5.h"
#include "core/trace/open.h"

#include <charconv>
#include <limits>

namespace flipscope::formats {

namespace {

constexpr std::uint64_t most_text = 1u << 28;
constexpr std::uint64_t most_tokens = 1u << 27;

bool separates(char c)
{
    return c == ' ' || c == ',' || c == '\n' || c == '\r' || c == '\t' || c == '[' || c == ']' || c == ';';
}

/// A JSON list of numbers reads like text with brackets and commas between them.
Result<std::vector<std::int64_t>> numbers_in(std::string_view text, const std::string& name, std::uint64_t most)
{
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < text.size();) {
        if (separates(text[i])) {
            ++i;
            continue;
        }
        std::int64_t n = 0;
        const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), n);
        const auto next = static_cast<std::size_t>(end - text.data());
        if (error != std::errc() || (next < text.size() && !separates(text[next])))
            return fail(ErrorKind::BadFormat, "{} holds \"{}\" where a whole number is expected.", name,
                        h5::one_line(text.substr(i, 20), 20));
        if (out.size() == most)
            return fail(ErrorKind::BadFormat, "{} holds more than {} numbers.", name, most);
        out.push_back(n);
        i = next;
    }
    if (out.empty())
        return fail(ErrorKind::BadFormat, "{} holds no numbers.", name);
    return out;
}

} // namespace

Result<std::vector<std::int64_t>> read_numbers(const std::filesystem::path& path, std::uint64_t most)
{
    const std::string name = h5::one_line(path.string());
    const auto bytes = open_bytes(path, path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    std::string start(static_cast<std::size_t>(std::min<std::uint64_t>(npy_magic.size(), (*bytes)->size())), '\0');
    if (auto ok = (*bytes)->read(0, std::as_writable_bytes(std::span(start))); !ok)
        return tl::unexpected(ok.error());
    if (start == npy_magic) {
        const auto array = parse_npy(*bytes, {}, name);
        return array ? integers_of(*array, most) : Result<std::vector<std::int64_t>>(tl::unexpected(array.error()));
    }
    const auto text = read_all(**bytes, most_text, name);
    if (!text)
        return tl::unexpected(text.error());
    return numbers_in(*text, name, most);
}

Result<BorrowedHistory> read_history(const std::filesystem::path& path, const Job& job)
{
    BorrowedHistory out;
    const auto numbers = read_numbers(path, most_tokens);
    if (!numbers) {
        if (numbers.error().kind == ErrorKind::NotFound || !looks_like_trace(path))
            return tl::unexpected(numbers.error());
        const auto trace = open_trace(path, job);
        if (!trace)
            return tl::unexpected(trace.error());
        out.tokens = (*trace)->tokens;
        out.vocabulary = (*trace)->vocabulary;
        out.spans = (*trace)->spans;
        return out;
    }
    out.tokens.ids.reserve(numbers->size());
    for (const std::int64_t n : *numbers) {
        if (n < 0 || n > std::numeric_limits<std::int32_t>::max())
            return fail(ErrorKind::BadFormat, "{} holds {}, which is no token id.", h5::one_line(path.string()), n);
        out.tokens.ids.push_back(static_cast<std::int32_t>(n));
    }
    return out;
}

} // namespace flipscope::formats
