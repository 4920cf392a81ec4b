// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/assemble.h"

#include <fmt/format.h>

namespace flipscope::answers {

namespace {

class Notes {
public:
    explicit Notes(Findings& findings) : findings_(findings) {}
    template <class... Args>
    void note(const char* code, fmt::format_string<Args...> text, Args&&... args)
    {
        findings_.push_back({Finding::Level::Note, code, fmt::format(text, std::forward<Args>(args)...)});
    }
    template <class... Args>
    void warn(const char* code, fmt::format_string<Args...> text, Args&&... args)
    {
        findings_.push_back({Finding::Level::Warning, code, fmt::format(text, std::forward<Args>(args)...)});
    }

private:
    Findings& findings_;
};

std::string counted(std::int64_t n, const char* one, const char* many)
{
    return fmt::format("{} {}", n, n == 1 ? one : many);
}

void note_ids(const IdSources& ids, Notes& notes)
{
    if (ids.made_up > 0)
        notes.warn("ids-made-up",
                   "The answer names {} by {} text alone, so ids were made up: two tokens with one text cannot be told "
                   "apart, and by id the file can be compared only with others of that kind.",
                   ids.stated + ids.from_file + ids.from_vocabulary == 0 ? std::string("all tokens")
                                                                         : counted(ids.made_up, "token", "tokens"),
                   ids.made_up == 1 && ids.stated > 0 ? "its" : "their");
    if (ids.from_vocabulary > 0)
        notes.note("ids-from-vocabulary", "The ids of {} were looked up in the vocabulary by their bytes.",
                   counted(ids.from_vocabulary, "token", "tokens"));
    if (ids.from_file > 0)
        notes.note("ids-from-text", "{} named by text alone got the id that the file itself states for that text.",
                   counted(ids.from_file, "token", "tokens"));
    if (ids.lost > 0)
        notes.warn("bytes-lost",
                   "The bytes of {} are lost (the server wrote U+FFFD or nothing in their place): they are never "
                   "matched by text.",
                   counted(ids.lost, "token", "tokens"));
}

void note_values(const AnswerFile& file, Notes& notes)
{
    if (!file.no_values.empty()) {
        std::string forms;
        std::int64_t total = 0;
        for (const auto& [form, n] : file.no_values) {
            forms += fmt::format("{}{} as {}", forms.empty() ? "" : ", ", n, form);
            total += n;
        }
        notes.note("no-value", "{} {} no value ({}): left out, never summed as numbers.",
                   counted(total, "entry", "entries"), total == 1 ? "has" : "have", forms);
    }
    if (file.contradictions > 0)
        notes.warn("contradiction", "At {} the answer gives two values for one token, so the lists there are not used.",
                   counted(file.contradictions, "position", "positions"));
    if (file.collapsed > 0)
        notes.warn("collapsed-texts",
                   "At {} the list is shorter than elsewhere, since tokens with equal text fell together: the lists "
                   "there are not used.",
                   counted(file.collapsed, "position", "positions"));
    if (file.shifted_rows > 0)
        notes.warn("off-by-one",
                   "The lists were off by one from the tokens they belong to (the tokens' own values show it), and "
                   "{} moved.",
                   counted(file.shifted_rows, "was", "were"));
    if (file.probabilities > 0)
        notes.note("probabilities",
                   "The server answered with probabilities after its samplers: what a sampler removed is missing, and "
                   "divergences from a model's own distribution mean little.");
}

} // namespace

void note_answers(const AnswerFile& file, const ParseNotes& parsed, const IdSources& ids, Trace& trace)
{
    Notes notes(trace.findings);
    note_ids(ids, notes);
    note_values(file, notes);
    if (parsed.cut_off)
        notes.warn("cut-off", "The file ends in the middle of an answer: opened up to the last whole one.");
    if (parsed.bad_surrogates > 0)
        notes.note("half-characters", "{} written as half a surrogate pair {} read as U+FFFD.",
                   counted(static_cast<std::int64_t>(parsed.bad_surrogates), "character", "characters"),
                   parsed.bad_surrogates == 1 ? "was" : "were");
    const bool lists = trace.probes.size() > 0;
    if (lists && trace.probes.values.empty())
        notes.note("values-not-stated",
                   "The answer does not show whether its log probabilities are raw or come after temperature and "
                   "samplers: values of servers that differ in this are not comparable.");
    if (trace.tokens.ids.empty() || trace.tokens.ids.front() < 0)
        notes.note("prompt-not-stated",
                   "The answer does not state the ids of its prompt{}: whether another file answers the same prompt "
                   "is not checked here.",
                   trace.tokens.ids.size() < 2 ? " nor their number" : "");
}

} // namespace flipscope::answers
