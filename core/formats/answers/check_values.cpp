// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/assemble.h"

#include <cmath>
#include <unordered_set>

namespace flipscope::answers {

namespace {

constexpr std::size_t enough_tokens = 8; ///< that many equal values are no accident

/// All values of all rows, as far as they could be told apart by one that is different.
struct Spread {
    std::size_t tokens = 0;
    bool constant = true, any = false;
    float value = 0;

    void add(const Entry& e)
    {
        if (!e.has_value)
            return;
        constant = constant && (!any || e.logprob == value);
        value = e.logprob;
        any = true;
    }
};

Result<void> check_row(const Rows& rows, std::size_t row)
{
    double mass = 0;
    std::unordered_set<std::int32_t> seen;
    for (std::size_t e = rows.first[row]; e < rows.first[row + 1]; ++e) {
        const Entry& entry = rows.entries[e];
        if (!entry.has_value)
            continue;
        if (entry.logprob > 0.01F)
            return fail(ErrorKind::BadFormat,
                        "holds {} where a log probability should stand, so these are logits: start the server with "
                        "--logprobs-mode raw_logprobs",
                        entry.logprob);
        if (entry.id < 0 || seen.insert(entry.id).second)
            mass += std::exp(static_cast<double>(entry.logprob));
    }
    if (mass > 1.05)
        return fail(ErrorKind::BadFormat,
                    "has a list (token {}) that adds up to a probability of {:.3g}, so these are no log probabilities",
                    row + 1, mass);
    return {};
}

} // namespace

Result<void> check_values(const AnswerFile& file)
{
    Spread spread;
    for (const Answer& a : file.answers)
        for (const Rows* rows : {&a.prompt, &a.generated}) {
            for (std::size_t i = 0; i < rows->size(); ++i) {
                spread.tokens += rows->chosen[i].has_value || rows->first[i + 1] > rows->first[i] ? 1 : 0;
                spread.add(rows->chosen[i]);
                if (auto ok = check_row(*rows, i); !ok)
                    return ok;
            }
            for (const Entry& e : rows->entries)
                spread.add(e);
        }
    if (spread.any && spread.constant && spread.tokens >= enough_tokens) {
        if (spread.value == 0)
            return fail(ErrorKind::BadFormat,
                        "says 0.0 for the log probability of all {} tokens, so all probabilities are 1: that is what "
                        "servers write when speculative decoding or a greedy sampler hides the model's own values; "
                        "switch it off and ask again",
                        spread.tokens);
        return fail(ErrorKind::BadFormat,
                    "has one and the same log probability ({}) for all {} tokens, which no model gives", spread.value,
                    spread.tokens);
    }
    return {};
}

} // namespace flipscope::answers
