// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Ollama's /api/generate and /api/chat, whole or a line a piece.
#include "core/formats/answers/answer.h"

#include <fmt/format.h>

namespace flipscope::answers {

namespace {

bool recognises_ollama(Json record)
{
    return record.has("done") && (record["response"].is_string() || record["message"].is_object());
}

/// /api/generate gives back the ids of prompt and answer together; used only where the counts leave no doubt.
void read_context(Json record, Answer& answer)
{
    const auto n_prompt = record["prompt_eval_count"].integer();
    const auto n_answer = record["eval_count"].integer();
    if (n_prompt && *n_prompt >= 0)
        answer.n_prompt = *n_prompt;
    std::vector<std::int32_t> ids;
    if (!n_prompt || !n_answer || *n_prompt <= 0 || *n_answer <= 0 || !read_ids(record["context"], ids) ||
        static_cast<std::int64_t>(ids.size()) != *n_prompt + *n_answer ||
        static_cast<std::int64_t>(answer.generated.size()) != *n_answer)
        return;
    answer.prompt_ids.assign(ids.begin(), ids.begin() + *n_prompt);
    answer.prompt_ids_known = true;
    answer.token_ids.assign(ids.begin() + *n_prompt, ids.end());
}

Result<void> read_ollama(Json record, const RecordInfo&, AnswerFile& file)
{
    file.settings.try_emplace("engine", "ollama");
    if (const std::string_view model = record["model"].string(); !model.empty())
        file.settings.try_emplace("model", model);
    if (file.created.empty())
        file.created = record["created_at"].string().substr(0, 64);
    if (file.answers.empty() || file.answers.back().complete)
        file.answer(fmt::format("#{}", file.answers.size()));
    Answer& answer = file.answers.back();
    const Json message = record["message"];
    for (const std::string_view key : {"thinking", "content"})
        answer.content += message[key].string();
    answer.content += record["thinking"].string();
    answer.content += record["response"].string();
    read_tool_calls(message["tool_calls"], answer);
    if (auto ok = add_content_rows(record["logprobs"], answer.generated, file); !ok)
        return ok;
    if (const std::string_view reason = record["done_reason"].string(); !reason.empty())
        answer.finish_reason = reason;
    answer.complete = record["done"].is_true();
    if (answer.complete)
        read_context(record, answer);
    return {};
}

} // namespace

Dialect ollama()
{
    return {"Ollama", recognises_ollama, read_ollama};
}

} // namespace flipscope::answers
