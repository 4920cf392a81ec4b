// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/converted_rows.h"

#include "core/trace/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace flipscope {

namespace {

Result<void> check_range(std::int64_t first, std::int64_t count, std::int64_t rows)
{
    if (first < 0 || count < 0 || first > rows - count)
        return fail(ErrorKind::Usage, "Rows {} to {} were asked for, of {}.", first, first + count, rows);
    return {};
}

class RoundedRows : public RowSource {
public:
    RoundedRows(std::shared_ptr<const RowSource> rows, LogitType type) : rows_(std::move(rows)), type_(type) {}
    LogitType type() const override { return type_; }
    std::int64_t rows() const override { return rows_->rows(); }
    std::int64_t columns() const override { return rows_->columns(); }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (auto ok = check_range(first, count, rows()); !ok)
            return ok;
        std::vector<std::byte> raw(static_cast<std::size_t>(rows_->row_bytes()));
        for (std::int64_t r = 0; r < count; ++r) {
            if (auto ok = rows_->read(first + r, 1, raw); !ok)
                return ok;
            std::byte* to = out.data() + r * row_bytes();
            for (std::size_t i = 0; i < static_cast<std::size_t>(columns()); ++i) {
                const std::uint16_t bits = narrow(widen(raw.data(), rows_->type(), i), type_);
                std::memcpy(to + 2 * i, &bits, sizeof bits);
            }
        }
        return {};
    }

private:
    std::shared_ptr<const RowSource> rows_;
    LogitType type_;
};

double log_sum_exp(const std::vector<double>& values)
{
    const double largest = *std::max_element(values.begin(), values.end());
    if (!std::isfinite(largest))
        return largest;
    double sum = 0;
    for (const double v : values)
        sum += std::exp(v - largest);
    return largest + std::log(sum);
}

std::vector<double> widened(std::span<const std::byte> row, LogitType type, std::int64_t columns)
{
    std::vector<double> values(static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = widen(row.data(), type, i);
    return values;
}

class BestOfRows : public TopKSource {
public:
    BestOfRows(std::shared_ptr<const RowSource> rows, std::int64_t k) : rows_(std::move(rows)), k_(k) {}
    std::int64_t rows() const override { return rows_->rows(); }
    std::int64_t k() const override { return k_; }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::int32_t> ids,
                      std::span<float> logprobs) const override
    {
        if (auto ok = check_range(first, count, rows()); !ok)
            return ok;
        std::vector<std::byte> raw(static_cast<std::size_t>(rows_->row_bytes()));
        std::vector<std::int32_t> order(static_cast<std::size_t>(rows_->columns()));
        const auto k = static_cast<std::size_t>(k_);
        for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
            if (auto ok = rows_->read(first + static_cast<std::int64_t>(r), 1, raw); !ok)
                return ok;
            const auto values = widened(raw, rows_->type(), rows_->columns());
            const auto row_ids = ids.subspan(r * k, k);
            const auto row_logprobs = logprobs.subspan(r * k, k);
            std::fill(row_ids.begin(), row_ids.end(), -1);
            std::fill(row_logprobs.begin(), row_logprobs.end(), -std::numeric_limits<float>::infinity());
            if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
                continue; // such a row has no best tokens
            std::iota(order.begin(), order.end(), 0);
            std::partial_sort(order.begin(), order.begin() + k_, order.end(), [&](auto a, auto b) {
                const double x = values[static_cast<std::size_t>(a)], y = values[static_cast<std::size_t>(b)];
                return x > y || (x == y && a < b);
            });
            const double lse = log_sum_exp(values);
            for (std::size_t i = 0; i < k; ++i) {
                const double logprob = values[static_cast<std::size_t>(order[i])] - lse;
                if (!std::isfinite(logprob)) // probability 0 is no entry
                    break;
                row_ids[i] = order[i];
                row_logprobs[i] = static_cast<float>(logprob);
            }
        }
        return {};
    }

private:
    std::shared_ptr<const RowSource> rows_;
    std::int64_t k_;
};

class BestOfLists : public TopKSource {
public:
    BestOfLists(std::shared_ptr<const TopKSource> lists, std::int64_t k) : lists_(std::move(lists)), k_(k) {}
    std::int64_t rows() const override { return lists_->rows(); }
    std::int64_t k() const override { return k_; }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::int32_t> ids,
                      std::span<float> logprobs) const override
    {
        std::vector<std::int32_t> all_ids(static_cast<std::size_t>(lists_->k()));
        std::vector<float> all_logprobs(all_ids.size());
        const auto k = static_cast<std::size_t>(k_);
        for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
            if (auto ok = lists_->read(first + static_cast<std::int64_t>(r), 1, all_ids, all_logprobs); !ok)
                return ok;
            std::copy_n(all_ids.begin(), k, ids.begin() + static_cast<std::ptrdiff_t>(r * k));
            std::copy_n(all_logprobs.begin(), k, logprobs.begin() + static_cast<std::ptrdiff_t>(r * k));
        }
        return {};
    }

private:
    std::shared_ptr<const TopKSource> lists_;
    std::int64_t k_;
};

class WatchedRows : public RowSource {
public:
    WatchedRows(std::shared_ptr<const RowSource> rows, const Job& job) : rows_(std::move(rows)), job_(job) {}
    LogitType type() const override { return rows_->type(); }
    std::int64_t rows() const override { return rows_->rows(); }
    std::int64_t columns() const override { return rows_->columns(); }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (job_.cancelled())
            return cancelled();
        job_.progress({"Writing", first * row_bytes(), rows() * row_bytes(), true});
        return rows_->read(first, count, out);
    }

private:
    std::shared_ptr<const RowSource> rows_;
    Job job_;
};

std::int32_t top_of(const std::vector<double>& values)
{
    return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

} // namespace

RoundedRow round_row(std::span<const std::byte> row, LogitType from, LogitType to, std::int64_t columns)
{
    RoundedRow r;
    const auto before = widened(row, from, columns);
    auto after = before;
    bool nan = false;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const std::uint16_t bits = narrow(before[i], to);
        after[i] = to == LogitType::F16 ? f16_to_float(bits) : bf16_to_float(bits);
        nan = nan || std::isnan(before[i]);
        if (!std::isfinite(before[i]))
            continue;
        if (std::isfinite(after[i]))
            r.max_abs_error = std::max(r.max_abs_error, std::fabs(after[i] - before[i]));
        else if (after[i] < 0)
            ++r.overflows;
        else {
            r.too_large = true;
            r.largest = std::max(r.largest, before[i]);
        }
    }
    r.lse = nan ? std::numeric_limits<double>::quiet_NaN() : log_sum_exp(before);
    if (!nan) {
        r.top_before = top_of(before);
        r.top_after = top_of(after);
    }
    return r;
}

std::shared_ptr<const RowSource> rounded_rows(std::shared_ptr<const RowSource> rows, LogitType type)
{
    return std::make_shared<RoundedRows>(std::move(rows), type);
}

std::shared_ptr<const TopKSource> best_of_rows(std::shared_ptr<const RowSource> rows, std::int64_t k)
{
    return std::make_shared<BestOfRows>(std::move(rows), k);
}

std::shared_ptr<const TopKSource> best_of_lists(std::shared_ptr<const TopKSource> lists, std::int64_t k)
{
    return std::make_shared<BestOfLists>(std::move(lists), k);
}

void watch_rows(Trace& trace, const Job& job)
{
    const auto watch = [&](ProbeSet& set) {
        if (set.rows)
            set.rows = std::make_shared<WatchedRows>(set.rows, job);
    };
    watch(trace.probes);
    for (ProbeSet& set : trace.dense)
        watch(set);
}

} // namespace flipscope
