// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/finding.h"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// One number that llama-perplexity printed.
struct KldStatistic {
    std::string section;               ///< "perplexity", "KL divergence", "token probability"
    std::string label;                 ///< as today's builds print it: "Mean KLD", "99.0% KLD", "RMS Δp"
    double value = 0;                  ///< KLD in nats; Δp, Cor and Same top p in %
    std::optional<double> uncertainty; ///< the ± of the printout
    bool percent = false;
};

/// The state after one chunk, all chunks so far together.
struct KldChunk {
    std::int64_t chunk = 0;
    std::vector<KldStatistic> values;
};

/// A saved or pasted printout of `llama-perplexity --kl-divergence` (also of 2024's builds): a card of statistics that
/// can stand beside ours. KL(base‖run) in nats over the second half of each chunk; terms whose base log probability is
/// below -16 are not in it.
struct KldLog {
    std::filesystem::path path;
    std::string name;                     ///< the file's stem
    std::vector<KldStatistic> statistics; ///< of the final block, in the order of the printout; else of the last chunk
    bool has_final_block = false;
    std::optional<KldChunk> last_chunk;
    std::int64_t n_chunks_printed = 0;
    std::int64_t n_chunks = -1, n_ctx = -1; ///< as announced; -1 = not printed
    std::string build;                      ///< "4242 (0c1e57098)", where printed
    Findings findings;

    const KldStatistic* find(std::string_view label) const;
};

/// Whether text looks like such a printout. Its beginning may be a long start log, so all of it should be shown.
bool looks_like_kld_log(std::string_view text);

/// Reads a printout; anything else is refused. Messages are whole sentences.
Result<KldLog> read_kld_log(std::istream& in, const std::filesystem::path& path);
Result<KldLog> open_kld_log(const std::filesystem::path& path);

/// Whether the file at `path` is such a printout: plain text, no more than 16 MiB, with its marks.
bool is_kld_log(const std::filesystem::path& path);

} // namespace flipscope
