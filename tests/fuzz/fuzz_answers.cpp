// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Answers of servers and printouts of llama-perplexity, from memory. A libFuzzer target (see mutate_main.cpp for
// builds without it).
#include "core/formats/answers/answers_reader.h"
#include "core/formats/answers/synthetic_ids.h"
#include "core/formats/kld_log.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>

namespace {

void must_be_a_sentence(const std::string& text)
{
    if (text.size() > 10 && text.back() == '.' && text.find('\n') == std::string::npos)
        return;
    std::fprintf(stderr, "not one sentence: %s\n", text.c_str());
    std::abort();
}

void read_lists(const flipscope::ProbeSet& set)
{
    if (!set.lists)
        return;
    std::vector<std::int32_t> ids(static_cast<std::size_t>(set.lists->k()));
    std::vector<float> logprobs(ids.size());
    for (std::int64_t i = 0; i < set.lists->rows(); ++i)
        if (!set.lists->read(i, 1, ids, logprobs))
            std::abort();
    if (set.lists->rows() != set.size())
        std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::clock_t start = std::clock(); // of this process: a busy machine is no fault
    {
        std::istringstream in(text);
        const auto trace = flipscope::answers::read_answers(in, "answer.json");
        if (trace) {
            read_lists((*trace)->probes);
            for (const auto& set : (*trace)->dense)
                read_lists(set);
            for (const auto& finding : (*trace)->findings)
                must_be_a_sentence(finding.text);
        } else
            must_be_a_sentence(trace.error().message);
    }
    flipscope::answers::forget_made_up_ids();
    std::istringstream in(text);
    if (const auto log = flipscope::read_kld_log(in, "log.txt"); !log)
        must_be_a_sentence(log.error().message);
    if (static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC > 2) {
        std::fprintf(stderr, "an input took more than two seconds\n");
        std::abort();
    }
    return 0;
}
