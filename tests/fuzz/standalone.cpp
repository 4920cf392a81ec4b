// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for libFuzzer where the compiler has none: takes the same target, the same seeds and the options
// -max_total_time=SECONDS, -rss_limit_mb=N and -seed=N, and tries mutants of the seeds. It does not see which code they
// reach; long runs are made with Clang (see CMakeLists.txt).
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n)
{
    return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
}

void put_number(Bytes& b, Random& random)
{
    static constexpr std::array<std::uint64_t, 16> odd = {0,    1,          2,      3,         0x7f,       0x80,
                                                          0xff, 0x100,      0x7fff, 0xffff,    0x7fffffff, 0x80000000,
                                                          ~0u,  ~0ull >> 1, ~0ull,  1ull << 40};
    const std::size_t width = std::size_t{1} << below(random, 4);
    if (b.size() < width)
        return;
    const std::size_t at =
        below(random, std::min<std::size_t>(b.size() - width + 1, 1 + (random() % 2 ? 64 : b.size())));
    std::uint64_t value = odd[below(random, odd.size())];
    if (random() % 3 == 0) { // near what is there
        std::memcpy(&value, b.data() + std::min(at, b.size() - width), width);
        value += random() % 33 - 16;
    }
    std::memcpy(b.data() + std::min(at, b.size() - width), &value, width);
}

/// Headers in text hold numbers too.
void change_digit(Bytes& b, Random& random)
{
    for (int tries = 0; tries < 64 && !b.empty(); ++tries) {
        const std::size_t at = below(random, std::min<std::size_t>(b.size(), 512));
        if (b[at] < '0' || b[at] > '9')
            continue;
        if (random() % 4 == 0)
            b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>('0' + random() % 10));
        else
            b[at] = static_cast<std::uint8_t>('0' + random() % 10);
        return;
    }
}

void change_block(Bytes& b, const Bytes& other, Random& random)
{
    const std::size_t at = below(random, b.size()), n = below(random, std::min<std::size_t>(64, b.size() - at + 1));
    const auto from = b.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 4) {
    case 0:
        b.erase(from, from + static_cast<std::ptrdiff_t>(n));
        break;
    case 1: {
        const Bytes copy(from, from + static_cast<std::ptrdiff_t>(n));
        b.insert(from, copy.begin(), copy.end());
        break;
    }
    case 2: // the end of another seed
        b.resize(at);
        b.insert(b.end(), other.begin() + static_cast<std::ptrdiff_t>(below(random, other.size())), other.end());
        break;
    default:
        b.resize(at);
    }
}

Bytes mutant(const std::vector<Bytes>& seeds, Random& random)
{
    Bytes b = seeds[below(random, seeds.size())];
    for (std::size_t n = 1 + below(random, 4); n > 0; --n) {
        switch (random() % 8) {
        case 0:
        case 1:
            if (!b.empty())
                b[below(random, b.size())] ^= static_cast<std::uint8_t>(1u << (random() % 8));
            break;
        case 2:
        case 3:
        case 4:
            put_number(b, random);
            break;
        case 5:
        case 6:
            change_digit(b, random);
            break;
        default:
            change_block(b, seeds[below(random, seeds.size())], random);
        }
    }
    return b;
}

bool option(const char* argument, const char* name, std::uint64_t& value)
{
    const std::size_t n = std::strlen(name);
    if (std::strncmp(argument, name, n) != 0)
        return false;
    value = std::strtoull(argument + n, nullptr, 10);
    return true;
}

void add_seeds(const std::filesystem::path& path, std::vector<Bytes>& seeds)
{
    if (std::filesystem::is_directory(path)) {
        for (const auto& entry : std::filesystem::directory_iterator(path))
            add_seeds(entry.path(), seeds);
        return;
    }
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::int64_t peak_mb()
{
    struct rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

} // namespace

int main(int argc, char** argv)
{
    std::uint64_t seconds = 5, limit_mb = 1024, seed = 1;
    std::vector<Bytes> seeds;
    for (int i = 1; i < argc; ++i)
        if (!option(argv[i], "-max_total_time=", seconds) && !option(argv[i], "-rss_limit_mb=", limit_mb) &&
            !option(argv[i], "-seed=", seed))
            add_seeds(argv[i], seeds);
    if (seeds.empty()) {
        std::fprintf(stderr, "no seeds\n");
        return 1;
    }
    const auto text = [](const auto& seed) {
        return std::string_view(reinterpret_cast<const char*>(seed.data()), seed.size());
    };
    std::sort(seeds.begin(), seeds.end(), [&](const auto& a, const auto& b) { return text(a) < text(b); });
    Random random(seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::uint64_t tried = 0;
    for (const Bytes& b : seeds)
        LLVMFuzzerTestOneInput(b.data(), b.size());
    for (; std::chrono::steady_clock::now() < end; ++tried) {
        const Bytes b = mutant(seeds, random);
        LLVMFuzzerTestOneInput(b.data(), b.size());
    }
    std::printf("%llu mutants of %zu seeds, %lld MB at most\n", static_cast<unsigned long long>(tried), seeds.size(),
                static_cast<long long>(peak_mb()));
    return peak_mb() > static_cast<std::int64_t>(limit_mb) ? 1 : 0;
}
