// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/probe_metrics.h"
#include "core/trace/trace.h"
#include "core/trace/writer.h"

#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

// Small traces in memory for the tests of this folder.
namespace made {

inline flipscope::Trace trace(std::string name, std::vector<std::int32_t> ids, std::vector<std::int64_t> positions)
{
    flipscope::Trace t;
    t.run_name = std::move(name);
    t.path = t.run_name + ".h5";
    t.tokens.ids = std::move(ids);
    t.probes.positions = std::move(positions);
    t.probes.n_vocab = 0;
    return t;
}

inline std::vector<std::int32_t> ids(std::size_t n)
{
    std::vector<std::int32_t> result(n);
    for (std::size_t i = 0; i < n; ++i)
        result[i] = static_cast<std::int32_t>((i * 7 + 3) % 1000);
    return result;
}

inline flipscope::ByteStrings strings(const std::vector<std::string>& parts)
{
    flipscope::ByteStrings s;
    s.offsets.push_back(0);
    for (const std::string& part : parts) {
        s.bytes += part;
        s.offsets.push_back(s.bytes.size());
    }
    return s;
}

/// Rows of float32 for the probes; `rows[i]` all of one width.
inline void set_rows(flipscope::ProbeSet& set, const std::vector<std::vector<float>>& rows)
{
    std::vector<std::byte> data;
    for (const auto& row : rows) {
        const auto* bytes = reinterpret_cast<const std::byte*>(row.data());
        data.insert(data.end(), bytes, bytes + row.size() * sizeof(float));
    }
    set.n_vocab = static_cast<std::int64_t>(rows.front().size());
    set.rows = flipscope::rows_in_memory(flipscope::LogitType::F32, set.n_vocab, std::move(data));
}

/// A valid probe with these numbers, everything else NaN.
inline flipscope::ProbeMetrics probe(std::int64_t position, double kl, bool flip = false, bool tied = false,
                                     double margin = 1)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    flipscope::ProbeMetrics p{};
    p.kl_pq = p.kl_qp = kl;
    p.js = kl / 4;
    p.tv = kl / 2;
    p.margin = margin;
    p.top5_overlap = p.top10_overlap = 1;
    p.dp = p.nll_p = p.nll_q = nan;
    p.outside_p = p.outside_q = p.kept_p = p.kept_q = p.id_overlap = nan;
    p.flip = flip;
    p.tied = tied;
    p.valid = 1;
    p.flip_top1 = -1;
    p.argmax_q = flip ? 1 : 0;
    p.rank = flip ? 2 : 1;
    p.position = position;
    return p;
}

inline flipscope::ProbeMetrics invalid(std::int64_t position)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    flipscope::ProbeMetrics p = probe(position, nan);
    p.tv = p.js = p.margin = p.top5_overlap = p.top10_overlap = nan;
    p.argmax_p = p.argmax_q = p.rank = -1;
    p.valid = 0;
    return p;
}

} // namespace made
