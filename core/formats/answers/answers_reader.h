// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace flipscope {

/// Reads what model servers answered: JSON, JSONL or an event stream, in any dialect of core/formats/answers/answer.h.
TraceReader answers_reader();

namespace answers {

/// What a person says about answers that do not say it themselves.
struct AnswerHints {
    std::shared_ptr<const Vocabulary> vocabulary; ///< gives ids to tokens named by text; may be null
    std::vector<std::int32_t> prompt;             ///< ids that the prompt begins with: all of them, at least
    std::string named;                            ///< where the two are from, for messages
    std::int64_t n_vocab = 0;                     ///< ids that there are; 0 = not known
};

/// The same from memory; `path` only names the source.
Result<TracePtr> read_answers(std::istream& in, const std::filesystem::path& path, const AnswerHints& hints = {},
                              const Job& job = {});

} // namespace answers

} // namespace flipscope
