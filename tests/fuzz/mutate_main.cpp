// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// A main() for libFuzzer targets where there is no libFuzzer: tries each seed, then mutants of them until the time is
// over. SECONDS FILE...; the same mutants every time. Exits 1 where one takes too long.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Clock = std::chrono::steady_clock;
constexpr double longest = 2.0; // seconds for one input

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Cuts, repeats, exchanges and overwrites pieces; numbers and marks of JSON are what breaks readers.
std::string mutant(const std::vector<std::string>& seeds, std::mt19937& random)
{
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
    static const std::vector<std::string> pieces = {
        "{",      "}",         "[",       "]",          ",",       ":",       "\"",      "null",
        "NaN",    "-Infinity", "1e999",   "-1",         "0",       "\\u0000", "\\ud83d", "99999999999999999999",
        "data: ", "\n\n",      "-9999.0", "token_id:5", "1048576", "\xff",    "true",    "4294967296"};
    std::string text = seeds[below(seeds.size())];
    for (std::size_t n = 1 + below(8); n > 0; --n) {
        const std::size_t at = below(text.size() + 1), length = std::min(below(64), text.size() - at);
        switch (below(6)) {
        case 0:
            text.erase(at, length);
            break;
        case 1:
            text.insert(at, text.substr(at, length));
            break;
        case 2:
            text.insert(at, pieces[below(pieces.size())]);
            break;
        case 3:
            if (at < text.size())
                text[at] = static_cast<char>(below(256));
            break;
        case 4: {
            const std::string& other = seeds[below(seeds.size())];
            text.insert(at, other.substr(below(other.size()), below(256)));
            break;
        }
        default:
            text.resize(std::max<std::size_t>(1, at));
        }
    }
    return text;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s SECONDS FILE...\n", argv[0]);
        return 2;
    }
    std::vector<std::string> seeds;
    for (int i = 2; i < argc; ++i) {
        std::ifstream in(argv[i], std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    std::mt19937 random(1);
    const double time = std::atof(argv[1]);
    const auto start = Clock::now();
    double slowest = 0;
    std::size_t tried = 0;
    while (tried < seeds.size() || seconds_since(start) < time) {
        const std::string text = tried < seeds.size() ? seeds[tried] : mutant(seeds, random);
        const auto before = Clock::now();
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
        slowest = std::max(slowest, seconds_since(before));
        ++tried;
        if (slowest > longest) {
            std::fprintf(stderr, "input %zu took %.1f s\n", tried, slowest);
            return 1;
        }
    }
    std::printf("%zu inputs of %zu seeds, the slowest took %.3f s\n", tried, seeds.size(), slowest);
    return 0;
}
