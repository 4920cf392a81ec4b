// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows are independent, so the threads share nothing but a counter, and no result depends on how many there are.
#include "core/engine/cpu_kernel.h"
#include "core/engine/row_facts.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace flipscope {

namespace {

const std::byte* baseline_row(const PairBlock& block, std::int64_t row)
{
    return block.baseline.data + row * block.baseline.stride;
}

const std::byte* run_row(const PairBlock& block, std::int64_t row)
{
    return block.run.data + row * block.run.stride;
}

class CpuEngine final : public Engine {
public:
    explicit CpuEngine(int threads)
        : threads_(threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())))
    {
    }

    std::string_view name() const override { return "cpu"; }
    std::string detail() const override
    {
        return fmt::format("{}, {} thread{}", cpu_vector_name(), threads_, threads_ == 1 ? "" : "s");
    }

    int workers() const override { return threads_; }
    std::unique_ptr<Engine> worker() const override { return std::make_unique<CpuEngine>(1); }

    Result<void> compute(const PairBlock& block, std::span<ProbeMetrics> out, std::stop_token stop) override
    {
        if (auto sensible = check_block(block, out.size()); !sensible)
            return sensible;
        std::atomic<std::int64_t> next_row = 0;
        // A thread claims the row after its present one early, so that the kernel can fetch it from memory meanwhile.
        const auto work = [&] {
            std::int64_t row = next_row.fetch_add(1);
            while (row < block.rows && !stop.stop_requested()) {
                const std::int64_t next = next_row.fetch_add(1);
                RowPair pair{baseline_row(block, row), block.baseline.type, run_row(block, row),
                             block.run.type,           block.vocab,         block.next_ids ? block.next_ids[row] : -1};
                if (next < block.rows) {
                    pair.next_baseline = baseline_row(block, next);
                    pair.next_run = run_row(block, next);
                }
                cpu_row_metrics(pair, block.wanted, out[row]);
                row = next;
            }
        };
        std::vector<std::jthread> helpers;
        const auto wanted = std::min<std::int64_t>(threads_, block.rows) - 1;
        try {
            for (std::int64_t i = 0; i < wanted; ++i)
                helpers.emplace_back(work);
        } catch (const std::system_error&) {
            // The system has no more threads to give: those that started, and this one, do the work.
        }
        work();
        helpers.clear(); // joins
        if (stop.stop_requested())
            return cancelled();
        return {};
    }

private:
    int threads_;
};

} // namespace

std::unique_ptr<Engine> make_cpu_engine(int threads)
{
    return std::make_unique<CpuEngine>(threads);
}

} // namespace flipscope
