// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/assemble.h"

#include "core/base/hash.h"
#include "core/formats/answers/lists_in_memory.h"
#include "core/formats/answers/synthetic_ids.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>

namespace flipscope::answers {

namespace {

constexpr std::int64_t most_tokens = 1 << 24;
constexpr std::uint64_t most_entries = 1ull << 27;
constexpr float no_value = std::numeric_limits<float>::quiet_NaN();

/// One row at its place.
struct Placed {
    std::int64_t position;
    const Rows* rows;
    std::size_t row;
};

/// The best list of one row: each id once, with the token taken where the list lacks it.
std::vector<std::pair<float, std::int32_t>> list_of(const Rows& rows, std::size_t row)
{
    std::vector<std::pair<float, std::int32_t>> list;
    if (rows.lossy[row] != 0)
        return list;
    for (std::size_t e = rows.first[row]; e < rows.first[row + 1]; ++e)
        if (rows.entries[e].has_value && rows.entries[e].id >= 0)
            list.emplace_back(rows.entries[e].logprob, rows.entries[e].id);
    if (list.empty()) // the taken token alone: nobody knows whether it is the best
        return list;
    if (const Entry& taken = rows.chosen[row]; taken.has_value && taken.id >= 0)
        list.emplace_back(taken.logprob, taken.id);
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second < b.second : a.first > b.first;
    });
    list.erase(std::unique(list.begin(), list.end(), [](auto& a, auto& b) { return a.second == b.second; }),
               list.end());
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    return list;
}

class Assembly {
public:
    Assembly(AnswerFile& file, const std::filesystem::path& path, const std::shared_ptr<const Vocabulary>& vocabulary)
        : file_(file), path_(path), vocabulary_(vocabulary)
    {
    }

    Result<Trace> run(const ParseNotes& notes, const IdSources& ids)
    {
        main_ = main_answer();
        if (main_->n_prompt > most_tokens ||
            static_cast<std::int64_t>(main_->generated.size()) > most_tokens - std::max<std::int64_t>(0, n_prompt()))
            return fail(ErrorKind::BadFormat, "states a prompt of {} tokens, more than any context holds",
                        main_->n_prompt);
        if (auto ok = check_prompts(); !ok)
            return tl::unexpected(ok.error());
        state_run();
        const bool walk = std::any_of(file_.answers.begin(), file_.answers.end(),
                                      [&](const Answer& a) { return a.n_prompt != main_->n_prompt; });
        place_rows(walk);
        fill_history();
        if (auto ok = fill_probes(walk); !ok)
            return tl::unexpected(ok.error());
        if (auto ok = fill_generations(); !ok)
            return tl::unexpected(ok.error());
        fill_vocabulary();
        note_lists();
        note_answers(file_, notes, ids, trace_);
        if (ids.made_up > 0)
            trace_.run.emplace_back("token_ids", "made up from texts");
        std::sort(trace_.run.begin(), trace_.run.end());
        return std::move(trace_);
    }

private:
    /// The one with the longest prompt; of equals the first.
    const Answer* main_answer() const
    {
        const Answer* best = &file_.answers.front();
        for (const Answer& a : file_.answers)
            if (a.n_prompt > best->n_prompt)
                best = &a;
        return best;
    }

    std::int64_t n_prompt() const { return n_prompt_of(*main_); }
    /// Where nobody says how long the prompt is, one place stands for all of it.
    static std::int64_t n_prompt_of(const Answer& a) { return a.n_prompt < 0 ? 1 : a.n_prompt; }

    static std::string_view without_cut(std::string_view text) // a cut character comes as U+FFFD
    {
        while (text.ends_with("\xef\xbf\xbd"))
            text.remove_suffix(3);
        return text;
    }

    /// All prompts must begin the longest one: a trace is about one history.
    Result<void> check_prompts() const
    {
        std::size_t number = 0;
        for (const Answer& a : file_.answers) {
            ++number;
            bool same = true;
            if (a.prompt_ids_known && main_->prompt_ids_known)
                same = a.prompt_ids.size() <= main_->prompt_ids.size() &&
                       std::equal(a.prompt_ids.begin(), a.prompt_ids.end(), main_->prompt_ids.begin());
            else if (!a.prompt_text.empty() && !main_->prompt_text.empty())
                same = std::string_view(main_->prompt_text).starts_with(without_cut(a.prompt_text));
            if (!same)
                return fail(ErrorKind::Unsupported,
                            "holds answers to different prompts (answer {} begins unlike the longest one), and a trace "
                            "follows one history: save them in files of their own",
                            number);
        }
        return {};
    }

    void state_run()
    {
        trace_.path = path_;
        trace_.run_name = path_.stem().string();
        trace_.format = fmt::format("{} answer{}", file_.dialect,
                                    file_.answers.size() == 1 ? "" : fmt::format("s ({})", file_.answers.size()));
        trace_.created = file_.created;
        for (const auto& [key, value] : file_.settings)
            trace_.run.emplace_back(key, value);
        if (!main_->sampler.empty())
            trace_.run.emplace_back("sampler", main_->sampler);
        if (!main_->prompt_text.empty()) {
            Hasher hash;
            hash.add(main_->prompt_text);
            trace_.run.emplace_back("prompt_text_xxh128", hash.hex());
        }
    }

    void place_rows(bool walk)
    {
        const Answer& a = *main_;
        for (std::size_t i = 0; i < a.prompt.size(); ++i) {
            const std::int64_t position = a.prompt_from + static_cast<std::int64_t>(i) - 1;
            if (position >= 0 && position < n_prompt() - 1)
                probes_.push_back({position, &a.prompt, i});
        }
        from_prompt_ = !probes_.empty();
        for (std::size_t j = 0; j < a.generated.size(); ++j) {
            const std::int64_t position = n_prompt() - 1 + static_cast<std::int64_t>(j);
            if (position < 0)
                continue;
            // What follows the prompt's last token is the prompt's own prefill.
            auto& where = (from_prompt_ || walk) && j > 0 ? dense_ : probes_;
            where.push_back({position, &a.generated, j});
        }
        for (const Answer& other : file_.answers)
            if (walk && &other != main_ && other.generated.size() > 0 && n_prompt_of(other) > 0)
                probes_.push_back({n_prompt_of(other) - 1, &other.generated, 0});
        const auto earlier = [](const Placed& x, const Placed& y) { return x.position < y.position; };
        const auto equal = [](const Placed& x, const Placed& y) { return x.position == y.position; };
        std::stable_sort(probes_.begin(), probes_.end(), earlier);
        const auto same = std::unique(probes_.begin(), probes_.end(), equal);
        repeated_ = probes_.end() - same;
        probes_.erase(same, probes_.end());
    }

    void fill_history()
    {
        const Answer& a = *main_;
        auto& ids = trace_.tokens.ids;
        ids.assign(static_cast<std::size_t>(n_prompt()), -1);
        std::vector<std::string_view> text(ids.size());
        if (a.prompt_ids_known)
            std::copy(a.prompt_ids.begin(), a.prompt_ids.end(), ids.begin());
        for (std::size_t i = 0; i < a.prompt.size(); ++i) {
            const auto at = static_cast<std::size_t>(a.prompt_from) + i;
            if (at >= ids.size())
                break;
            const Entry& e = a.prompt.chosen[i];
            if (ids[at] < 0)
                ids[at] = e.id;
            if (e.has_text)
                text[at] = a.prompt.text_of(e);
        }
        for (std::size_t j = 0; j < a.generated.size(); ++j) {
            const Entry& e = a.generated.chosen[j];
            ids.push_back(e.id);
            text.push_back(e.has_text ? a.generated.text_of(e) : std::string_view());
        }
        if (a.generated.size() > 0) {
            trace_.generated_from = n_prompt();
            trace_.spans.push_back({n_prompt(), static_cast<std::int64_t>(ids.size()), "assistant", ""});
        }
        learn_known_texts();
        for (std::size_t i = 0; i < ids.size(); ++i)
            if (const auto known = texts_.find(ids[i]); text[i].empty() && known != texts_.end())
                text[i] = known->second;
        if (std::any_of(text.begin(), text.end(), [](std::string_view t) { return !t.empty(); }))
            trace_.tokens.text = strings_of(text);
    }

    static ByteStrings strings_of(const std::vector<std::string_view>& texts)
    {
        ByteStrings strings;
        strings.offsets.push_back(0);
        for (const std::string_view text : texts) {
            strings.bytes += text;
            strings.offsets.push_back(strings.bytes.size());
        }
        return strings;
    }

    void learn_known_texts()
    {
        for (const Answer& a : file_.answers)
            for (const Rows* rows : {&a.prompt, &a.generated})
                for (const auto* entries : {&rows->chosen, &rows->entries})
                    for (const Entry& e : *entries)
                        if (e.id >= 0 && e.has_text)
                            texts_.try_emplace(e.id, rows->text_of(e));
    }

    Result<ProbeSet> set_of(const std::vector<Placed>& placed)
    {
        ProbeSet set;
        set.kind = ProbeSet::Kind::TopK;
        std::vector<std::vector<std::pair<float, std::int32_t>>> lists;
        for (const Placed& p : placed) {
            lists.push_back(list_of(*p.rows, p.row));
            if (lists.back().empty()) {
                lists.pop_back();
                ++(p.rows->lossy[p.row] != 0 ? lossy_ : without_list_);
                continue;
            }
            set.positions.push_back(p.position);
            set.k = std::max(set.k, static_cast<std::int64_t>(lists.back().size()));
            const auto& taken = p.rows->chosen[p.row];
            bool listed = !taken.has_value || taken.id < 0;
            for (std::size_t e = p.rows->first[p.row]; e < p.rows->first[p.row + 1]; ++e)
                listed = listed || p.rows->entries[e].id == taken.id;
            outside_ += listed || p.rows == &main_->prompt ? 0 : 1;
        }
        if (static_cast<std::uint64_t>(set.k) * lists.size() > most_entries)
            return fail(ErrorKind::Unsupported,
                        "holds lists of up to {} entries at {} positions, more than is read at "
                        "once; ask for fewer entries a token",
                        set.k, lists.size());
        std::vector<std::int32_t> ids(static_cast<std::size_t>(set.k) * lists.size(), -1);
        std::vector<float> logprobs(ids.size(), no_value);
        for (std::size_t i = 0; i < lists.size(); ++i)
            for (std::size_t j = 0; j < lists[i].size(); ++j) {
                ids[i * static_cast<std::size_t>(set.k) + j] = lists[i][j].second;
                logprobs[i * static_cast<std::size_t>(set.k) + j] = lists[i][j].first;
            }
        for (const auto& list : lists)
            shortest_ = std::min(shortest_, list.size());
        if (!lists.empty())
            set.lists = lists_in_memory(set.k, std::move(ids), std::move(logprobs));
        set.values = main_->values;
        set.temperature = main_->temperature;
        return set;
    }

    Result<void> fill_probes(bool walk)
    {
        auto probes = set_of(probes_);
        if (!probes)
            return tl::unexpected(probes.error());
        trace_.probes = std::move(*probes);
        trace_.probes.scoring = from_prompt_ ? "prefill" : walk ? "" : "decode";
        if (dense_.empty())
            return {};
        auto dense = set_of(dense_);
        if (!dense)
            return tl::unexpected(dense.error());
        dense->name = "generated";
        dense->scoring = "decode";
        if (dense->size() > 0)
            trace_.dense.push_back(std::move(*dense));
        return {};
    }

    Result<void> fill_generations()
    {
        std::size_t number = 0;
        for (const Answer& a : file_.answers) {
            Generation g;
            g.group = fmt::format("{}", number++);
            g.prefix_tokens = n_prompt_of(a);
            g.sampler = a.sampler;
            g.finish_reason = a.finish_reason;
            g.parsed_tool_calls = tool_calls_json(a);
            if (a.generated.size() > 0)
                fill_from_rows(a, g);
            else if (!a.token_ids.empty())
                g.ids = a.token_ids;
            else if (!a.content.empty()) {
                const auto id = made_up_id(a.content);
                if (!id)
                    return fail(ErrorKind::Unsupported, "names more different texts than can be kept apart");
                g.ids = {*id};
                g.text = strings_of({a.content});
                ++text_only_;
            }
            if (!g.ids.empty() || !g.parsed_tool_calls.empty())
                trace_.generations.push_back(std::move(g));
        }
        return {};
    }

    void fill_from_rows(const Answer& a, Generation& g)
    {
        std::vector<std::string_view> text;
        std::vector<std::vector<std::pair<float, std::int32_t>>> lists;
        for (std::size_t j = 0; j < a.generated.size(); ++j) {
            const Entry& e = a.generated.chosen[j];
            g.ids.push_back(e.id);
            text.push_back(e.has_text ? a.generated.text_of(e) : std::string_view());
            lists.push_back(list_of(a.generated, j));
            g.k = std::max(g.k, static_cast<std::int64_t>(lists.back().size()));
        }
        g.text = strings_of(text);
        const auto k = static_cast<std::size_t>(g.k);
        if (k == 0 || k * lists.size() > most_entries)
            return;
        g.top_ids.assign(k * lists.size(), -1);
        g.top_logprobs.assign(k * lists.size(), no_value);
        for (std::size_t i = 0; i < lists.size(); ++i)
            for (std::size_t j = 0; j < lists[i].size(); ++j) {
                g.top_ids[i * k + j] = lists[i][j].second;
                g.top_logprobs[i * k + j] = lists[i][j].first;
            }
    }

    /// Texts of ids met in lists; ids in between have none.
    void fill_vocabulary()
    {
        if (vocabulary_) {
            trace_.vocabulary = vocabulary_;
            return;
        }
        std::int32_t largest = -1;
        for (const auto& [id, text] : texts_)
            largest = std::max(largest, id);
        if (largest < 0)
            return;
        std::vector<std::string_view> texts(static_cast<std::size_t>(largest) + 1);
        for (const auto& [id, text] : texts_)
            texts[static_cast<std::size_t>(id)] = text;
        auto vocabulary = std::make_shared<Vocabulary>();
        vocabulary->text = strings_of(texts);
        trace_.vocabulary = std::move(vocabulary);
    }

    void note_lists()
    {
        const auto note = [&](Finding::Level level, const char* code, std::string text) {
            trace_.findings.push_back({level, code, std::move(text)});
        };
        const auto& set = trace_.probes;
        if (set.size() > 0 && (main_->asked_k > set.k || static_cast<std::int64_t>(shortest_) < set.k))
            note(Finding::Level::Note, "effective-k",
                 fmt::format("The lists hold {} to {} tokens with a value{}.", shortest_, set.k,
                             main_->asked_k > 0 ? fmt::format(", where {} were asked for", main_->asked_k) : ""));
        if (without_list_ > 0 && set.size() > 0)
            note(Finding::Level::Note, "no-lists",
                 fmt::format("{} position{} without a list of the likeliest tokens {} left out.", without_list_,
                             without_list_ == 1 ? "" : "s", without_list_ == 1 ? "is" : "are"));
        if (outside_ > 0)
            note(Finding::Level::Note, "taken-outside",
                 fmt::format("At {} position{} the token taken is not among the likeliest listed: a grammar, a sampler "
                             "or a forced history chose it.",
                             outside_, outside_ == 1 ? "" : "s"));
        if (set.size() == 0)
            note(Finding::Level::Warning, "no-logprobs",
                 "The answer has no lists of likely tokens, so nothing can be computed from it: ask the server for log "
                 "probabilities (logprobs and top_logprobs, or n_probs).");
        else if (!from_prompt_ && scored_generated_only())
            note(Finding::Level::Note, "generated-only",
                 "Only generated tokens have log probabilities, none of the prompt's: two answers can be compared up "
                 "to where they part.");
        if (text_only_ > 0)
            note(Finding::Level::Note, "text-only",
                 "The answer comes as text without its tokens: the text can be read, but not compared token by token.");
        if (repeated_ > 0)
            note(Finding::Level::Note, "repeated-positions",
                 fmt::format("{} answer{} another's position {} left out.", repeated_, repeated_ == 1 ? " at" : "s at",
                             repeated_ == 1 ? "is" : "are"));
    }

    bool scored_generated_only() const
    {
        return std::all_of(file_.answers.begin(), file_.answers.end(),
                           [&](const Answer& a) { return a.n_prompt == main_->n_prompt; });
    }

    AnswerFile& file_;
    const std::filesystem::path& path_;
    std::shared_ptr<const Vocabulary> vocabulary_;
    const Answer* main_ = nullptr;
    Trace trace_;
    std::vector<Placed> probes_, dense_;
    std::unordered_map<std::int32_t, std::string_view> texts_;
    bool from_prompt_ = false;
    std::int64_t without_list_ = 0, lossy_ = 0, outside_ = 0, text_only_ = 0, repeated_ = 0;
    std::size_t shortest_ = std::numeric_limits<std::size_t>::max();
};

} // namespace

Result<Trace> assemble(AnswerFile& file, const ParseNotes& notes, const std::filesystem::path& path,
                       const std::shared_ptr<const Vocabulary>& vocabulary)
{
    if (file.answers.empty())
        return fail(ErrorKind::BadFormat, "holds no answer");
    const auto ids = resolve_ids(file, vocabulary.get(), path);
    if (!ids)
        return tl::unexpected(ids.error());
    if (auto ok = check_values(file); !ok)
        return tl::unexpected(ok.error());
    return Assembly(file, path, vocabulary).run(notes, *ids);
}

} // namespace flipscope::answers
