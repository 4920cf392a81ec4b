// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/assemble.h"
#include "core/formats/answers/synthetic_ids.h"

#include <fmt/format.h>
#include <string>
#include <unordered_map>

namespace flipscope::answers {

namespace {

using TextIds = std::unordered_map<std::string_view, std::int32_t>; ///< -1 = several ids have that text

void learn(TextIds& ids, std::string_view text, std::int32_t id)
{
    if (text.empty())
        return;
    const auto [at, is_new] = ids.try_emplace(text, id);
    if (!is_new && at->second != id)
        at->second = -1;
}

std::optional<std::int32_t> found(const TextIds& ids, std::string_view text)
{
    const auto at = ids.find(text);
    return at == ids.end() || at->second < 0 ? std::nullopt : std::optional(at->second);
}

class Resolving {
public:
    Resolving(AnswerFile& file, const Vocabulary* vocabulary, const std::filesystem::path& path)
        : file_(file), path_(path.string())
    {
        if (vocabulary != nullptr)
            for (std::size_t i = 0; i < vocabulary->text.size(); ++i)
                learn(vocabulary_, vocabulary->text[i], static_cast<std::int32_t>(i));
    }

    Result<IdSources> all()
    {
        for (Answer& a : file_.answers) {
            attach_token_ids(a);
            attach_prompt_ids(a);
        }
        for (const Answer& a : file_.answers)
            for (const Rows* rows : {&a.prompt, &a.generated}) {
                for (const Entry& e : rows->chosen)
                    learn_from(*rows, e);
                for (const Entry& e : rows->entries)
                    learn_from(*rows, e);
            }
        for (Answer& a : file_.answers)
            for (Rows* rows : {&a.prompt, &a.generated})
                if (auto ok = resolve(*rows); !ok)
                    return tl::unexpected(ok.error());
        return sources_;
    }

private:
    void learn_from(const Rows& rows, const Entry& e)
    {
        if (e.id >= 0 && e.has_text)
            learn(in_file_, rows.text_of(e), e.id);
    }

    /// Ids that stand beside the rows; only where there is one for each.
    void attach_token_ids(Answer& a)
    {
        if (a.token_ids.size() != a.generated.size())
            return;
        for (std::size_t i = 0; i < a.token_ids.size(); ++i) {
            Entry& taken = a.generated.chosen[i];
            if (taken.id >= 0 && taken.id != a.token_ids[i]) {
                ++file_.contradictions;
                a.generated.lossy[i] = 1;
            }
            taken.id = a.token_ids[i];
            // The same token in its list: by its value and its text.
            for (std::size_t e = a.generated.first[i]; e < a.generated.first[i + 1]; ++e) {
                Entry& other = a.generated.entries[e];
                if (other.id < 0 && other.has_value && taken.has_value && other.logprob == taken.logprob &&
                    other.has_text && taken.has_text && a.generated.text_of(other) == a.generated.text_of(taken))
                    other.id = taken.id;
            }
        }
    }

    static void attach_prompt_ids(Answer& a)
    {
        if (!a.prompt_ids_known)
            return;
        for (std::size_t i = 0; i < a.prompt.size(); ++i) {
            const auto at = static_cast<std::size_t>(a.prompt_from) + i;
            if (a.prompt.chosen[i].id < 0 && at < a.prompt_ids.size())
                a.prompt.chosen[i].id = a.prompt_ids[at];
        }
    }

    Result<void> resolve(Rows& rows)
    {
        for (Entry& e : rows.chosen)
            if (auto ok = resolve(rows, e, true); !ok)
                return ok;
        for (Entry& e : rows.entries)
            if (auto ok = resolve(rows, e, false); !ok)
                return ok;
        return {};
    }

    Result<void> resolve(const Rows& rows, Entry& e, bool taken)
    {
        if (e.id >= 0) {
            ++sources_.stated;
            return {};
        }
        if (!e.has_text) {
            if (!e.bytes_lost) // nobody named it
                return {};
            ++sources_.lost;
            if (!taken)
                return {};
            // A place in the history needs an id; this one meets no other token's.
            return make_up(e, fmt::format("{}bytes lost {} {}", '\0', path_, sources_.lost));
        }
        const std::string_view text = rows.text_of(e);
        if (const auto id = found(vocabulary_, text)) {
            ++sources_.from_vocabulary;
            e.id = *id;
            return {};
        }
        if (const auto id = found(in_file_, text)) {
            ++sources_.from_file;
            e.id = *id;
            return {};
        }
        ++sources_.made_up;
        return make_up(e, text);
    }

    static Result<void> make_up(Entry& e, std::string_view text)
    {
        const auto id = made_up_id(text);
        if (!id)
            return fail(ErrorKind::Unsupported, "names more different texts without an id than can be kept apart; "
                                                "save the answers with ids (vLLM: return_tokens_as_token_ids)");
        e.id = *id;
        return {};
    }

    AnswerFile& file_;
    std::string path_;
    TextIds vocabulary_, in_file_;
    IdSources sources_;
};

} // namespace

Result<IdSources> resolve_ids(AnswerFile& file, const Vocabulary* vocabulary, const std::filesystem::path& path)
{
    return Resolving(file, vocabulary, path).all();
}

} // namespace flipscope::answers
