// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/topk_lists.h"

#include "core/trace/logit_encoding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace flipscope::h5 {

namespace {

constexpr std::uint64_t max_k = 1u << 20;

class FileLists : public TopKSource {
public:
    FileLists(std::shared_ptr<const File> file, Dataset ids, Dataset logprobs, Encoding encoding, std::int64_t n_vocab)
        : file_(std::move(file)), ids_(std::move(ids)), logprobs_(std::move(logprobs)), encoding_(encoding),
          n_vocab_(n_vocab)
    {
    }
    std::int64_t rows() const override { return static_cast<std::int64_t>(ids_.dims[0]); }
    std::int64_t k() const override { return static_cast<std::int64_t>(ids_.dims[1]); }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::int32_t> ids,
                      std::span<float> logprobs) const override
    {
        if (first < 0 || count < 0 || first > rows() - count ||
            ids.size() < static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(k()) ||
            logprobs.size() < static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(k()))
            return fail(ErrorKind::Usage, "{}: rows {} to {} were asked for, of {}.", name(ids_), first, first + count,
                        rows());
        const auto n = static_cast<std::size_t>(count * k());
        if (n == 0)
            return {};
        std::vector<std::int64_t> wide(n);
        if (auto ok = read_rows(ids_, H5T_NATIVE_INT64, first, count, wide.data()); !ok)
            return ok;
        for (std::size_t i = 0; i < n; ++i) {
            if (wide[i] < -1 || !std::in_range<std::int32_t>(wide[i]) || (n_vocab_ > 0 && wide[i] >= n_vocab_))
                return fail(ErrorKind::BadFormat, "{}: row {} names token {}, which is no id{}.", name(ids_),
                            first + static_cast<std::int64_t>(i) / k(), wide[i],
                            n_vocab_ > 0 ? fmt::format(" of a vocabulary of {}", n_vocab_) : "");
            ids[i] = static_cast<std::int32_t>(wide[i]);
        }
        if (auto ok = read_logprobs(first, count, logprobs.first(n)); !ok)
            return ok;
        for (std::int64_t row = 0; row < count; ++row)
            sort_row(ids.subspan(static_cast<std::size_t>(row * k()), static_cast<std::size_t>(k())),
                     logprobs.subspan(static_cast<std::size_t>(row * k()), static_cast<std::size_t>(k())));
        return check_mass(first, ids.first(n), logprobs.first(n));
    }

private:
    std::string name(const Dataset& d) const { return fmt::format("{}: {}", one_line(file_->path.string()), d.path); }

    Result<void> read_rows(const Dataset& d, hid_t memory_type, std::int64_t first, std::int64_t count, void* out) const
    {
        const Session session;
        const std::array<hsize_t, 2> start = {static_cast<hsize_t>(first), 0};
        const std::array<hsize_t, 2> size = {static_cast<hsize_t>(count), static_cast<hsize_t>(k())};
        const Handle stored(H5Screate_simple(2, d.dims.data(), nullptr));
        const Handle memory(H5Screate_simple(2, size.data(), nullptr));
        if (!stored || !memory ||
            H5Sselect_hyperslab(stored.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0 ||
            H5Dread(d.id.id(), memory_type, memory.id(), stored.id(), H5P_DEFAULT, out) < 0)
            return fail(ErrorKind::BadFormat, "{}: rows {} to {} cannot be read: {}.", name(d), first,
                        first + count - 1, last_error());
        return {};
    }

    Result<void> read_logprobs(std::int64_t first, std::int64_t count, std::span<float> out) const
    {
        std::vector<std::byte> raw(out.size() * logprobs_.type_size);
        if (auto ok = read_rows(logprobs_, logprobs_.type.id(), first, count, raw.data()); !ok)
            return ok;
        if (encoding_.swap)
            swap_elements(raw, logprobs_.type_size);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<float>(widen(raw.data(), encoding_.type, i));
        return {};
    }

    /// Logits, or logarithms of another base, stored in place of log probabilities would give numbers that look sound.
    /// What 16-bit rounding adds to a sum stays far below a twentieth.
    Result<void> check_mass(std::int64_t first, std::span<const std::int32_t> ids,
                            std::span<const float> logprobs) const
    {
        const auto width = static_cast<std::size_t>(k());
        for (std::size_t at = 0; at < ids.size(); at += width) {
            double mass = 0;
            for (std::size_t i = at; i < at + width; ++i)
                mass += ids[i] < 0 ? 0 : std::exp(static_cast<double>(logprobs[i]));
            if (mass > 1.05 && !std::isinf(mass)) // a value that is not finite is for the metrics to judge
                return fail(ErrorKind::BadFormat,
                            "{}: row {} adds up to a probability of {:.3g}, so these are no log probabilities; store "
                            "the natural logarithm of the softmax over the whole vocabulary, each id once.",
                            name(logprobs_), first + static_cast<std::int64_t>(at / width), mass);
        }
        return {};
    }

    /// Best first, missing entries last; entries of equal value keep the file's order.
    static void sort_row(std::span<std::int32_t> ids, std::span<float> logprobs)
    {
        const auto before = [&](std::size_t a, std::size_t b) {
            if ((ids[a] < 0) != (ids[b] < 0))
                return ids[b] < 0;
            return logprobs[a] > logprobs[b];
        };
        bool sorted = true;
        for (std::size_t i = 1; sorted && i < ids.size(); ++i)
            sorted = !before(i, i - 1);
        if (sorted || std::any_of(logprobs.begin(), logprobs.end(), [](float v) { return v != v; }))
            return; // a row with a NaN has no order, and is for the metrics to judge
        std::vector<std::size_t> order(ids.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), before);
        const std::vector<std::int32_t> old_ids(ids.begin(), ids.end());
        const std::vector<float> old_logprobs(logprobs.begin(), logprobs.end());
        for (std::size_t i = 0; i < order.size(); ++i) {
            ids[i] = old_ids[order[i]];
            logprobs[i] = old_logprobs[order[i]];
        }
    }

    std::shared_ptr<const File> file_;
    Dataset ids_, logprobs_;
    Encoding encoding_;
    std::int64_t n_vocab_;
};

} // namespace

Result<std::shared_ptr<const TopKSource>> open_lists(std::shared_ptr<const File> file, const Group& group,
                                                     std::int64_t n_vocab)
{
    auto ids = open_dataset(group, "top_ids");
    if (!ids)
        return tl::unexpected(ids.error());
    auto logprobs = open_dataset(group, "top_logprobs");
    if (!logprobs)
        return tl::unexpected(logprobs.error());
    if (ids->dims.size() != 2 || logprobs->dims != ids->dims || ids->dims[1] == 0 || ids->dims[1] > max_k)
        return fail(ErrorKind::BadFormat,
                    "{} ({}) and {} ({}) are not two tables of the same shape, one row of k entries for each position",
                    ids->path, ids->shape(), logprobs->path, logprobs->shape());
    if (ids->type_class != H5T_INTEGER || ids->type_size > 8)
        return fail(ErrorKind::BadFormat, "{} does not hold integers", ids->path);
    for (const Dataset* d : {&*ids, &*logprobs})
        if (auto ok = check_readable(*d, *group.file); !ok)
            return tl::unexpected(ok.error());
    const auto encoding = encoding_of(*logprobs, *group.file);
    if (!encoding)
        return tl::unexpected(encoding.error());
    return std::make_shared<FileLists>(std::move(file), std::move(*ids), std::move(*logprobs), *encoding, n_vocab);
}

} // namespace flipscope::h5
