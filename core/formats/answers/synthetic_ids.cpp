// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/synthetic_ids.h"

#include "core/formats/answers/answer.h"

#include <mutex>
#include <string>
#include <unordered_map>

namespace flipscope::answers {

namespace {

constexpr std::size_t most_texts = 1 << 20;
constexpr std::size_t most_bytes = 256'000'000;

struct Registry {
    std::mutex lock;
    std::unordered_map<std::string, std::int32_t> ids;
    std::size_t bytes = 0;
};

Registry& registry()
{
    static Registry the_registry;
    return the_registry;
}

} // namespace

std::optional<std::int32_t> made_up_id(std::string_view text)
{
    Registry& r = registry();
    const std::lock_guard guard(r.lock);
    if (const auto known = r.ids.find(std::string(text)); known != r.ids.end())
        return known->second;
    if (r.ids.size() >= most_texts || r.bytes + text.size() > most_bytes)
        return std::nullopt;
    const auto id = first_made_up_id + static_cast<std::int32_t>(r.ids.size());
    r.ids.emplace(text, id);
    r.bytes += text.size();
    return id;
}

void forget_made_up_ids()
{
    Registry& r = registry();
    const std::lock_guard guard(r.lock);
    r.ids.clear();
    r.bytes = 0;
}

} // namespace flipscope::answers
