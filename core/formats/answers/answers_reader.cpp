// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/answers_reader.h"

#include "core/base/hash.h"
#include "core/formats/answers/assemble.h"
#include "core/formats/finish.h"
#include "core/formats/token_file.h"
#include "core/trace/content_key.h"
#include "core/trace/hdf5.h"

#include <algorithm>
#include <fstream>
#include <span>
#include <vector>

namespace flipscope {

namespace answers {

namespace {

/// A pair of request and answer as logs and batch files keep them; the request knows the prompt's ids.
struct Unwrapped {
    Json answer, request;
};

Unwrapped unwrap(Json record)
{
    Unwrapped u{record, {}};
    if (!record["response"].is_object())
        return u;
    u.answer = record["response"]["body"].is_object() ? record["response"]["body"] : record["response"];
    u.request = record["request"]["body"].is_object() ? record["request"]["body"] : record["request"];
    return u;
}

void read_request(Json request, Answer& answer)
{
    for (const std::string_view key : {"prompt", "input_ids"})
        if (!answer.prompt_ids_known && request[key].size() > 0 && read_ids(request[key], answer.prompt_ids)) {
            answer.prompt_ids_known = true;
            answer.n_prompt = static_cast<std::int64_t>(answer.prompt_ids.size());
        }
    for (const std::string_view key : {"n_probs", "top_logprobs", "top_logprobs_num", "logprobs"})
        if (const auto k = request[key].integer(); k && *k > 0 && answer.asked_k < 0)
            answer.asked_k = *k;
}

/// Words of a server on one line.
std::string quoted(std::string_view text)
{
    return h5::one_line(std::string(text.substr(0, 200)), 200);
}

/// Why a record of no known dialect cannot be opened.
tl::unexpected<Error> refusal(Json record)
{
    if (!record.is_object())
        return fail(ErrorKind::BadFormat, "is JSON, but no answer of a model server");
    const Json error = record["error"];
    if (error.is_object() || error.is_string() || (record["detail"].is_string() && record.size() == 1)) {
        const std::string_view message = error.is_object()   ? error["message"].string()
                                         : error.is_string() ? error.string()
                                                             : record["detail"].string();
        std::string words = quoted(message);
        while (words.ends_with('.'))
            words.pop_back();
        return fail(ErrorKind::BadFormat, "is a server's error message, not an answer (\"{}\")", words);
    }
    if (record.has("messages") || record.has("prompt") || record.has("input_ids")) {
        if (record.has("model") || record.has("max_tokens") || record.has("n_predict") || record.has("messages") ||
            record.has("sampling_params"))
            return fail(ErrorKind::BadFormat, "is a request to a server: open the answer to it");
        return fail(ErrorKind::BadFormat, "holds the text of a prompt, without log probabilities");
    }
    if (record.has("tokens") || record.has("token_strs"))
        return fail(ErrorKind::BadFormat,
                    "holds the tokens of a text, as a server's /tokenize gives them, without log probabilities");
    std::string keys;
    std::size_t n = 0;
    for (const auto& [key, value] : record.members())
        if (n++ < 6)
            keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", h5::one_line(std::string(key), 30));
    return fail(ErrorKind::BadFormat,
                "is JSON, but no answer of a model server with log probabilities (it has {}); what can be opened is "
                "the answer of OpenAI-like endpoints, vLLM, llama-server, SGLang or Ollama",
                keys.empty() ? "no members" : keys);
}

/// Takes records one by one.
class Collecting {
public:
    Result<void> operator()(Json record, const RecordInfo& info)
    {
        const auto [answer, request] = unwrap(record);
        const Dialect* dialect = nullptr;
        for (const Dialect& d : dialects())
            if (d.recognises(answer)) {
                dialect = &d;
                break;
            }
        if (dialect == nullptr) {
            if (file_.answers.empty() || answer.has("error"))
                return other(answer);
            return {}; // a stream's other events
        }
        if (file_.dialect.empty())
            file_.dialect = dialect->key;
        else if (file_.dialect != dialect->key)
            return fail(ErrorKind::BadFormat,
                        "holds answers of different kinds ({} and {}): save them in files of "
                        "their own",
                        file_.dialect, dialect->key);
        const std::size_t before = file_.answers.size();
        if (auto ok = dialect->read(answer, info, file_); !ok)
            return ok;
        for (std::size_t i = before; i < file_.answers.size() && request.is_object(); ++i)
            read_request(request, file_.answers[i]);
        return {};
    }

    AnswerFile& file() { return file_; }
    /// Where no record was an answer.
    Result<void> verdict() const
    {
        if (!file_.answers.empty())
            return {};
        return refused_ ? tl::unexpected(*refused_) : fail(ErrorKind::BadFormat, "holds no answer of a model server");
    }

private:
    Result<void> other(Json answer)
    {
        auto why = refusal(answer);
        if (!file_.answers.empty()) { // the stream broke off with an error
            file_.settings["error"] = why.value().message;
            return {};
        }
        if (!refused_)
            refused_ = why.value();
        return {};
    }

    AnswerFile file_;
    std::optional<Error> refused_;
};

/// Lists are in memory, so the key of the content must hold them too.
Result<std::string> hash_of_lists(const Trace& trace)
{
    Hasher hash;
    std::vector<const ProbeSet*> sets = {&trace.probes};
    for (const auto& set : trace.dense)
        sets.push_back(&set);
    for (const ProbeSet* set : sets) {
        if (!set->lists)
            continue;
        std::vector<std::int32_t> ids(static_cast<std::size_t>(set->lists->rows() * set->k));
        std::vector<float> logprobs(ids.size());
        if (auto ok = set->lists->read(0, set->lists->rows(), ids, logprobs); !ok)
            return tl::unexpected(ok.error());
        hash.add(std::as_bytes(std::span(ids)));
        hash.add(std::as_bytes(std::span(logprobs)));
    }
    return hash.hex();
}

} // namespace

namespace {

/// Ids of prompts that the answers do not state; where they do, the two must agree.
Result<void> lend_prompt(AnswerFile& file, const AnswerHints& hints)
{
    if (hints.prompt.empty())
        return {};
    for (Answer& a : file.answers) {
        const std::size_t n = a.n_prompt < 0 ? hints.prompt.size() : static_cast<std::size_t>(a.n_prompt);
        if (n > hints.prompt.size())
            return fail(ErrorKind::Usage, "answers a prompt of {} tokens, of which {} holds only {}", n, hints.named,
                        hints.prompt.size());
        const auto end = hints.prompt.begin() + static_cast<std::ptrdiff_t>(n);
        if (a.prompt_ids_known) {
            const auto other = std::mismatch(hints.prompt.begin(), end, a.prompt_ids.begin(), a.prompt_ids.end());
            if (other.first != end && other.second != a.prompt_ids.end())
                return fail(ErrorKind::Usage, "states token {} at position {} of its prompt, where {} has {}",
                            *other.second, other.second - a.prompt_ids.begin(), hints.named, *other.first);
            continue;
        }
        a.prompt_ids.assign(hints.prompt.begin(), end);
        a.prompt_ids_known = true;
        a.n_prompt = static_cast<std::int64_t>(n);
    }
    return {};
}

/// The size of the vocabulary, where a person or the vocabulary itself tells it.
Result<void> state_vocabulary(Trace& trace, std::int64_t n_vocab)
{
    std::int32_t largest = -1;
    std::vector<ProbeSet*> sets = {&trace.probes};
    for (ProbeSet& set : trace.dense)
        sets.push_back(&set);
    for (ProbeSet* set : sets) {
        if (!set->lists)
            continue;
        std::vector<std::int32_t> ids(static_cast<std::size_t>(set->lists->rows() * set->k));
        std::vector<float> logprobs(ids.size());
        if (auto ok = set->lists->read(0, set->lists->rows(), ids, logprobs); !ok)
            return ok;
        for (const std::int32_t id : ids)
            largest = id < first_made_up_id ? std::max(largest, id) : largest;
        set->n_vocab = n_vocab;
    }
    if (largest >= n_vocab)
        return fail(ErrorKind::Usage, "lists token {}, which a vocabulary of {} ids does not have", largest, n_vocab);
    return {};
}

} // namespace

Result<TracePtr> read_answers(std::istream& in, const std::filesystem::path& path, const AnswerHints& hints,
                              const Job& job)
{
    const auto named = [&](const Error& error) {
        if (error.kind == ErrorKind::Cancelled)
            return tl::unexpected(error);
        return fail(error.kind, "{} {}.", h5::one_line(path.string()), h5::one_line(error.message, 600));
    };
    Collecting collecting;
    const auto notes = for_each_record(
        in, [&](Json record, const RecordInfo& info) { return collecting(record, info); }, job);
    if (!notes)
        return named(notes.error());
    if (auto ok = collecting.verdict(); !ok)
        return named(ok.error());
    if (auto ok = lend_prompt(collecting.file(), hints); !ok)
        return named(ok.error());
    auto trace = assemble(collecting.file(), *notes, path, hints.vocabulary);
    if (!trace)
        return named(trace.error());
    if (hints.n_vocab > 0)
        if (auto ok = state_vocabulary(*trace, hints.n_vocab); !ok)
            return named(ok.error());
    const auto lists = hash_of_lists(*trace);
    if (!lists)
        return named(lists.error());
    trace->content_key = content_key_of(*trace, *lists);
    return std::make_shared<const Trace>(std::move(*trace));
}

} // namespace answers

namespace {

bool recognises_answers(const std::filesystem::path&, std::string_view head)
{
    return answers::looks_like_records(head);
}

Result<TracePtr> open_answers(const TraceFile& file, const OpenHints& hints, const Job& job)
{
    answers::AnswerHints known;
    if (!hints.tokens.empty()) {
        auto history = formats::read_history(hints.tokens, job);
        if (!history)
            return tl::unexpected(history.error());
        known.vocabulary = std::move(history->vocabulary);
        known.prompt = std::move(history->tokens.ids);
        known.named = h5::one_line(hints.tokens.string());
        if (std::ranges::find(known.prompt, unknown_id) != known.prompt.end())
            known.prompt.clear(); // it does not know them either
    }
    known.n_vocab = hints.vocabulary.value_or(0);

    std::ifstream in(file.content, std::ios::binary);
    if (!in)
        return fail(ErrorKind::Unreadable, "{} cannot be opened: permission denied or unreadable.",
                    h5::one_line(file.path.string()));
    auto trace = answers::read_answers(in, file.path, known, job);
    if (!trace)
        return trace;
    const std::string seen = (*trace)->content_key; // over the lists, which are in memory
    return formats::finish(std::make_shared<Trace>(**trace), file, hints, seen);
}

} // namespace

TraceReader answers_reader()
{
    return {"Answers of model servers (JSON, JSONL, event streams)", recognises_answers, open_answers};
}

} // namespace flipscope
