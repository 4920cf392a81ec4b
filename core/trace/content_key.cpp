// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/content_key.h"

#include "core/base/hash.h"

#include <span>
#include <type_traits>

namespace flipscope {

namespace {

/// Feeds values with their lengths, so that no two different traces give the same stream of bytes.
class Key {
public:
    template <class T>
    requires std::is_arithmetic_v<T>
    void add(T value) { hash_.add(std::as_bytes(std::span(&value, 1))); }
    void add(std::string_view text)
    {
        add(static_cast<std::uint64_t>(text.size()));
        hash_.add(text);
    }
    template <class T>
    requires std::is_arithmetic_v<T>
    void add(const std::vector<T>& values)
    {
        add(static_cast<std::uint64_t>(values.size()));
        hash_.add(std::as_bytes(std::span(values)));
    }
    void add(const ByteStrings& strings)
    {
        add(strings.bytes);
        add(strings.offsets);
    }
    std::string hex() const { return hash_.hex(); }

private:
    Hasher hash_;
};

void add_probes(Key& h, const ProbeSet& p)
{
    h.add(p.name);
    h.add(static_cast<int>(p.kind));
    h.add(p.positions);
    h.add(p.n_vocab);
    h.add(p.k);
    h.add(p.scoring);
    h.add(p.values);
    h.add(p.temperature.has_value());
    h.add(p.temperature.value_or(0));
    h.add(p.top1);
    h.add(p.lse);
    h.add(p.rows ? static_cast<int>(p.rows->type()) : -1);
    h.add(p.rows ? p.rows->rows() : std::int64_t{-1});
    h.add(p.rows ? p.rows->columns() : std::int64_t{-1});
    h.add(p.lists ? p.lists->rows() : std::int64_t{-1});
    h.add(p.lists ? p.lists->k() : std::int64_t{-1});
}

void add_generation(Key& h, const Generation& g)
{
    h.add(g.group);
    h.add(g.prefix_tokens);
    h.add(g.ids);
    h.add(g.text);
    h.add(g.fed);
    h.add(g.k);
    h.add(g.top_ids);
    h.add(g.top_logprobs);
    h.add(g.sampler);
    h.add(g.finish_reason);
    h.add(g.parsed_tool_calls);
}

} // namespace

std::string content_key_of(const Trace& t, std::string_view attributes)
{
    Key h;
    h.add(t.format);
    h.add(t.created);
    h.add(t.producer);
    h.add(t.tokens.ids);
    h.add(t.tokens.text);
    h.add(t.tokens.tokenizer);
    h.add(t.tokens.chat_template_sha256);
    h.add(t.tokens.prompt_sha256);
    h.add(t.generated_from);
    h.add(t.vocabulary != nullptr);
    if (t.vocabulary) {
        h.add(t.vocabulary->text);
        h.add(t.vocabulary->special);
    }
    h.add(static_cast<std::uint64_t>(t.spans.size()));
    for (const auto& span : t.spans) {
        h.add(span.start);
        h.add(span.end);
        h.add(span.kind);
        h.add(span.label);
    }
    add_probes(h, t.probes);
    h.add(static_cast<std::uint64_t>(t.dense.size()));
    for (const auto& set : t.dense)
        add_probes(h, set);
    h.add(static_cast<std::uint64_t>(t.run.size()));
    for (const auto& [key, value] : t.run) {
        h.add(key);
        h.add(value);
    }
    h.add(static_cast<std::uint64_t>(t.packages.size()));
    for (const auto& package : t.packages)
        h.add(package);
    h.add(t.launch_log);
    h.add(static_cast<std::uint64_t>(t.generations.size()));
    for (const auto& generation : t.generations)
        add_generation(h, generation);
    h.add(attributes);
    return h.hex();
}

} // namespace flipscope
