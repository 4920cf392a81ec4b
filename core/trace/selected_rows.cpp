// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/selected_rows.h"

#include "core/trace/content_key.h"
#include "core/trace/writer.h"

#include <algorithm>

namespace flipscope {

namespace {

/// Calls `read(first, count, done)` for each stretch of neighbouring numbers; `done` = entries already read.
template <class Read>
Result<void> for_stretches(std::span<const std::int64_t> numbers, Read read)
{
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t n = 1;
        while (i + n < numbers.size() && numbers[i + n] == numbers[i] + static_cast<std::int64_t>(n))
            ++n;
        if (auto ok = read(numbers[i], static_cast<std::int64_t>(n), i); !ok)
            return ok;
        i += n;
    }
    return {};
}

tl::unexpected<Error> out_of_range(std::int64_t first, std::int64_t count, std::int64_t rows)
{
    return fail(ErrorKind::Usage, "Rows {} to {} were asked for, of {}.", first, first + count, rows);
}

class SelectedRows : public RowSource {
public:
    SelectedRows(std::shared_ptr<const RowSource> source, std::vector<std::int64_t> numbers)
        : source_(std::move(source)), numbers_(std::move(numbers))
    {
    }
    LogitType type() const override { return source_->type(); }
    std::int64_t rows() const override { return static_cast<std::int64_t>(numbers_.size()); }
    std::int64_t columns() const override { return source_->columns(); }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (first < 0 || count < 0 || first > rows() - count)
            return out_of_range(first, count, rows());
        const auto wanted =
            std::span(numbers_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
        return for_stretches(wanted, [&](std::int64_t from, std::int64_t n, std::size_t done) {
            return source_->read(from, n, out.subspan(done * static_cast<std::size_t>(row_bytes())));
        });
    }

private:
    std::shared_ptr<const RowSource> source_;
    std::vector<std::int64_t> numbers_;
};

class FirstColumns : public RowSource {
public:
    FirstColumns(std::shared_ptr<const RowSource> source, std::int64_t columns)
        : source_(std::move(source)), columns_(columns)
    {
    }
    LogitType type() const override { return source_->type(); }
    std::int64_t rows() const override { return source_->rows(); }
    std::int64_t columns() const override { return columns_; }
    std::int64_t rows_at_once() const override { return source_->rows_at_once(); }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (first < 0 || count < 0 || first > rows() - count)
            return out_of_range(first, count, rows());
        // Whoever sizes a block by the few columns that stay must not make this one read the whole file at once.
        constexpr std::size_t most_bytes = 64 << 20;
        const auto whole = static_cast<std::size_t>(source_->row_bytes()), part = static_cast<std::size_t>(row_bytes());
        const auto at_once = static_cast<std::int64_t>(std::max<std::size_t>(1, most_bytes / whole));
        std::vector<std::byte> rows(whole * static_cast<std::size_t>(std::min(count, at_once)));
        for (std::int64_t done = 0; done < count; done += at_once) {
            const std::int64_t n = std::min(at_once, count - done);
            if (auto ok = source_->read(first + done, n, rows); !ok)
                return ok;
            for (std::int64_t i = 0; i < n; ++i)
                std::copy_n(rows.data() + static_cast<std::size_t>(i) * whole, part,
                            out.data() + static_cast<std::size_t>(done + i) * part);
        }
        return {};
    }

private:
    std::shared_ptr<const RowSource> source_;
    std::int64_t columns_;
};

class SelectedLists : public TopKSource {
public:
    SelectedLists(std::shared_ptr<const TopKSource> source, std::vector<std::int64_t> numbers)
        : source_(std::move(source)), numbers_(std::move(numbers))
    {
    }
    std::int64_t rows() const override { return static_cast<std::int64_t>(numbers_.size()); }
    std::int64_t k() const override { return source_->k(); }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::int32_t> ids,
                      std::span<float> logprobs) const override
    {
        if (first < 0 || count < 0 || first > rows() - count)
            return out_of_range(first, count, rows());
        const auto wanted =
            std::span(numbers_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
        return for_stretches(wanted, [&](std::int64_t from, std::int64_t n, std::size_t done) {
            const auto at = done * static_cast<std::size_t>(k());
            return source_->read(from, n, ids.subspan(at), logprobs.subspan(at));
        });
    }

private:
    std::shared_ptr<const TopKSource> source_;
    std::vector<std::int64_t> numbers_;
};

class MemoryRows : public RowSource {
public:
    MemoryRows(LogitType type, std::int64_t columns, std::vector<std::byte> data)
        : type_(type), columns_(columns), data_(std::move(data))
    {
    }
    LogitType type() const override { return type_; }
    std::int64_t rows() const override
    {
        return columns_ > 0 ? static_cast<std::int64_t>(data_.size()) / row_bytes() : 0;
    }
    std::int64_t columns() const override { return columns_; }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (first < 0 || count < 0 || first > rows() - count ||
            out.size() < static_cast<std::size_t>(count) * static_cast<std::size_t>(row_bytes()))
            return out_of_range(first, count, rows());
        const auto begin = data_.begin() + static_cast<std::ptrdiff_t>(first * row_bytes());
        std::copy(begin, begin + static_cast<std::ptrdiff_t>(count * row_bytes()), out.begin());
        return {};
    }

private:
    LogitType type_;
    std::int64_t columns_;
    std::vector<std::byte> data_;
};

template <class T>
void pick(std::vector<T>& values, std::span<const std::int64_t> numbers)
{
    if (values.empty())
        return;
    std::vector<T> out;
    out.reserve(numbers.size());
    for (const std::int64_t i : numbers)
        out.push_back(values[static_cast<std::size_t>(i)]);
    values = std::move(out);
}

} // namespace

void keep_rows(ProbeSet& set, std::span<const std::int64_t> row_numbers)
{
    std::vector<std::int64_t> numbers(row_numbers.begin(), row_numbers.end());
    pick(set.positions, numbers);
    pick(set.top1, numbers);
    pick(set.lse, numbers);
    if (set.rows)
        set.rows = std::make_shared<SelectedRows>(std::move(set.rows), numbers);
    if (set.lists)
        set.lists = std::make_shared<SelectedLists>(std::move(set.lists), std::move(numbers));
}

void keep_columns(ProbeSet& set, std::int64_t columns)
{
    if (set.kind != ProbeSet::Kind::Full || columns < 1 || columns >= set.n_vocab)
        return;
    set.n_vocab = columns;
    if (set.rows)
        set.rows = std::make_shared<FirstColumns>(std::move(set.rows), columns);
    set.lse.clear();
    if (std::any_of(set.top1.begin(), set.top1.end(), [&](std::int32_t id) { return id >= columns; }))
        set.top1.clear();
}

std::shared_ptr<const RowSource> rows_in_memory(LogitType type, std::int64_t columns, std::vector<std::byte> data)
{
    return std::make_shared<MemoryRows>(type, columns, std::move(data));
}

Trace select_probes(const Trace& trace, std::span<const std::int64_t> row_numbers)
{
    Trace out = trace;
    keep_rows(out.probes, row_numbers);
    out.content_key = content_key_of(out);
    return out;
}

} // namespace flipscope
