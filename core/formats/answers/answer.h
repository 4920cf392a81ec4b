// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/formats/answers/parse.h"
#include "core/formats/answers/tape.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What servers answer, in one shape whatever the dialect: `read_…` fills it, assemble.h makes a trace of it.
namespace flipscope::answers {

/// Ids from here on are made up for texts whose id nobody states; real vocabularies are far smaller.
inline constexpr std::int32_t first_made_up_id = 1 << 20;

/// A token as an answer names it, and its log probability.
struct Entry {
    std::int32_t id = -1;        ///< -1 = not stated
    std::uint32_t text_size = 0; ///< bytes at text_at in Rows::text
    std::uint64_t text_at = 0;
    float logprob = 0;       ///< nats
    bool has_value = false;  ///< false: null, NaN, -inf, or one of the numbers that stand for it
    bool has_text = false;   ///< the text is known (it may be empty only for special tokens: then it is not)
    bool bytes_lost = false; ///< the text holds U+FFFD in place of the true bytes: never matched by text
};

/// Next-token distributions, one a row, each with the token that was taken.
struct Rows {
    std::vector<Entry> chosen;
    std::vector<Entry> entries;
    std::vector<std::size_t> first = {0}; ///< entries of row i: [first[i], first[i + 1])
    std::vector<std::uint8_t> lossy;      ///< the list is known to be wrong or incomplete: not computed with
    std::string text;

    std::size_t size() const { return chosen.size(); }
    std::string_view text_of(const Entry& e) const { return std::string_view(text).substr(e.text_at, e.text_size); }
    void set_text(Entry& e, std::string_view bytes);
    void add_row(const Entry& taken); ///< further entries belong to it
    void add_entry(const Entry& e);   ///< to the row added last
    void clear() { *this = Rows(); }
    void append(const Rows& other);
};

/// One choice of one answer, put together from all pieces of a stream.
struct Answer {
    std::string key; ///< of the answer within its file
    std::vector<std::int32_t> prompt_ids;
    bool prompt_ids_known = false;
    std::int64_t n_prompt = -1; ///< tokens of the prompt; -1 = not stated
    std::string prompt_text;
    Rows prompt;                  ///< row i answers what comes at prompt position i (row 0: nothing stands before it)
    std::int64_t prompt_from = 0; ///< prompt position of the first row of `prompt`
    Rows generated;               ///< row j answers what was generated j-th
    std::vector<std::int32_t> token_ids; ///< of what was generated, where stated apart from the rows
    std::string content;                 ///< text as the server gives it
    std::map<std::int64_t, std::pair<std::string, std::string>> tool_calls; ///< name and arguments, by index
    std::string finish_reason, sampler;
    std::string values;                ///< raw / processed; empty = the answer does not show it
    std::optional<double> temperature; ///< of the values
    std::int64_t asked_k = -1;         ///< entries asked for a token; -1 = not stated
    bool complete = false;             ///< its stream has ended
};

/// Everything one file says.
struct AnswerFile {
    std::deque<Answer> answers; ///< in the order of the file; references stay valid
    std::string dialect;        ///< "OpenAI chat", for a person
    std::string dialect_key;    ///< of the reader that took the first record
    std::string created;
    std::map<std::string, std::string> settings;   ///< for /run
    std::map<std::string, std::int64_t> no_values; ///< how often each form of "no value" was met
    std::int64_t contradictions = 0;               ///< tokens whose value differs between two fields
    std::int64_t collapsed = 0;     ///< positions whose lists are shorter since equal texts fell together
    std::int64_t placeholders = 0;  ///< texts "token_id:N"
    std::int64_t missing_rows = 0;  ///< positions without a list
    std::int64_t shifted_rows = 0;  ///< rows that had to be moved by one to fit their tokens
    std::int64_t probabilities = 0; ///< values given as probabilities

    /// The answer of that key, made if it is new.
    Answer& answer(const std::string& key);
};

/// One way in which servers answer. Adding one is a new .cpp file and a line in dialects().
struct Dialect {
    std::string key;
    bool (*recognises)(Json record);
    Result<void> (*read)(Json record, const RecordInfo& info, AnswerFile& file);
};

Dialect openai_chat(); ///< choices[].logprobs.content[], message or delta; also vLLM's and llama.cpp's
Dialect
openai_completions();   ///< choices[].text with tokens[], token_logprobs[], top_logprobs[]; vLLM's prompt_logprobs
Dialect llama_server(); ///< /completion: completion_probabilities[]
Dialect sglang();       ///< /generate: meta_info.*_token_logprobs
Dialect ollama();       ///< /api/generate and /api/chat: logprobs[]
const std::vector<Dialect>& dialects();

// --- pieces that dialects share ---

/// A log probability. Every form of "no value" (null, NaN, an infinity, -9999, -1000, -100) leaves `has_value` false
/// and is counted.
void set_value(Entry& e, Json value, AnswerFile& file);
/// The same for a probability.
void set_probability(Entry& e, Json value, AnswerFile& file);

/// Text, bytes and id of a token from what an answer says: `token_id:N` gives the id, true bytes win over text, escaped
/// bytes (`\xf0\x9f`) are undone, and U+FFFD means that bytes are lost.
void set_token(Rows& rows, Entry& e, std::string_view token, Json bytes, AnswerFile& file);

/// "token_id:1234" → 1234.
std::optional<std::int32_t> placeholder_id(std::string_view token);
/// An id that a vocabulary may have; nothing else is taken for one.
std::optional<std::int32_t> id_of(Json value);

/// Rows of a list [{token, bytes, id?, logprob, top_logprobs: [{…}]}] as OpenAI's chat, llama.cpp and Ollama have it;
/// also llama.cpp's {prob, top_probs}.
Result<void> add_content_rows(Json content, Rows& rows, AnswerFile& file);

/// An array of ids; false where it is none.
bool read_ids(Json array, std::vector<std::int32_t>& out);

/// vLLM's prompt_logprobs: a list per prompt position of {id: {logprob, rank, decoded_token}}.
Result<void> read_prompt_logprobs(Json list, Answer& answer, AnswerFile& file);
/// Fields that vLLM adds to a record or to a choice: prompt_token_ids, prompt_logprobs, token_ids.
Result<void> read_vllm_fields(Json object, Answer& answer, AnswerFile& file);

/// usage.prompt_tokens, model, system_fingerprint, timings … of an answer of an OpenAI-like endpoint.
void read_openai_envelope(Json record, AnswerFile& file);
/// llama.cpp's generation_settings: sampler, temperature, n_probs.
void read_generation_settings(Json settings, Answer& answer, AnswerFile& file);
/// message.tool_calls or pieces of them in delta.tool_calls.
void read_tool_calls(Json calls, Answer& answer);
/// The calls as JSON, as the server parsed them; empty where there are none.
std::string tool_calls_json(const Answer& answer);

} // namespace flipscope::answers
