// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/transposed.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

namespace flipscope::formats {

namespace {

constexpr std::uint64_t panel_bytes = 32u << 20; // twice that in memory

template <std::size_t size>
void turn(const std::byte* from, std::byte* to, std::uint64_t lines, std::uint64_t entries)
{
    constexpr std::uint64_t block = 64; // both sides of a block fit into the first cache
    for (std::uint64_t l0 = 0; l0 < lines; l0 += block)
        for (std::uint64_t e0 = 0; e0 < entries; e0 += block)
            for (std::uint64_t l = l0; l < std::min(lines, l0 + block); ++l)
                for (std::uint64_t e = e0; e < std::min(entries, e0 + block); ++e)
                    std::memcpy(to + (e * lines + l) * size, from + (l * entries + e) * size, size);
}

class TransposedBytes : public ByteSource {
public:
    TransposedBytes(BytesPtr bytes, std::string shown, std::uint64_t lines, std::uint64_t entries, std::uint64_t size)
        : bytes_(std::move(bytes)), shown_(std::move(shown)), lines_(lines), entries_(entries), size_(size)
    {
    }
    std::uint64_t size() const override { return lines_ * entries_ * size_; }

    Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override
    {
        BytesPtr turned;
        {
            const std::lock_guard lock(mutex_);
            if (!turned_) {
                auto made = make();
                if (!made) // the next read tries again: room on the disk may have been made
                    return tl::unexpected(made.error());
                turned_ = std::move(*made);
            }
            turned = turned_;
        }
        return turned->read(offset, out);
    }

private:
    /// Lines [first, first + n) × entries [from, from + m), turned over and written to their places.
    Result<void> move_panel(TemporaryFile& out, std::uint64_t first, std::uint64_t n, std::uint64_t from,
                            std::uint64_t m, std::vector<std::byte>& a, std::vector<std::byte>& b) const
    {
        a.resize(static_cast<std::size_t>(n * m * size_));
        b.resize(a.size());
        if (m == entries_) {
            if (auto ok = bytes_->read(first * entries_ * size_, a); !ok)
                return ok;
        } else {
            for (std::uint64_t l = 0; l < n; ++l)
                if (auto ok = bytes_->read(((first + l) * entries_ + from) * size_,
                                           std::span(a).subspan(static_cast<std::size_t>(l * m * size_),
                                                                static_cast<std::size_t>(m * size_)));
                    !ok)
                    return ok;
        }
        const auto turn_over = size_ == 2 ? turn<2> : size_ == 4 ? turn<4> : turn<8>;
        turn_over(a.data(), b.data(), n, m);
        for (std::uint64_t e = 0; e < m; ++e)
            if (auto ok = out.write(
                    ((from + e) * lines_ + first) * size_,
                    std::span(b).subspan(static_cast<std::size_t>(e * n * size_), static_cast<std::size_t>(n * size_)));
                !ok)
                return ok;
        return {};
    }

    Result<BytesPtr> make() const
    {
        auto out = TemporaryFile::create();
        if (!out)
            return tl::unexpected(out.error());
        std::vector<std::byte> a, b;
        const std::uint64_t m = std::min(entries_, std::max<std::uint64_t>(1, panel_bytes / size_));
        const std::uint64_t n = std::min(lines_, std::max<std::uint64_t>(1, panel_bytes / (m * size_)));
        for (std::uint64_t from = 0; from < entries_; from += m)
            for (std::uint64_t first = 0; first < lines_; first += n)
                if (auto ok =
                        move_panel(*out, first, std::min(n, lines_ - first), from, std::min(m, entries_ - from), a, b);
                    !ok)
                    return tl::unexpected(ok.error());
        return std::move(*out).into_bytes(shown_);
    }

    BytesPtr bytes_;
    std::string shown_;
    std::uint64_t lines_, entries_, size_;
    mutable std::mutex mutex_;
    mutable BytesPtr turned_;
};

} // namespace

BytesPtr transposed_bytes(BytesPtr bytes, std::string shown, std::uint64_t lines, std::uint64_t entries,
                          std::uint64_t element_size)
{
    return std::make_shared<TransposedBytes>(std::move(bytes), std::move(shown), lines, entries, element_size);
}

} // namespace flipscope::formats
