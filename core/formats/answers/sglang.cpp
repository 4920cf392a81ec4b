// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// SGLang's /generate: rows are [log probability, id, text or null].
#include "core/formats/answers/answer.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope::answers {

namespace {

bool recognises_sglang(Json record)
{
    return record["meta_info"].is_object();
}

/// [logprob, id, text]
Entry entry_of(Json triple, Rows& rows, AnswerFile& file)
{
    Entry e;
    std::size_t i = 0;
    for (const Json value : triple.elements()) {
        if (i == 0 && !(value.is_null() && rows.size() == 0)) // before a prompt's first there is nothing
            set_value(e, value, file);
        else if (i == 1)
            e.id = id_of(value).value_or(-1);
        else if (i == 2 && value.is_string())
            set_token(rows, e, value.string(), {}, file);
        ++i;
    }
    return e;
}

Result<Rows> rows_of(Json tokens, Json tops, const char* what, AnswerFile& file)
{
    Rows rows;
    std::vector<Json> lists;
    for (const Json list : tops.elements())
        lists.push_back(list);
    if (!lists.empty() && lists.size() != tokens.size())
        return fail(ErrorKind::BadFormat, "has {} {} tokens but {} top lists for them", tokens.size(), what,
                    lists.size());
    std::size_t i = 0;
    for (const Json token : tokens.elements()) {
        if (!token.is_array())
            return fail(ErrorKind::BadFormat, "has an {} token that is no list [log probability, id, text]", what);
        rows.add_row(entry_of(token, rows, file));
        if (lists.empty() || !lists[i].is_array())
            ++file.missing_rows;
        else
            for (const Json other : lists[i].elements())
                if (other.is_array())
                    rows.add_entry(entry_of(other, rows, file));
        ++i;
    }
    return rows;
}

std::string finish_of(Json reason)
{
    return std::string(reason.is_object() ? reason["type"].string() : reason.string());
}

Result<void> read_sglang(Json record, const RecordInfo& info, AnswerFile& file)
{
    file.settings.try_emplace("engine", "sglang");
    const Json meta = record["meta_info"];
    const std::string id =
        info.from_stream ? std::string(meta["id"].string()) : fmt::format("#{}", file.answers.size());
    Answer& answer = file.answer(id + fmt::format("/{}", record["index"].integer().value_or(0)));
    auto prompt = rows_of(meta["input_token_logprobs"], meta["input_top_logprobs"], "input", file);
    if (!prompt)
        return tl::unexpected(prompt.error());
    auto generated = rows_of(meta["output_token_logprobs"], meta["output_top_logprobs"], "output", file);
    if (!generated)
        return tl::unexpected(generated.error());
    // A stream repeats all that came before, or sends the new part only, as the server was started.
    const auto completion = meta["completion_tokens"].integer();
    const bool repeats = completion && static_cast<std::int64_t>(generated->size()) == *completion;
    if (repeats || answer.generated.size() == 0) {
        answer.generated = std::move(*generated);
        answer.content = record["text"].string();
        answer.token_ids.clear();
    } else {
        answer.generated.append(*generated);
        answer.content += record["text"].string();
    }
    if (prompt->size() > 0)
        answer.prompt = std::move(*prompt);
    if (std::vector<std::int32_t> ids; read_ids(record["output_ids"], ids))
        answer.token_ids = std::move(ids);
    if (const auto n = meta["prompt_tokens"].integer(); n && *n >= 0)
        answer.n_prompt = *n;
    if (answer.n_prompt < static_cast<std::int64_t>(answer.prompt.size()))
        answer.n_prompt = static_cast<std::int64_t>(answer.prompt.size());
    // logprob_start_len leaves the beginning out: the rows are the prompt's last ones.
    answer.prompt_from = answer.n_prompt - static_cast<std::int64_t>(answer.prompt.size());
    if (const auto cached = meta["cached_tokens"].integer())
        file.settings.try_emplace("cached_prompt_tokens", fmt::format("{}", *cached));
    if (const std::string_view version = meta["weight_version"].string(); !version.empty())
        file.settings.try_emplace("model_revision", version);
    if (std::string reason = finish_of(meta["finish_reason"]); !reason.empty())
        answer.finish_reason = std::move(reason);
    return {};
}

} // namespace

Dialect sglang()
{
    return {"SGLang", recognises_sglang, read_sglang};
}

} // namespace flipscope::answers
