// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/checks/checks.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace flipscope {

namespace {

/// Settings that name a run or a moment, not a way of computing.
constexpr std::array<std::string_view, 12> no_factors = {
    "notes",     "boot",    "seed",           "token_ids", "evaluation_text",      "prompt_text_xxh128",
    "container", "command", "capture_config", "created",   "cached_prompt_tokens", "sampling_positions"};

bool is_factor(std::string_view key)
{
    return std::find(no_factors.begin(), no_factors.end(), key) == no_factors.end();
}

/// Settings that both state, and differently.
std::vector<std::string> differing_factors(const Trace& baseline, const Trace& run)
{
    std::vector<std::string> keys;
    for (const auto& [key, value] : baseline.run) {
        const std::string* other = run.setting(key);
        if (is_factor(key) && other != nullptr && *other != value && !other->empty() && !value.empty())
            keys.push_back(key);
    }
    return keys;
}

void check_settings(const Trace& baseline, const Trace& run, Findings& findings)
{
    const auto keys = differing_factors(baseline, run);
    if (keys.size() < 2) // one is what a comparison is about
        return;
    std::string named;
    for (const std::string& key : keys)
        named += (named.empty() ? "" : ", ") + key;
    findings.push_back({Finding::Level::Note, "factors-differ",
                        fmt::format("{} factors differ: {}; which of them makes the difference cannot be told from "
                                    "this pair.",
                                    keys.size(), named)});
}

void check_engines(const Trace& baseline, const Trace& run, Findings& findings)
{
    const std::string *p = baseline.setting("engine"), *q = run.setting("engine");
    if (p == nullptr || q == nullptr || *p == *q || p->empty() || q->empty())
        return;
    findings.push_back({Finding::Level::Warning, "engines-differ",
                        fmt::format("The engines differ ({} and {}), and what their kernels alone do is part of every "
                                    "number: open a run of the baseline's weights in {} too, as a floor.",
                                    *p, *q, *q)});
}

void check_same(const char* code, const char* what, const std::string& p, const std::string& q, Findings& findings)
{
    if (!p.empty() && !q.empty() && p != q)
        findings.push_back({Finding::Level::Warning, code,
                            fmt::format("{} of the two files differ, although the token ids compared agree.", what)});
}

std::string text_of(const std::string* setting)
{
    return setting == nullptr ? std::string() : *setting;
}

void check_prompts(const Trace& baseline, const Trace& run, Findings& findings)
{
    check_same("prompt-differs", "The hashes of the prompts", baseline.tokens.prompt_sha256, run.tokens.prompt_sha256,
               findings);
    check_same("template-differs", "The hashes of the chat templates", baseline.tokens.chat_template_sha256,
               run.tokens.chat_template_sha256, findings);
    check_same("tokenizer-differs", "The tokenizers", baseline.tokens.tokenizer, run.tokens.tokenizer, findings);
    const std::string p = text_of(baseline.setting("prompt_text_xxh128"));
    const std::string q = text_of(run.setting("prompt_text_xxh128"));
    if (baseline.generated_from == run.generated_from) // else one is the beginning of the other, perhaps
        check_same("prompt-differs", "The texts of the prompts", p, q, findings);
    const auto unknown = [](const Trace& t) { return !t.tokens.ids.empty() && t.tokens.ids.front() < 0; };
    if (unknown(baseline) && unknown(run) && (p.empty() || p != q))
        findings.push_back({Finding::Level::Warning, "prompt-assumed",
                            "Neither file states the ids of its prompt: that both answer the same prompt is assumed, "
                            "not checked."});
}

} // namespace

Findings check_statements(const Trace& baseline, const Trace& run)
{
    Findings findings;
    check_settings(baseline, run, findings);
    check_engines(baseline, run, findings);
    check_prompts(baseline, run, findings);
    return findings;
}

} // namespace flipscope
