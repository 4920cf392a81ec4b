// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the parts of check_cuda share: the module's functions, rows as a file may hold them, counting of checks.

#include "core/engine/plugin_abi.h"
#include "tests/gpu/oracle.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace checking {

using flipscope::ProbeMetrics;

struct Module {
    fs_engine_open_fn* open;
    fs_engine_compute_fn* compute;
    fs_engine_holds_fn* holds;
    fs_engine_notice_fn* notice;
    fs_engine_close_fn* close;
};
inline Module module;

inline int failures = 0;
inline long long checks = 0;

inline void report(bool ok, const std::string& what)
{
    checks++;
    if (ok)
        return;
    if (++failures <= 60)
        std::printf("WRONG %s\n", what.c_str());
}

struct Opened {
    fs_engine* engine = nullptr;
    fs_device_info info{};
    int status = 0;
    char error[512] = "";
    explicit Opened(std::int64_t limit) { status = module.open(limit, &engine, &info, error, sizeof error); }
    ~Opened()
    {
        if (engine)
            module.close(engine);
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    std::string notice()
    {
        char text[512] = "";
        module.notice(engine, text, sizeof text);
        return text;
    }
    /// "" or what went wrong.
    std::string compute(const fs_block& block, ProbeMetrics* out)
    {
        if (status != FS_OK)
            return error;
        return module.compute(engine, &block, out, nullptr, nullptr, error, sizeof error) == FS_OK ? "" : error;
    }
};

/// Rows as a file may hold them: on the type's border and no other, wider than the vocabulary.
struct Rows {
    std::vector<unsigned char> memory;
    std::int64_t stride;
    std::size_t offset;
    oracle::Type type;
    Rows(oracle::Type type, int vocab, int rows)
        : stride(static_cast<std::int64_t>(oracle::size_of(type)) * (vocab + 3)), offset(oracle::size_of(type)),
          type(type)
    {
        memory.resize(static_cast<std::size_t>(stride) * static_cast<std::size_t>(rows) + offset);
    }
    unsigned char* row(int i)
    {
        return memory.data() + offset + static_cast<std::size_t>(i) * static_cast<std::size_t>(stride);
    }
    fs_rows view(std::uint64_t source = 0) { return {row(0), type, stride, source}; }
};

inline bool same_bits(const ProbeMetrics& a, const ProbeMetrics& b)
{
    return std::memcmp(&a, &b, offsetof(ProbeMetrics, flip_top1)) == 0;
}

/// A pair of traces as a block. Lives no longer than what it is made of.
struct Pair {
    fs_rows run;
    fs_block block;
    Pair(const fs_rows& p, const fs_rows& q, std::int64_t rows, int vocab, const std::int32_t* next,
         const std::int64_t* keys = nullptr)
        : run(q), block{p, &run, 1, rows, vocab, next, keys}
    {
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
};

/// Several runs in one pass, rows that stay on the device, several devices.
void check_sessions();

} // namespace checking
