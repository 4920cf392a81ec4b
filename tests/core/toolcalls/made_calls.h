// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/compare_calls.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

// Traces with continuations, made in memory out of text.
namespace made {

/// Gives every piece of text an id; "<|im_end|>" and tags are one piece, everything else is cut every four bytes.
class Tokeniser {
public:
    std::vector<std::int32_t> ids(const std::string& text);
    std::shared_ptr<const flipscope::Vocabulary> vocabulary() const;

private:
    std::unordered_map<std::string, std::int32_t> ids_;
    std::vector<std::string> pieces_;
};

/// A continuation: its prefix and its text; what stands between "{{{" and "}}}" was fed.
struct Continuation {
    std::int64_t prefix = 0;
    std::string text;
    std::string parsed_tool_calls, finish_reason = "stop";
};

flipscope::Trace trace(Tokeniser& tokeniser, const std::string& name, const std::string& history,
                       const std::vector<Continuation>& continuations);

/// The list at a step: ids and their log probabilities; every other step gets its own id alone.
void set_list(flipscope::Generation& generation, std::size_t step,
              const std::vector<std::pair<std::int32_t, float>>& list);

flipscope::RunCallsPtr compare(flipscope::Trace baseline, flipscope::Trace run,
                               const flipscope::Dialect* dialect = nullptr);

} // namespace made
