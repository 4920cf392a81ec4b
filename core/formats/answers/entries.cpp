// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/answer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace flipscope::answers {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";
constexpr std::string_view placeholder = "token_id:";

/// The name of a form of "no value", or "" for a number that is one.
std::string_view form_of(Json value, double& number)
{
    if (!value.exists())
        return "missing";
    if (value.is_null())
        return "null";
    if (value.is_string()) {
        std::string lower(value.string().substr(0, 16));
        std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
        if (lower == "nan")
            return "NaN";
        if (lower == "-inf" || lower == "-infinity")
            return "-Infinity";
        if (lower == "inf" || lower == "infinity" || lower == "+inf" || lower == "+infinity")
            return "Infinity";
        const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), number);
        return error == std::errc() && end == lower.data() + lower.size() ? "" : "text";
    }
    const auto given = value.number();
    if (!given)
        return "text";
    number = *given;
    return "";
}

/// Bytes 239,191,189 are U+FFFD written out: what was there is gone.
bool lost(std::string_view text)
{
    return text.find(replacement) != std::string_view::npos;
}

int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// `\xf0\x9f` (also after "bytes:") as bytes; nothing unless all of the text is so.
std::optional<std::string> unescaped(std::string_view text)
{
    if (text.starts_with("bytes:"))
        text.remove_prefix(6);
    if (text.empty() || text.size() % 4 != 0)
        return std::nullopt;
    std::string bytes;
    bool beyond_ascii = false;
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const int high = hex_value(text[i + 2]), low = hex_value(text[i + 3]);
        if (text[i] != '\\' || text[i + 1] != 'x' || high < 0 || low < 0)
            return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
        beyond_ascii = beyond_ascii || high >= 8;
    }
    return beyond_ascii ? std::optional(bytes) : std::nullopt; // "\x41" may be meant as it stands
}

bool read_bytes(Json array, std::string& bytes)
{
    if (!array.is_array())
        return false;
    for (const Json value : array.elements()) {
        const auto byte = value.integer();
        if (!byte || *byte < 0 || *byte > 255)
            return false;
        bytes += static_cast<char>(*byte);
    }
    return true;
}

} // namespace

void set_value(Entry& e, Json value, AnswerFile& file)
{
    double number = 0;
    std::string_view form = form_of(value, number);
    if (form.empty() && !std::isfinite(static_cast<float>(number)))
        form = number < 0 ? "-Infinity" : "Infinity";
    if (form.empty() && number <= -9999)
        form = "-9999";
    if (form.empty() && number == -1000)
        form = "-1000";
    if (form.empty() && number == -100)
        form = "-100";
    e.has_value = form.empty();
    if (e.has_value)
        e.logprob = static_cast<float>(number);
    else
        ++file.no_values[std::string(form)];
}

void set_probability(Entry& e, Json value, AnswerFile& file)
{
    double number = 0;
    const std::string_view form = form_of(value, number);
    ++file.probabilities;
    e.has_value = form.empty() && number > 0 && std::isfinite(number);
    if (e.has_value)
        e.logprob = static_cast<float>(std::log(number));
    else
        ++file.no_values[form.empty() ? "probability 0" : std::string(form)];
}

std::optional<std::int32_t> placeholder_id(std::string_view token)
{
    if (!token.starts_with(placeholder))
        return std::nullopt;
    token.remove_prefix(placeholder.size());
    std::int32_t id = -1;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
    if (error != std::errc() || end != token.data() + token.size() || id < 0 || id >= first_made_up_id)
        return std::nullopt;
    return id;
}

std::optional<std::int32_t> id_of(Json value)
{
    const auto id = value.integer();
    if (!id || *id < 0 || *id >= first_made_up_id)
        return std::nullopt;
    return static_cast<std::int32_t>(*id);
}

void set_token(Rows& rows, Entry& e, std::string_view token, Json bytes, AnswerFile& file)
{
    std::string given;
    bool have_bytes = read_bytes(bytes, given);
    if (const auto id = placeholder_id(token)) {
        ++file.placeholders;
        if (e.id < 0)
            e.id = *id;
        if (!have_bytes || given.starts_with(placeholder)) // its own bytes, which say nothing
            return;
        token = given;
    }
    if (have_bytes && given.empty()) // special tokens of llama.cpp have neither text nor bytes
        have_bytes = false;
    if (have_bytes && !lost(given)) {
        rows.set_text(e, given);
        return;
    }
    if (const auto true_bytes = unescaped(token)) {
        rows.set_text(e, *true_bytes);
        return;
    }
    if (token.empty() || lost(token) || (have_bytes && lost(given))) {
        // The replacement character itself is a token too; only its id can tell.
        e.bytes_lost = true;
        return;
    }
    rows.set_text(e, token);
}

bool read_ids(Json array, std::vector<std::int32_t>& out)
{
    if (!array.is_array())
        return false;
    std::vector<std::int32_t> ids;
    ids.reserve(array.size());
    for (const Json value : array.elements()) {
        const auto id = id_of(value);
        if (!id)
            return false;
        ids.push_back(*id);
    }
    out = std::move(ids);
    return true;
}

Result<void> add_content_rows(Json content, Rows& rows, AnswerFile& file)
{
    const auto entry = [&](Json item) {
        Entry e;
        if (const auto id = id_of(item["id"]))
            e.id = *id;
        const Json text = item.has("token") ? item["token"] : item["tok_str"];
        set_token(rows, e, text.string(), item["bytes"], file);
        if (item.has("logprob"))
            set_value(e, item["logprob"], file);
        else if (item.has("prob"))
            set_probability(e, item["prob"], file);
        return e;
    };
    for (const Json item : content.elements()) {
        if (!item.is_object())
            return fail(ErrorKind::BadFormat, "has an entry among its token log probabilities that is no object");
        rows.add_row(entry(item));
        const Json top = item.has("top_logprobs") ? item["top_logprobs"]
                         : item.has("top_probs")  ? item["top_probs"]
                                                  : item["probs"];
        if (!top.is_array())
            ++file.missing_rows;
        for (const Json other : top.elements())
            if (other.is_object())
                rows.add_entry(entry(other));
        Entry& taken = rows.chosen.back();
        if (item.has("probs") && !item.has("prob") && !item.has("logprob") && rows.first.size() > 1) {
            // llama.cpp of 2024: {content, probs: [{tok_str, prob}]}
            set_token(rows, taken, item["content"].string(), {}, file);
            for (std::size_t i = rows.first[rows.size() - 1]; i < rows.entries.size(); ++i)
                if (rows.entries[i].has_text && rows.text_of(rows.entries[i]) == rows.text_of(taken)) {
                    taken.logprob = rows.entries[i].logprob;
                    taken.has_value = rows.entries[i].has_value;
                    break;
                }
        }
    }
    return {};
}

} // namespace flipscope::answers
