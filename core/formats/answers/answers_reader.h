// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"

#include <istream>

namespace flipscope {

/// Reads what model servers answered: JSON, JSONL or an event stream, in any dialect of core/formats/answers/answer.h.
TraceReader answers_reader();

namespace answers {

/// The same from memory; `path` only names the source. `vocabulary` gives ids to tokens named by text; may be null.
Result<TracePtr> read_answers(std::istream& in, const std::filesystem::path& path,
                              const std::shared_ptr<const Vocabulary>& vocabulary = {}, const Job& job = {});

} // namespace answers

} // namespace flipscope
