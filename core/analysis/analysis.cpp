// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/analysis.h"

#include <algorithm>

namespace flipscope {

std::string distinct_name(const std::string& name, std::span<const std::string> taken)
{
    std::string distinct = name;
    for (int n = 2; std::find(taken.begin(), taken.end(), distinct) != taken.end(); ++n)
        distinct = fmt::format("{} ({})", name, n);
    return distinct;
}

RunAnalysis analyze_table(const TracePtr& run, const TablePtr& table, std::int64_t window_tokens,
                          const HistoryExtent& extent)
{
    RunAnalysis a;
    a.name = run->run_name;
    a.trace = run;
    a.table = table;
    a.overall = summarize(table->probes, 0, extent.n_tokens);
    a.differing_rows = differing_rows(*table);
    a.bit_identical = bit_identical(*table);
    std::int64_t known = 0, flips = 0;
    for (const ProbeMetrics& p : table->probes) {
        known += p.flip_top1 >= 0 ? 1 : 0;
        flips += p.flip_top1 > 0 ? 1 : 0;
    }
    a.flips_top1 = known > 0 ? flips : -1;
    a.windows = windows_of(table->probes, window_tokens, extent.last_position, extent.n_tokens);
    return a;
}

} // namespace flipscope
