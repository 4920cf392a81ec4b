// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/list_pairs.h"

#include "core/engine/topk.h"

#include <vector>

namespace flipscope {

namespace {

/// Reads one probe of a set at a time: a list, or a full row to be seen through the other side's list.
class Side {
public:
    Side(const ProbeSet& set, Hasher& hash) : set_(set), hash_(hash)
    {
        if (full())
            row_.resize(static_cast<std::size_t>(set.rows->row_bytes()));
        else {
            ids_.resize(static_cast<std::size_t>(set.lists->k()));
            logprobs_.resize(ids_.size());
        }
    }

    bool full() const { return set_.kind == ProbeSet::Kind::Full; }
    std::int64_t bytes() const
    {
        return static_cast<std::int64_t>(row_.size() + ids_.size() * sizeof(ids_[0]) +
                                         logprobs_.size() * sizeof(logprobs_[0]));
    }

    Result<void> read(std::int64_t row)
    {
        auto done = full() ? set_.rows->read(row, 1, row_) : set_.lists->read(row, 1, ids_, logprobs_);
        if (!done)
            return done;
        hash_.add(row_);
        hash_.add(std::as_bytes(std::span(ids_)));
        hash_.add(std::as_bytes(std::span(logprobs_)));
        return {};
    }

    ListedProbe list() const { return listed_probe(ids_, logprobs_); }
    ListedProbe through(const ListedProbe& other, std::int32_t next_id) const
    {
        return restrict_row(row_.data(), set_.rows->type(), static_cast<std::int32_t>(set_.rows->columns()), other.ids,
                            next_id);
    }

private:
    const ProbeSet& set_;
    Hasher& hash_;
    std::vector<std::byte> row_;
    std::vector<std::int32_t> ids_;
    std::vector<float> logprobs_;
};

ProbeMetrics metrics_of(const Side& p, const Side& q, std::int32_t next_id)
{
    if (p.full()) {
        const ListedProbe list = q.list();
        return topk_metrics(p.through(list, next_id), list, next_id);
    }
    const ListedProbe list = p.list();
    return topk_metrics(list, q.full() ? q.through(list, next_id) : q.list(), next_id);
}

} // namespace

Result<void> compute_list_pairs(const ProbeSet& baseline, const ProbeSet& run, std::span<const MatchedProbe> pairs,
                                std::span<const std::int32_t> next_ids, std::span<ProbeMetrics> out, RowHashes& hashes,
                                const std::stop_token& stop, const std::function<void(std::int64_t bytes)>& advanced)
{
    Side p(baseline, hashes.baseline), q(run, hashes.run);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (stop.stop_requested())
            return cancelled();
        if (auto read = p.read(pairs[i].baseline_row); !read)
            return read;
        if (auto read = q.read(pairs[i].run_row); !read)
            return read;
        out[i] = metrics_of(p, q, next_ids[i]);
        advanced(p.bytes() + q.bytes());
    }
    return {};
}

} // namespace flipscope
