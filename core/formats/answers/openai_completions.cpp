// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/answer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace flipscope::answers {

namespace {

bool recognises_completions(Json record)
{
    for (const Json choice : record["choices"].elements())
        return choice.has("text") && !choice["logprobs"]["content"].is_array();
    return record["object"].string() == "text_completion" ||
           (record["top_logprobs"].is_array() && !record.has("model")); // the logprobs object alone, as people cut it
}

/// The legacy lists; all of them optional, and of lengths that need not agree.
struct Lists {
    std::vector<Json> tokens, values, tops;
    static std::vector<Json> of(Json array)
    {
        std::vector<Json> all;
        all.reserve(array.size());
        for (const Json value : array.elements())
            all.push_back(value);
        return all;
    }
    explicit Lists(Json logprobs)
        : tokens(of(logprobs["tokens"])), values(of(logprobs["token_logprobs"])), tops(of(logprobs["top_logprobs"]))
    {
    }
    std::size_t size() const { return std::max({tokens.size(), values.size(), tops.size()}); }

    /// Top lists whose value for the token at their place + shift is that of the token itself.
    std::size_t fitting(std::int64_t shift) const
    {
        std::size_t fit = 0;
        for (std::size_t i = 0; i < tops.size(); ++i) {
            const std::int64_t at = static_cast<std::int64_t>(i) + shift;
            if (at < 0 || at >= static_cast<std::int64_t>(std::min(tokens.size(), values.size())))
                continue;
            const auto listed = tops[i][tokens[static_cast<std::size_t>(at)].string()].number();
            fit += listed && listed == values[static_cast<std::size_t>(at)].number() ? 1 : 0;
        }
        return fit;
    }
};

/// Lists that are one entry longer or shorter than the tokens may be off by one: the tokens' own values tell.
std::int64_t shift_of(const Lists& lists)
{
    std::int64_t best_shift = 0;
    std::size_t best = lists.fitting(0);
    for (const std::int64_t shift : {std::int64_t{1}, std::int64_t{-1}})
        if (const std::size_t fit = lists.fitting(shift); fit > best + 1) {
            best = fit;
            best_shift = shift;
        }
    return best_shift;
}

/// Entries that a whole list has: the token taken comes on top of the best k where it is none of them.
std::size_t whole_size(const Rows& rows)
{
    std::size_t largest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        largest = std::max(largest, rows.first[i + 1] - rows.first[i]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows.first[i + 1] - rows.first[i] != largest)
            continue;
        const Entry& taken = rows.chosen[i];
        bool last = taken.has_value;
        for (std::size_t e = rows.first[i]; e < rows.first[i + 1]; ++e)
            last = last && rows.entries[e].logprob >= taken.logprob;
        if (!last)
            return largest;
    }
    return largest > 0 ? largest - 1 : 0;
}

/// Keys that are texts may have swallowed an entry, and the value that survives need not be the right one.
void find_losses(Rows& rows, bool by_text, AnswerFile& file)
{
    const std::size_t whole = whole_size(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t n = rows.first[i + 1] - rows.first[i];
        if (by_text && n > 0 && n < whole) {
            rows.lossy[i] = 1;
            ++file.collapsed;
        }
        const Entry& taken = rows.chosen[i];
        for (std::size_t e = rows.first[i]; e < rows.first[i + 1]; ++e) {
            const Entry& other = rows.entries[e];
            const bool same = taken.id >= 0 || other.id >= 0
                                  ? taken.id == other.id
                                  : taken.has_text && other.has_text && rows.text_of(taken) == rows.text_of(other);
            if (same && taken.has_value && other.has_value && taken.logprob != other.logprob) {
                rows.lossy[i] = 1;
                ++file.contradictions;
                break;
            }
        }
    }
}

void add_legacy_rows(Json logprobs, Rows& rows, AnswerFile& file)
{
    const Lists lists(logprobs);
    const std::int64_t shift = shift_of(lists);
    if (shift != 0)
        file.shifted_rows += static_cast<std::int64_t>(lists.tops.size());
    bool by_text = false;
    Rows added;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        Entry taken;
        const Json token = i < lists.tokens.size() ? lists.tokens[i] : Json();
        if (token.is_string())
            set_token(added, taken, token.string(), {}, file);
        if (i < lists.values.size() &&
            (i > 0 || !lists.values[0].is_null())) // before a prompt's first there is nothing
            set_value(taken, lists.values[i], file);
        added.add_row(taken);
        const std::int64_t at = static_cast<std::int64_t>(i) - shift;
        const Json top = at >= 0 && at < static_cast<std::int64_t>(lists.tops.size())
                             ? lists.tops[static_cast<std::size_t>(at)]
                             : Json();
        if (!top.is_object())
            ++file.missing_rows;
        for (const auto& [key, value] : top.members()) {
            Entry e;
            set_token(added, e, key, {}, file);
            set_value(e, value, file);
            by_text = by_text || e.id < 0;
            added.add_entry(e);
        }
    }
    find_losses(added, by_text, file);
    rows.append(added);
}

/// How many of `n` rows are the prompt's: echo lists the prompt before what was generated.
std::size_t echoed(const Answer& answer, std::size_t n, Json record, Json logprobs)
{
    const auto completion = record["usage"]["completion_tokens"].integer();
    const auto prompt = record["usage"]["prompt_tokens"].integer();
    if (answer.prompt_ids_known && n > answer.prompt_ids.size() && answer.prompt.size() > 0)
        return answer.prompt_ids.size();
    if (completion && prompt && *completion >= 0 && *prompt > 0) {
        const auto rows = static_cast<std::int64_t>(n);
        return rows > *completion && rows >= *prompt ? static_cast<std::size_t>(*prompt) : 0;
    }
    // Nothing stands before the first token of a prompt; what was generated always has a value.
    for (const Json first : logprobs["token_logprobs"].elements())
        return first.is_null() ? n : 0;
    return 0;
}

/// The rows from `from` to `to` alone.
Rows part_of(const Rows& rows, std::size_t from, std::size_t to)
{
    Rows part;
    part.text = rows.text;
    for (std::size_t i = from; i < to; ++i) {
        part.add_row(rows.chosen[i]);
        part.lossy.back() = rows.lossy[i];
        for (std::size_t e = rows.first[i]; e < rows.first[i + 1]; ++e)
            part.add_entry(rows.entries[e]);
    }
    return part;
}

void read_logprobs(Json logprobs, Json record, Answer& answer, AnswerFile& file)
{
    if (!logprobs.is_object())
        return;
    Rows rows;
    add_legacy_rows(logprobs, rows, file);
    const std::size_t of_prompt = std::min(echoed(answer, rows.size(), record, logprobs), rows.size());
    if (of_prompt == 0) {
        answer.generated.append(rows);
        return;
    }
    answer.generated.append(part_of(rows, of_prompt, rows.size()));
    if (answer.prompt.size() > 0) // vLLM's prompt_logprobs say the same, with ids
        return;
    answer.prompt = part_of(rows, 0, of_prompt);
    answer.prompt_from = 0;
    if (answer.n_prompt < 0)
        answer.n_prompt = static_cast<std::int64_t>(of_prompt);
}

Result<void> read_completions(Json record, const RecordInfo& info, AnswerFile& file)
{
    read_openai_envelope(record, file);
    if (!record.has("choices")) { // the logprobs object alone
        read_logprobs(record, record, file.answer(fmt::format("#{}", file.answers.size())), file);
        return {};
    }
    // A stream's pieces share the id; whole answers of one file may, too.
    const std::string id =
        info.from_stream ? std::string(record["id"].string()) : fmt::format("#{}", file.answers.size());
    for (const Json choice : record["choices"].elements()) {
        Answer& answer = file.answer(fmt::format("{}/{}", id, choice["index"].integer().value_or(0)));
        if (const auto n = record["usage"]["prompt_tokens"].integer(); n && *n >= 0 && !answer.prompt_ids_known)
            answer.n_prompt = *n;
        if (auto ok = read_vllm_fields(choice, answer, file); !ok)
            return ok;
        answer.content += choice["text"].string();
        read_logprobs(choice["logprobs"], record, answer, file);
        if (const std::string_view reason = choice["finish_reason"].string(); !reason.empty())
            answer.finish_reason = reason;
    }
    return {};
}

} // namespace

Dialect openai_completions()
{
    return {"OpenAI completions", recognises_completions, read_completions};
}

} // namespace flipscope::answers
