// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What answers of OpenAI-like endpoints have in common, and what vLLM and llama.cpp add to them.
#include "core/formats/answers/answer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/chrono.h>

namespace flipscope::answers {

namespace {

void set_once(AnswerFile& file, const std::string& key, std::string_view value)
{
    if (!value.empty())
        file.settings.try_emplace(key, value);
}

/// A prompt_logprobs entry {id: {logprob, rank, decoded_token}, …}: the token that stands there, and the best k.
Result<void> add_prompt_row(Json dict, std::int32_t taken_id, Rows& rows, AnswerFile& file)
{
    Entry taken;
    taken.id = taken_id;
    rows.add_row(taken);
    if (!dict.is_object()) {
        ++file.missing_rows;
        return {};
    }
    bool ranked = false, has_best = false;
    for (const auto& [key, value] : dict.members()) {
        Entry e;
        if (const auto rank = value["rank"].integer()) {
            ranked = true;
            has_best = has_best || *rank == 1;
        }
        const auto id = placeholder_id("token_id:" + std::string(key.starts_with("token_id:") ? key.substr(9) : key));
        if (!id)
            return fail(ErrorKind::BadFormat, "has prompt_logprobs by \"{}\", which is no token id",
                        std::string(key.substr(0, 20)));
        e.id = *id;
        const Json text = value["decoded_token"];
        if (text.is_string() && !placeholder_id(text.string()))
            set_token(rows, e, text.string(), {}, file);
        set_value(e, value.is_object() ? value["logprob"] : value, file);
        rows.add_entry(e);
        if (e.id == taken_id)
            rows.chosen.back() = e;
    }
    if (ranked && !has_best) { // prompt_logprobs 0: the token's own value, and nobody knows the best one
        rows.entries.resize(rows.first[rows.size() - 1]);
        rows.first.back() = rows.entries.size();
        ++file.missing_rows;
    }
    return {};
}

/// How many of the dicts hold the id that the prompt has at their place + shift.
std::size_t fitting(Json list, const std::vector<std::int32_t>& ids, std::int64_t shift)
{
    std::size_t fit = 0;
    std::int64_t at = shift;
    for (const Json dict : list.elements()) {
        if (dict.is_object() && at >= 0 && at < static_cast<std::int64_t>(ids.size()))
            fit += dict.has(fmt::format("{}", ids[static_cast<std::size_t>(at)])) ? 1 : 0;
        ++at;
    }
    return fit;
}

} // namespace

Result<void> read_prompt_logprobs(Json list, Answer& answer, AnswerFile& file)
{
    if (!list.is_array() || list.size() == 0)
        return {};
    answer.prompt.clear();
    // A dict holds the token that stands at its place. Without the prompt's ids, that is the one entry beyond the
    // ranks 1 … k, or, where all ranks are there, one that nobody can tell.
    std::int64_t shift = 0;
    if (answer.prompt_ids_known) {
        std::size_t best = 0;
        for (const std::int64_t s : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}})
            if (const std::size_t fit = fitting(list, answer.prompt_ids, s); fit > best) {
                best = fit;
                shift = s;
            }
    }
    if (shift != 0)
        file.shifted_rows += static_cast<std::int64_t>(list.size());
    std::int64_t place = shift;
    answer.prompt_from = std::max<std::int64_t>(0, shift);
    for (const Json dict : list.elements()) {
        if (place >= 0) {
            const bool known = answer.prompt_ids_known && place < static_cast<std::int64_t>(answer.prompt_ids.size());
            const std::int32_t id = known ? answer.prompt_ids[static_cast<std::size_t>(place)] : -1;
            if (auto ok = add_prompt_row(dict, id, answer.prompt, file); !ok)
                return ok;
        }
        ++place;
    }
    if (answer.n_prompt < 0)
        answer.n_prompt = place;
    if (answer.values.empty() && answer.generated.size() == 0)
        answer.values = "raw"; // no sampler touches the prompt
    return {};
}

Result<void> read_vllm_fields(Json object, Answer& answer, AnswerFile& file)
{
    if (read_ids(object["prompt_token_ids"], answer.prompt_ids)) {
        answer.prompt_ids_known = true;
        answer.n_prompt = static_cast<std::int64_t>(answer.prompt_ids.size());
    }
    std::vector<std::int32_t> ids;
    if (read_ids(object["token_ids"], ids))
        answer.token_ids.insert(answer.token_ids.end(), ids.begin(), ids.end());
    return read_prompt_logprobs(object["prompt_logprobs"], answer, file);
}

void read_openai_envelope(Json record, AnswerFile& file)
{
    set_once(file, "model", record["model"].string());
    const std::string_view fingerprint = record["system_fingerprint"].string();
    if (fingerprint.starts_with("vllm-")) {
        set_once(file, "engine", "vllm");
        const std::string_view version = fingerprint.substr(5);
        set_once(file, "engine_version", version.substr(0, version.rfind('-')));
    } else if (record.has("timings")) {
        set_once(file, "engine", "llama.cpp");
        set_once(file, "engine_version", fingerprint);
    } else
        set_once(file, "system_fingerprint", fingerprint);
    if (const auto created = record["created"].integer();
        created && file.created.empty() && *created > 0 && *created < 253'402'300'800)
        file.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(*created)));
    if (const auto cached = record["usage"]["prompt_tokens_details"]["cached_tokens"].integer())
        set_once(file, "cached_prompt_tokens", fmt::format("{}", *cached));
}

void read_generation_settings(Json settings, Answer& answer, AnswerFile& file)
{
    if (!settings.is_object())
        return;
    std::string sampler;
    for (const std::string_view key : {"samplers", "temperature", "top_k", "top_p", "min_p", "typical_p",
                                       "repeat_penalty", "presence_penalty", "frequency_penalty", "mirostat"})
        if (settings.has(key))
            sampler += fmt::format("{}\"{}\":{}", sampler.empty() ? "{" : ",", key, settings[key].dump());
    if (!sampler.empty())
        answer.sampler = sampler + "}";
    if (const auto seed = settings["seed"].integer())
        set_once(file, "seed", *seed == 4294967295 ? "random" : fmt::format("{}", *seed));
    if (const std::string_view grammar = settings["grammar"].string(); !grammar.empty())
        set_once(file, "grammar", grammar.substr(0, 4096));
    if (const auto k = settings["n_probs"].integer(); k && *k > 0)
        answer.asked_k = *k;
    // The server says itself whether the values were taken before or after the samplers.
    if (settings["post_sampling_probs"].is_true()) {
        answer.values = "processed";
        answer.temperature = settings["temperature"].number();
    } else if (settings.has("post_sampling_probs"))
        answer.values = "raw";
    set_once(file, "speculative", settings["speculative.types"].string());
}

} // namespace flipscope::answers
