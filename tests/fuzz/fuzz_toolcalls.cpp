// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// fuzz_toolcalls SECONDS [SEED]: reads mutants of the tests' streams in every dialect, compares some of them, and says
// how many. Exits 1 where an invariant breaks or a reading takes too long; a crash speaks for itself. Meant for a build
// with sanitizers.
#include "tests/core/toolcalls/made_calls.h"
#include "tests/core/toolcalls/streams.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <random>

using namespace flipscope;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

class Mutator {
public:
    explicit Mutator(std::uint64_t seed) : random_(seed)
    {
        for (const auto* cases : {&streams::tagged_cases(), &streams::token_cases(), &streams::plain_cases()})
            for (const auto& c : *cases)
                corpus_.emplace_back(c.text);
        for (const Dialect& dialect : dialects())
            markers_.insert(markers_.end(), dialect.markers.begin(), dialect.markers.end());
        for (const char* more : {"<think>",
                                 "</think>",
                                 "[THINK]",
                                 "[/THINK]",
                                 "<|im_end|>",
                                 "{",
                                 "}",
                                 "[",
                                 "]",
                                 "\"",
                                 "\\",
                                 "'",
                                 ":",
                                 ",",
                                 "\n",
                                 "\\u",
                                 "\\ud83d",
                                 "```json\n",
                                 "name",
                                 "arguments",
                                 "</parameter>",
                                 "<parameter=",
                                 "\xe2\x9c",
                                 "\xff",
                                 "1e999",
                                 "-",
                                 "None",
                                 "true",
                                 " to=functions."})
            markers_.emplace_back(more);
    }

    std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

    std::string text()
    {
        std::string text = corpus_[below(corpus_.size())];
        for (std::size_t n = 1 + below(6); n > 0; --n)
            mutate(text);
        if (text.size() > 4096 && below(50) != 0) // now and then a long one
            text.resize(4096);
        return text;
    }

    /// Borders of tokens anywhere.
    TokenStream stream(const std::string& text)
    {
        std::vector<std::string> pieces;
        const std::size_t longest = 1 + below(12);
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t n = std::min(text.size() - at, below(longest) + (below(8) != 0));
            pieces.push_back(text.substr(at, n)); // some tokens have no bytes
            at += n;
        }
        TokenStream stream = make_stream(pieces);
        stream.thinking = below(8) == 0;
        if (below(4) == 0 && !text.empty()) { // only part of it was written by the model
            const std::size_t begin = below(text.size()), end = begin + below(text.size() - begin + 1);
            stream.written = {{begin, end}};
        }
        return stream;
    }

private:
    void mutate(std::string& text)
    {
        const std::size_t at = below(text.size() + 1);
        const auto marker = markers_[below(markers_.size())];
        switch (below(9)) {
        case 0:
            text.insert(at, marker);
            break;
        case 1:
            text.resize(at);
            break;
        case 2:
            text.erase(at, below(12));
            break;
        case 3:
            if (at < text.size())
                text[at] = static_cast<char>(random_());
            break;
        case 4:
            text.insert(at, corpus_[below(corpus_.size())]);
            break;
        case 5: { // the same stretch again, often
            const std::string part = text.substr(at, 1 + below(60));
            for (std::size_t n = below(4) == 0 ? below(300) : 1 + below(4); n > 0; --n)
                text.insert(at, part);
            break;
        }
        case 6:
            for (std::size_t n = below(300); n > 0; --n)
                text.insert(at, marker);
            break;
        case 7:
            text += corpus_[below(corpus_.size())];
            break;
        default:
            text.replace(at, below(8), marker);
        }
        if (text.size() > 200'000)
            text.resize(200'000);
    }

    std::mt19937_64 random_;
    std::vector<std::string> corpus_;
    std::vector<std::string> markers_;
};

struct Run {
    Mutator mutator;
    std::int64_t readings = 0, comparisons = 0;
    double slowest = 0;
    bool good = true;

    void wrong(const std::string& what, const std::string& text)
    {
        fmt::print(stderr, "{}:\n{}\n", what, text);
        good = false;
    }

    void read_one(const std::string& text)
    {
        const TokenStream stream = mutator.stream(text);
        for (const Dialect& dialect : dialects()) {
            const std::clock_t start = std::clock(); // of this process: a busy machine is no fault
            const Recognised found = recognise(stream, dialect);
            const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
            slowest = std::max(slowest, took);
            ++readings;
            if (took > 1.0 + static_cast<double>(text.size()) * 1e-5)
                wrong(fmt::format("{} took {:.2f} s", dialect.name, took), text);
            if (const auto broken = streams::broken_invariant(stream, found); !broken.empty())
                wrong(fmt::format("{}: {}", dialect.name, broken), text);
        }
        if (const auto calls = read_server_calls(text); !calls && calls.error().message.empty())
            wrong("a refusal without a sentence", text);
    }

    void compare_one(const std::string& a, const std::string& b)
    {
        made::Tokeniser tokeniser;
        (void)tokeniser.ids(a + b);
        auto p = made::trace(tokeniser, "baseline", "some history", {{3, a, {}}});
        auto q = made::trace(tokeniser, "run", "some history", {{3, b, mutator.text()}});
        const auto calls = made::compare(std::move(p), std::move(q));
        ++comparisons;
        if (!calls || calls->summary.text.empty())
            wrong("no comparison", a + "\n---\n" + b);
        else if (a == b)
            for (const auto& row : calls->rows)
                if (row.broken() && row.outcome != Outcome::ParserDisagrees)
                    wrong("equal continuations differ", a);
    }
};

} // namespace

int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
    Run run{Mutator(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1)};
    const auto start = Clock::now();
    while (run.good && seconds_since(start) < seconds) {
        const std::string text = run.mutator.text();
        run.read_one(text);
        const std::string other = run.mutator.below(3) == 0 ? text : run.mutator.text();
        if (text.size() + other.size() < 20'000)
            run.compare_one(text, other);
    }
    fmt::print("{} readings, {} comparisons in {:.0f} s, the slowest reading took {:.3f} s\n", run.readings,
               run.comparisons, seconds_since(start), run.slowest);
    return run.good ? 0 : 1;
}
