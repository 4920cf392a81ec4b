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

    Result<void> compute(const PairBlock& block, std::span<ProbeMetrics> out, std::stop_token stop) override
    {
        if (auto sensible = check_block(block, out.size()); !sensible)
            return sensible;
        std::atomic<std::int64_t> next_row = 0;
        const auto work = [&] {
            for (std::int64_t row; (row = next_row.fetch_add(1)) < block.rows && !stop.stop_requested();)
                cpu_row_metrics({block.baseline.data + row * block.baseline.stride, block.baseline.type,
                                 block.run.data + row * block.run.stride, block.run.type, block.vocab,
                                 block.next_ids ? block.next_ids[row] : -1},
                                out[row]);
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
