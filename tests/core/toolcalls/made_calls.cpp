// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "made_calls.h"

#include <limits>

namespace made {

using namespace flipscope;

std::vector<std::int32_t> Tokeniser::ids(const std::string& text)
{
    std::vector<std::int32_t> result;
    const auto add = [&](const std::string& piece) {
        const auto [entry, fresh] = ids_.emplace(piece, static_cast<std::int32_t>(pieces_.size()));
        if (fresh)
            pieces_.push_back(piece);
        result.push_back(entry->second);
    };
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '<')
            if (const std::size_t end = text.find('>', at); end != std::string::npos && end - at < 20) {
                add(text.substr(at, end + 1 - at));
                at = end + 1;
                continue;
            }
        std::size_t end = std::min(text.find('<', at + 1), text.size());
        end = std::min(end, at + 4);
        add(text.substr(at, end - at));
        at = end;
    }
    return result;
}

std::shared_ptr<const Vocabulary> Tokeniser::vocabulary() const
{
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->text.offsets.push_back(0);
    for (const auto& piece : pieces_) {
        vocabulary->text.bytes += piece;
        vocabulary->text.offsets.push_back(vocabulary->text.bytes.size());
    }
    return vocabulary;
}

Trace trace(Tokeniser& tokeniser, const std::string& name, const std::string& history,
            const std::vector<Continuation>& continuations)
{
    Trace t;
    t.run_name = name;
    t.path = name + ".h5";
    t.tokens.ids = tokeniser.ids(history);
    for (const auto& continuation : continuations) {
        Generation g;
        g.group = std::to_string(t.generations.size());
        g.prefix_tokens = continuation.prefix;
        g.finish_reason = continuation.finish_reason;
        g.parsed_tool_calls = continuation.parsed_tool_calls;
        bool fed = false;
        for (std::size_t at = 0; at < continuation.text.size();) {
            const std::size_t border =
                std::min(continuation.text.find(fed ? "}}}" : "{{{", at), continuation.text.size());
            const auto ids = tokeniser.ids(continuation.text.substr(at, border - at));
            g.ids.insert(g.ids.end(), ids.begin(), ids.end());
            g.fed.resize(g.ids.size(), fed ? 1 : 0);
            fed = !fed;
            at = border + 3;
        }
        t.generations.push_back(std::move(g));
    }
    t.vocabulary = tokeniser.vocabulary();
    return t;
}

void set_list(Generation& generation, std::size_t step, const std::vector<std::pair<std::int32_t, float>>& list)
{
    generation.k = static_cast<std::int64_t>(list.size());
    generation.top_ids.assign(generation.ids.size() * list.size(), -1);
    generation.top_logprobs.assign(generation.top_ids.size(), std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < generation.ids.size(); ++i) {
        generation.top_ids[i * list.size()] = generation.ids[i];
        generation.top_logprobs[i * list.size()] = -0.1F;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        generation.top_ids[step * list.size() + i] = list[i].first;
        generation.top_logprobs[step * list.size() + i] = list[i].second;
    }
}

RunCallsPtr compare(Trace baseline, Trace run, const Dialect* dialect)
{
    const TracePtr p = std::make_shared<const Trace>(std::move(baseline));
    const TracePtr q = std::make_shared<const Trace>(std::move(run));
    const TokenTexts texts({p, q});
    const auto base = read_calls(p, texts, dialect);
    const auto compared = compare_calls(base, read_calls(q, texts, dialect ? dialect : base->dialect));
    return compared ? *compared : nullptr;
}

} // namespace made
