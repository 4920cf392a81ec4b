// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/joined_rows.h"

#include <algorithm>

namespace flipscope::formats {

namespace {

class JoinedRows : public RowSource {
public:
    explicit JoinedRows(std::vector<std::shared_ptr<const RowSource>> parts) : parts_(std::move(parts))
    {
        starts_.reserve(parts_.size() + 1);
        starts_.push_back(0);
        for (const auto& part : parts_)
            starts_.push_back(starts_.back() + part->rows());
    }
    LogitType type() const override { return parts_.front()->type(); }
    std::int64_t rows() const override { return starts_.back(); }
    std::int64_t columns() const override { return parts_.front()->columns(); }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (first < 0 || count < 0 || first > rows() - count ||
            out.size() < static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(row_bytes()))
            return fail(ErrorKind::Usage, "Rows {} to {} were asked for, of {}.", first, first + count, rows());
        auto part =
            static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), first) - starts_.begin()) - 1;
        while (count > 0) {
            const std::int64_t within = first - starts_[part];
            const std::int64_t n = std::min(count, parts_[part]->rows() - within);
            if (n > 0)
                if (auto ok = parts_[part]->read(within, n, out); !ok)
                    return ok;
            out = out.subspan(static_cast<std::size_t>(n * row_bytes()));
            first += n;
            count -= n;
            ++part;
        }
        return {};
    }

private:
    std::vector<std::shared_ptr<const RowSource>> parts_;
    std::vector<std::int64_t> starts_; ///< of each part, and the end
};

} // namespace

std::shared_ptr<const RowSource> joined_rows(std::vector<std::shared_ptr<const RowSource>> parts)
{
    return std::make_shared<JoinedRows>(std::move(parts));
}

} // namespace flipscope::formats
