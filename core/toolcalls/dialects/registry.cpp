// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/dialects/dialects.h"

namespace flipscope {

const std::vector<Dialect>& dialects()
{
    // The more particular first: where two read the same number of calls, the first is taken.
    static const std::vector<Dialect> all = {
        dialect::hermes(),         dialect::qwen3_coder(),     dialect::glm(),         dialect::granite(),
        dialect::granite_20b(),    dialect::mistral(),         dialect::deepseek_v3(), dialect::deepseek_v31(),
        dialect::deepseek_v32(),   dialect::kimi_k2(),         dialect::harmony(),     dialect::gemma4(),
        dialect::function_gemma(), dialect::gemma3(),          dialect::lfm2(),        dialect::functionary_v31(),
        dialect::functionary_v2(), dialect::functionary_v32(), dialect::llama4(),      dialect::llama3(),
        dialect::openai(),         dialect::plain_json(),
    };
    return all;
}

} // namespace flipscope
