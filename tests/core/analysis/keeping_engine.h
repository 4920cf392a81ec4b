// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/engine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// A GPU as the analysis sees one: wants large blocks, takes several runs at once, keeps rows that have names, the one
/// unused for longest makes room, and fails as it is told to. The CPU computes, so that the numbers are its own, bit
/// for bit.
class KeepingEngine final : public flipscope::Engine {
public:
    std::string_view name() const override { return "cuda"; }
    std::string detail() const override { return "made for a test"; }
    std::int64_t block_bytes() const override { return bytes_of_a_block; }

    flipscope::Result<void> compute(const flipscope::PairBlock& block, std::span<flipscope::ProbeMetrics> out,
                                    std::stop_token stop) override
    {
        return compute_runs({block.baseline, {&block.run, 1}, block.rows, block.vocab, block.next_ids, block.keys}, out,
                            std::move(stop));
    }

    flipscope::Result<void> compute_runs(const flipscope::RunsBlock& block, std::span<flipscope::ProbeMetrics> out,
                                         std::stop_token stop) override
    {
        using namespace flipscope;
        ++calls;
        if (calls >= lost_at)
            return fail(ErrorKind::Device, "The GPU was lost.");
        if (block.runs.size() > most_runs)
            return fail(ErrorKind::OutOfMemory, "The GPU has no memory for {} runs.", block.runs.size());
        runs_at_once = std::max(runs_at_once, block.runs.size());
        if (on_call)
            on_call();
        std::vector<std::vector<std::byte>> rows;
        std::vector<RowView> views;
        std::vector<RowView> sides{block.baseline};
        sides.insert(sides.end(), block.runs.begin(), block.runs.end());
        for (const RowView& side : sides)
            for (std::int64_t i = 0; block.keys && i < block.rows; ++i)
                if (const auto kept = kept_.find(name_of(side, block.vocab, block.keys[i])); kept != kept_.end())
                    kept->second.used = calls;
        for (const RowView& side : sides) {
            auto taken = take(side, block);
            if (!taken)
                return tl::unexpected(taken.error());
            rows.push_back(std::move(*taken));
            const auto width = static_cast<std::int64_t>(size_of(side.type)) * block.vocab;
            views.push_back({rows.back().data(), side.type, width});
        }
        const std::span runs = std::span(views).subspan(1);
        return cpu_->compute_runs({views[0], runs, block.rows, block.vocab, block.next_ids}, out, stop);
    }

    bool holds(const flipscope::RowView& view, std::int32_t vocab, std::span<const std::int64_t> keys) const override
    {
        if (++asked_ == forgets_when_asked)
            kept_.clear();
        return std::all_of(keys.begin(), keys.end(),
                           [&](std::int64_t key) { return kept_.contains(name_of(view, vocab, key)); });
    }

    std::vector<std::string> take_notices() override { return std::exchange(notices, {}); }

    void forget_at_question(int n) { forgets_when_asked = asked_ + n; }

    std::int64_t bytes_of_a_block = 16 << 10;
    std::size_t most_kept = 1 << 20; ///< rows
    std::size_t most_runs = 100;
    int lost_at = 1 << 30, calls = 0;
    std::size_t runs_at_once = 0; ///< the most that came
    std::function<void()> on_call;
    std::vector<std::string> notices;

private:
    using Name = std::tuple<std::uint64_t, std::int64_t, flipscope::LogitType, std::int32_t>;
    struct Row {
        std::vector<std::byte> bytes;
        int used;
    };

    static Name name_of(const flipscope::RowView& view, std::int32_t vocab, std::int64_t key)
    {
        return {view.source, key, view.type, vocab};
    }

    flipscope::Result<std::vector<std::byte>> take(const flipscope::RowView& side, const flipscope::RunsBlock& block)
    {
        const std::size_t width = size_of(side.type) * static_cast<std::size_t>(block.vocab);
        std::vector<std::byte> all;
        for (std::int64_t i = 0; i < block.rows; ++i) {
            const bool named = side.source != 0 && block.keys;
            const Name name = name_of(side, block.vocab, named ? block.keys[i] : 0);
            const auto kept = named ? kept_.find(name) : kept_.end();
            if (kept != kept_.end()) {
                all.insert(all.end(), kept->second.bytes.begin(), kept->second.bytes.end());
                continue;
            }
            if (!side.data)
                return fail(flipscope::ErrorKind::Usage, "A row is asked for that is not kept any more.");
            const std::byte* from = side.data + i * side.stride;
            all.insert(all.end(), from, from + width);
            if (named)
                keep(name, {from, from + width});
        }
        return all;
    }

    void keep(const Name& name, std::vector<std::byte> bytes)
    {
        if (kept_.size() >= most_kept) {
            const auto oldest = std::min_element(
                kept_.begin(), kept_.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
            if (oldest == kept_.end() || oldest->second.used == calls)
                return;
            kept_.erase(oldest);
        }
        kept_[name] = {std::move(bytes), calls};
    }

    mutable std::map<Name, Row> kept_;
    mutable int asked_ = 0;
    int forgets_when_asked = -1;
    std::unique_ptr<flipscope::Engine> cpu_ = flipscope::make_cpu_engine(1);
};
