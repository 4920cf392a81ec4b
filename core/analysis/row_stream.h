// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/alignment.h"
#include "core/analysis/stream_times.h"
#include "core/base/hash.h"
#include "core/engine/engine.h"
#include "core/trace/rows.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace flipscope {

class KnownRows;

/// Hashes over everything read, one for each side: of the hashes of all rows, in the order of the probes. No cutting
/// into blocks shows in them, and rows can be hashed by many threads at once.
struct RowHashes {
    Hasher baseline, run;
    std::string hex() const;
};

/// Pairs of full rows to be read: pair i is row pairs[i].baseline_row of one and pairs[i].run_row of the other.
struct RowPairs {
    const RowSource& baseline;
    const RowSource& run;
    std::span<const MatchedProbe> pairs;

    std::int64_t pair_bytes() const { return baseline.row_bytes() + run.row_bytes(); }
};

/// Some pairs in memory, in their order.
struct RowBlock {
    std::int64_t first = 0; ///< index of the first pair
    std::int64_t rows = 0;
    RowView baseline, run;
};

struct RowUse {
    /// Computes a block with the given engine: the stream's own, or a worker of it on a thread of its own, at the same
    /// time as others. Blocks come in any order and cover every pair once.
    std::function<Result<void>(const RowBlock&, Engine&)> compute;
    /// Hears on the calling thread how far it has come; may be empty.
    std::function<void(const StreamTimes&)> progress;
};

/// Reads all pairs and has them computed, both at the same time. Reading goes on outside HDF5's lock where rows lie in
/// the file as they are.
/// An engine that computes on the caller's thread (engine.workers() > 0) is given a few rows at a time, by threads that
/// read them into a small buffer, hash them and compute while they are still in their core's cache: reading_threads()
/// more of them than may compute at once, so that one reads while another computes. Any other engine (a GPU) gets large
/// blocks on the calling thread, while reading threads fill the two buffers after it.
/// Memory: some MB, or one pair, a thread; or three buffers of engine.block_bytes(); within memory_limit(), as far as
/// one thread or one pair in each buffer allows. Stops between rows with
/// ErrorKind::Cancelled; the first error of reading or computing ends it.
Result<StreamTimes> stream_rows(const RowPairs& rows, Engine& engine, RowHashes& hashes, const std::stop_token& stop,
                                const RowUse& use);

/// One trace's part in what is read together: its row of probe i is number pairs[i].baseline_row or, of a run,
/// pairs[i].run_row.
struct RowSide {
    const RowSource& source;
    std::span<const MatchedProbe> pairs;
    KnownRows* known = nullptr; ///< for an engine that keeps rows; null: all are read, and none is kept
};

/// Runs that answer the same probes of one baseline: position and baseline_row of their pairs are equal.
struct RowsOfRuns {
    RowSide baseline;
    std::vector<RowSide> runs;
    std::int32_t vocab = 0; ///< ids that are compared
};

/// Some probes in memory, in their order.
struct BlockOfRuns {
    std::int64_t first = 0; ///< index of the first probe
    std::int64_t rows = 0;
    RowView baseline; ///< `data` is null where the engine holds all rows of this view; they were not read then
    std::vector<RowView> runs;
    std::span<const std::int64_t> keys; ///< names of the rows within each source
    /// Reads what was left out, on the calling thread, and fills in `data`.
    std::function<Result<void>()> read_rest;
};

struct RunsUse {
    /// Computes a block on the calling thread with the stream's engine.
    std::function<Result<void>(BlockOfRuns&)> compute;
    /// Hears on the calling thread how far it has come; may be empty.
    std::function<void(const StreamTimes&)> progress;
};

/// stream_rows() for an engine that wants large blocks, over several runs: a row of the baseline is read once for all
/// of them. Rows with a KnownRows that the engine still holds are not read at all; should it have let go of them by the
/// time it comes to their block, they are read then. `hashes`: one for each run.
Result<StreamTimes> stream_runs(const RowsOfRuns& rows, Engine& engine, std::span<RowHashes* const> hashes,
                                const std::stop_token& stop, const RunsUse& use);

/// Threads that read: three quarters of what the machine has, at most 16, which read cached files faster than they pass
/// over a bus to a GPU.
int reading_threads();

} // namespace flipscope
