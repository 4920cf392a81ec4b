// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// llama.cpp's own /completion: generated tokens only, with ids and true bytes.
#include "core/formats/answers/answer.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope::answers {

namespace {

bool recognises_llama_server(Json record)
{
    return record.has("completion_probabilities") ||
           (record["content"].is_string() && record.has("stop") &&
            (record.has("tokens_predicted") || record.has("generation_settings") || record.has("tokens_evaluated")));
}

Result<void> read_llama_server(Json record, const RecordInfo&, AnswerFile& file)
{
    file.settings.try_emplace("engine", "llama.cpp");
    if (const std::string_view model = record["model"].string(); !model.empty())
        file.settings.try_emplace("model", model);
    // Pieces have no id: one goes on with the answer of its index that is not complete.
    const std::string index = fmt::format("/{}", record["index"].integer().value_or(0));
    Answer* answer = nullptr;
    const std::size_t recent = std::min<std::size_t>(file.answers.size(), 64);
    for (std::size_t i = file.answers.size() - recent; i < file.answers.size(); ++i)
        if (!file.answers[i].complete && file.answers[i].key.ends_with(index))
            answer = &file.answers[i];
    if (answer == nullptr)
        answer = &file.answer(fmt::format("#{}{}", file.answers.size(), index));
    answer->content += record["content"].string();
    std::vector<std::int32_t> ids;
    if (read_ids(record["tokens"], ids))
        answer->token_ids.insert(answer->token_ids.end(), ids.begin(), ids.end());
    if (auto ok = add_content_rows(record["completion_probabilities"], answer->generated, file); !ok)
        return ok;
    if (const auto n = record["tokens_evaluated"].integer(); n && *n >= 0 && !answer->prompt_ids_known)
        answer->n_prompt = *n;
    if (const std::string_view prompt = record["prompt"].string(); !prompt.empty())
        answer->prompt_text = prompt;
    if (const std::string_view reason = record["stop_type"].string(); !reason.empty())
        answer->finish_reason = reason;
    read_generation_settings(record["generation_settings"], *answer, file);
    if (answer->values.empty() && file.probabilities > 0)
        answer->values = "processed";
    if (const auto cached = record["timings"]["cache_n"].integer())
        file.settings.try_emplace("cached_prompt_tokens", fmt::format("{}", *cached));
    answer->complete = !record.has("stop") || record["stop"].is_true();
    return {};
}

} // namespace

Dialect llama_server()
{
    return {"llama-server", recognises_llama_server, read_llama_server};
}

} // namespace flipscope::answers
