// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/answer.h"

#include <nlohmann/json.hpp>

namespace flipscope::answers {

void Rows::set_text(Entry& e, std::string_view bytes)
{
    e.text_at = text.size();
    e.text_size = static_cast<std::uint32_t>(bytes.size());
    e.has_text = true;
    text += bytes;
}

void Rows::add_row(const Entry& taken)
{
    chosen.push_back(taken);
    first.push_back(entries.size());
    lossy.push_back(0);
}

void Rows::add_entry(const Entry& e)
{
    entries.push_back(e);
    first.back() = entries.size();
}

void Rows::append(const Rows& other)
{
    const std::uint64_t text_offset = text.size();
    const std::size_t entry_offset = entries.size();
    const auto moved = [&](Entry e) {
        e.text_at += text_offset;
        return e;
    };
    for (const Entry& e : other.chosen)
        chosen.push_back(moved(e));
    for (const Entry& e : other.entries)
        entries.push_back(moved(e));
    for (std::size_t i = 1; i < other.first.size(); ++i)
        first.push_back(other.first[i] + entry_offset);
    lossy.insert(lossy.end(), other.lossy.begin(), other.lossy.end());
    text += other.text;
}

Answer& AnswerFile::answer(const std::string& key)
{
    // Streams write to the answer begun last, or to one of a few.
    for (auto at = answers.rbegin(); at != answers.rend() && at - answers.rbegin() < 256; ++at)
        if (at->key == key)
            return *at;
    answers.emplace_back().key = key;
    return answers.back();
}

const std::vector<Dialect>& dialects()
{
    static const std::vector<Dialect> list = {openai_chat(), openai_completions(), llama_server(), sglang(), ollama()};
    return list;
}

void read_tool_calls(Json calls, Answer& answer)
{
    std::int64_t next = 0;
    for (const Json call : calls.elements()) {
        const std::int64_t index = call["index"].integer().value_or(next);
        next = index + 1;
        if (index < 0 || (answer.tool_calls.size() >= 4096 && !answer.tool_calls.contains(index)))
            continue;
        auto& [name, arguments] = answer.tool_calls[index];
        const Json function = call["function"];
        name += function["name"].string();
        const Json given = function["arguments"];
        arguments += given.is_string() ? std::string(given.string()) : given.exists() ? given.dump() : "";
    }
}

std::string tool_calls_json(const Answer& answer)
{
    if (answer.tool_calls.empty())
        return {};
    auto calls = nlohmann::ordered_json::array();
    for (const auto& [index, call] : answer.tool_calls)
        calls.push_back({{"name", call.first}, {"arguments", call.second}});
    return calls.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace flipscope::answers
