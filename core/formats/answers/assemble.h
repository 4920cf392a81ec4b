// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/formats/answers/answer.h"
#include "core/trace/trace.h"

#include <filesystem>
#include <memory>

namespace flipscope::answers {

/// Gives every token of `file` an id: the one stated, that of a token with the same bytes in `vocabulary` (may be null)
/// or elsewhere in the file, or one made up. Tokens whose bytes are lost keep -1 in lists. Says what it did.
struct IdSources {
    std::int64_t stated = 0, from_vocabulary = 0, from_file = 0, made_up = 0, lost = 0;
};
Result<IdSources> resolve_ids(AnswerFile& file, const Vocabulary* vocabulary, const std::filesystem::path& path);

/// Refuses values that are no log probabilities: the same one everywhere (speculative decoding, a greedy sampler's
/// own), or logits.
Result<void> check_values(const AnswerFile& file);

/// A trace of what a file of answers says; messages are without the file's name and the full stop. `stamp` and
/// `content_key` are set by the caller.
///
/// Probes are top-k lists: at the positions of the prompt where the answer has them (scoring prefill; what was
/// generated then is the dense set "generated"), else one a generated token (scoring decode), or one an answer where
/// the prompts are prefixes of each other. The history is the prompt and, where it has probes, what the first answer
/// generated; ids of a prompt that is not stated are -1. Every choice is a continuation.
Result<Trace> assemble(AnswerFile& file, const ParseNotes& notes, const std::filesystem::path& path,
                       const std::shared_ptr<const Vocabulary>& vocabulary);

/// What a person should know about the answers, apart from what assemble itself finds.
void note_answers(const AnswerFile& file, const ParseNotes& notes, const IdSources& ids, Trace& trace);

} // namespace flipscope::answers
