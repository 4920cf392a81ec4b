// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/engine/probe_metrics.h"
#include "core/trace/logit_type.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// How much of ProbeMetrics is wanted. An engine may fill more; what it leaves out is NaN, never rubbish.
enum class MetricSet : std::int32_t {
    Kl,   ///< kl_*, argmaxes, flip, tied, margin, rank, p_top, q_top, nll_*, dp, lse_*, differing
    Core, ///< also entropy_*, max_abs_dlogit: what one visit of the rows gives
    Full, ///< also js, tv and the overlaps
};

/// Some rows of logits in memory. Row i starts at data + i * stride bytes and need not be aligned beyond its type.
struct RowView {
    const std::byte* data = nullptr;
    LogitType type = LogitType::BF16;
    std::int64_t stride = 0;  ///< bytes from row to row
    std::uint64_t source = 0; ///< names the rows' origin where an engine may keep them between calls; 0 = it may not
};

/// Rows of the same probes in both traces: row i of `baseline` and of `run` answer the same position.
struct PairBlock {
    RowView baseline, run;
    std::int64_t rows = 0;
    std::int32_t vocab = 0;                 ///< ids 0 .. vocab-1 are compared; rows may be wider (padding)
    const std::int32_t* next_ids = nullptr; ///< per row the history's next token, -1 = none; null = none at all
    const std::int64_t* keys = nullptr; ///< per row its name within a source, alike in all sources (the position, say)
    MetricSet wanted = MetricSet::Full;
};

/// The same with several runs: row i of `baseline` and of each run answer the same position.
struct RunsBlock {
    RowView baseline;
    std::span<const RowView> runs;
    std::int64_t rows = 0;
    std::int32_t vocab = 0;
    const std::int32_t* next_ids = nullptr;
    const std::int64_t* keys = nullptr;
    MetricSet wanted = MetricSet::Full;
};

/// Memory an engine likes to be fed from (pinned for a GPU).
class HostBuffer {
public:
    virtual ~HostBuffer() = default;
    std::span<std::byte> bytes() const { return bytes_; }

protected:
    std::span<std::byte> bytes_;
};

/// Turns pairs of rows into numbers. Implementations agree with each other within the accuracy stated in
/// resources/manual/metrics.md; each gives bit-equal results for any number of threads and any cutting into blocks.
/// An engine is used by one thread at a time.
class Engine {
public:
    virtual ~Engine() = default;
    virtual std::string_view name() const = 0; ///< "cpu", "cuda", "reference"
    virtual std::string detail() const = 0;    ///< for a person: "AVX3, 2 threads", "NVIDIA H200, driver for CUDA 13.0"

    /// Fills the engine's part of out[0 .. block.rows) (every field before "filled by the analysis").
    /// Checks `stop` between rows or batches and returns ErrorKind::Cancelled then.
    virtual Result<void> compute(const PairBlock& block, std::span<ProbeMetrics> out, std::stop_token stop) = 0;

    /// Bytes of rows that keep it busy long enough for what a call costs, and little enough to begin early.
    virtual std::int64_t block_bytes() const { return 64 << 20; }

    /// An engine that computes on its caller's thread can be split: so many workers may compute at a time, each on a
    /// thread of its own, with the same numbers. 0 = it cannot; then there are no workers.
    virtual int workers() const { return 0; }
    virtual std::unique_ptr<Engine> worker() const { return nullptr; }

    /// The same for several runs against one baseline, whose rows then are read once: out[r * block.rows + i] is row i
    /// of run r. The numbers are those of compute(), bit for bit. An engine that knows no better takes run after run.
    virtual Result<void> compute_runs(const RunsBlock& block, std::span<ProbeMetrics> out, std::stop_token stop);

    /// Whether the engine still has all these rows of `view.source` from earlier calls, cut to `vocab` ids. Until its
    /// next call, `data` of a view of them may then be null: nothing needs to be read, and other pairs, baselines and
    /// directions of the same rows cost what the device takes to compute them.
    virtual bool holds(const RowView& view, std::int32_t vocab, std::span<const std::int64_t> keys) const;

    /// A buffer for rows to be computed; must not outlive the engine.
    virtual Result<std::unique_ptr<HostBuffer>> allocate(std::size_t bytes);

    /// Sentences about trouble that was overcome (a smaller batch, say) since the last call; then forgotten.
    virtual std::vector<std::string> take_notices() { return {}; }
};

enum class EngineChoice { Auto, Cpu, Cuda, Reference };

/// "auto", "cpu", "cuda", "reference".
Result<EngineChoice> parse_engine(std::string_view name);

struct EngineOptions {
    EngineChoice choice = EngineChoice::Auto;
    int threads = 0; ///< 0 = one for each core
};

/// An engine, and why it is not the one a person may have hoped for.
struct EngineSelection {
    std::unique_ptr<Engine> engine;
    std::string notice; ///< "" or a sentence as "Computing on the CPU: no CUDA driver (…)."
};

/// Auto takes the GPU where it works, else the CPU, and says why. FLIPSCOPE_ENGINE in the environment replaces Auto.
/// Asking for Cuda where it does not work is an error.
Result<EngineSelection> make_engine(const EngineOptions& options);

std::unique_ptr<Engine> make_reference_engine();
std::unique_ptr<Engine> make_cpu_engine(int threads);
/// Loads the CUDA module at run time; fails with a sentence that names the cause and the versions.
Result<std::unique_ptr<Engine>> make_cuda_engine();

} // namespace flipscope
