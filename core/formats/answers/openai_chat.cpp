// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/answer.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope::answers {

namespace {

bool recognises_chat(Json record)
{
    const Json choices = record["choices"];
    for (const Json choice : choices.elements())
        return choice.has("message") || choice.has("delta") || choice["logprobs"]["content"].is_array();
    return record["object"].string().starts_with("chat.completion");
}

void read_message(Json message, Answer& answer)
{
    for (const std::string_view key : {"reasoning_content", "reasoning", "content"})
        answer.content += message[key].string();
    read_tool_calls(message["tool_calls"], answer);
}

Result<void> read_chat_choice(Json choice, Answer& answer, AnswerFile& file)
{
    read_message(choice.has("delta") ? choice["delta"] : choice["message"], answer);
    answer.content += choice["text"].string(); // llama.cpp's /v1/completions answers in this shape
    if (auto ok = read_vllm_fields(choice, answer, file); !ok)
        return ok;
    if (auto ok = add_content_rows(choice["logprobs"]["content"], answer.generated, file); !ok)
        return ok;
    if (const std::string_view reason = choice["finish_reason"].string(); !reason.empty())
        answer.finish_reason = reason;
    return {};
}

Result<void> read_chat(Json record, const RecordInfo& info, AnswerFile& file)
{
    read_openai_envelope(record, file);
    const bool chunk = info.from_stream || record["object"].string().ends_with(".chunk");
    // Whole answers may share an id (or have none); pieces belong together by it.
    const std::string id = chunk ? std::string(record["id"].string()) : fmt::format("#{}", file.answers.size());
    const std::size_t before = file.answers.size();
    for (const Json choice : record["choices"].elements()) {
        Answer& answer = file.answer(fmt::format("{}/{}", id, choice["index"].integer().value_or(0)));
        if (auto ok = read_vllm_fields(record, answer, file); !ok)
            return ok;
        if (auto ok = read_chat_choice(choice, answer, file); !ok)
            return ok;
        const Json verbose = record["__verbose"];
        std::vector<std::int32_t> ids;
        if (answer.token_ids.empty() && read_ids(verbose["tokens"], ids))
            answer.token_ids = std::move(ids);
        if (verbose["content"].is_string())
            answer.content = verbose["content"].string(); // the text before the server took a call out of it
        read_generation_settings(verbose["generation_settings"], answer, file);
    }
    const auto n_prompt = record["usage"]["prompt_tokens"].integer();
    const bool raw = record.has("timings"); // llama.cpp: this endpoint knows no post_sampling_probs
    const std::size_t recent = file.answers.size() - std::min<std::size_t>(file.answers.size(), 256);
    const std::size_t from = chunk ? recent : before;
    for (std::size_t i = from; i < file.answers.size(); ++i) {
        Answer& answer = file.answers[i];
        if (chunk && !answer.key.starts_with(id + "/"))
            continue;
        if (n_prompt && *n_prompt >= 0 && !answer.prompt_ids_known)
            answer.n_prompt = *n_prompt;
        if (raw && answer.values.empty())
            answer.values = "raw";
    }
    return {};
}

} // namespace

Dialect openai_chat()
{
    return {"OpenAI chat", recognises_chat, read_chat};
}

} // namespace flipscope::answers
