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

Result<void> add_pieces(Analysis& analysis, Partition by, std::int64_t n_tokens)
{
    analysis.by = by;
    if (by == Partition::Windows)
        return {};
    auto pieces = pieces_of(*analysis.baseline, by);
    if (!pieces)
        return tl::unexpected(pieces.error());
    analysis.pieces = std::move(*pieces);
    if (by == Partition::Segments)
        for (const Piece& piece : analysis.pieces)
            if (std::find(analysis.kinds.begin(), analysis.kinds.end(), piece.kind) == analysis.kinds.end())
                analysis.kinds.push_back(piece.kind);
    for (RunAnalysis& run : analysis.runs) {
        std::vector<std::vector<ProbeMetrics>> of_kind(analysis.kinds.size());
        for (const Piece& piece : analysis.pieces) {
            const auto probes = probes_predicting(run.table->probes, piece, n_tokens);
            run.pieces.push_back(summarize(probes, piece.start, piece.end));
            const auto kind = std::find(analysis.kinds.begin(), analysis.kinds.end(), piece.kind);
            if (kind != analysis.kinds.end()) {
                auto& all = of_kind[static_cast<std::size_t>(kind - analysis.kinds.begin())];
                all.insert(all.end(), probes.begin(), probes.end());
            }
        }
        for (const auto& probes : of_kind)
            run.kinds.push_back(summarize(probes, 0, n_tokens));
    }
    return {};
}

} // namespace flipscope
