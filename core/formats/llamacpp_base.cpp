// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/llamacpp_base.h"

#include "core/formats/bytes.h"
#include "core/formats/finish.h"
#include "core/trace/hdf5.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

namespace flipscope {

namespace {

using formats::BytesPtr;

constexpr std::string_view magic = "_logits_";
constexpr std::int64_t header_bytes = 20;
constexpr std::int64_t row_header_bytes = 8;
constexpr std::int64_t max_tokens = 1 << 27; // a hundred times what anybody evaluated
constexpr std::int64_t max_chunks = 1 << 18;

/// Where everything lies, as the header says.
struct Layout {
    std::int64_t n_ctx = 0, n_vocab = 0, n_chunk = 0;

    std::int64_t first() const { return n_ctx / 2; }
    std::int64_t rows_per_chunk() const { return n_ctx - 1 - first(); }
    std::int64_t rows() const { return n_chunk * rows_per_chunk(); }
    std::int64_t tokens() const { return n_chunk * n_ctx; }
    std::int64_t rows_at() const { return header_bytes + 4 * tokens(); }
    std::int64_t row_bytes() const { return 2 * (2 * ((n_vocab + 1) / 2) + 4); }
    std::int64_t position_of(std::int64_t row) const
    {
        return row / rows_per_chunk() * n_ctx + first() + row % rows_per_chunk();
    }
};

/// One row as it is stored.
struct StoredRow {
    float scale = 0, minimum = 0;
    std::vector<std::byte> bytes;

    std::span<const std::byte> codes() const { return std::span(bytes).subspan(row_header_bytes); }
};

float code_at(std::span<const std::byte> codes, std::size_t i)
{
    std::uint16_t q = 0; // rows need not be aligned
    std::memcpy(&q, codes.data() + 2 * i, sizeof q);
    return q;
}

void decode(const std::byte* row, std::int64_t n_vocab, std::byte* out)
{
    float scale = 0, minimum = 0;
    std::memcpy(&scale, row, sizeof scale);
    std::memcpy(&minimum, row + 4, sizeof minimum);
    const std::span codes(row + row_header_bytes, static_cast<std::size_t>(2 * n_vocab));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_vocab); ++i) {
        const float value = scale * code_at(codes, i) + minimum;
        std::memcpy(out + 4 * i, &value, sizeof value);
    }
}

class DecodedRows : public RowSource {
public:
    DecodedRows(BytesPtr bytes, const Layout& layout, std::int64_t rows, std::string name)
        : bytes_(std::move(bytes)), layout_(layout), rows_(rows), name_(std::move(name))
    {
    }
    LogitType type() const override { return LogitType::F32; }
    std::int64_t rows() const override { return rows_; }
    std::int64_t columns() const override { return layout_.n_vocab; }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (first < 0 || count < 0 || first > rows_ - count ||
            out.size() < static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(row_bytes()))
            return fail(ErrorKind::Usage, "{}: rows {} to {} were asked for, of {}.", name_, first, first + count,
                        rows_);
        const std::int64_t stored = layout_.row_bytes();
        const std::int64_t at_once = std::max<std::int64_t>(1, (1 << 20) / stored);
        std::vector<std::byte> block(
            static_cast<std::size_t>(std::min(at_once, std::max<std::int64_t>(count, 1)) * stored));
        for (std::int64_t done = 0; done < count; done += at_once) {
            const std::int64_t n = std::min(at_once, count - done);
            const auto offset = static_cast<std::uint64_t>(layout_.rows_at() + (first + done) * stored);
            if (auto ok = bytes_->read(offset, std::span(block).first(static_cast<std::size_t>(n * stored))); !ok)
                return ok;
            for (std::int64_t i = 0; i < n; ++i)
                decode(block.data() + i * stored, layout_.n_vocab, out.data() + (done + i) * row_bytes());
        }
        return {};
    }

private:
    BytesPtr bytes_;
    Layout layout_;
    std::int64_t rows_;
    std::string name_;
};

/// A base file while it is being opened.
struct Reading {
    const TraceFile& from;
    const OpenHints& hints;
    const Job& job;
    std::string name;
    BytesPtr bytes;
    Layout layout;
    std::int64_t rows = 0; ///< that are there, whole
    std::shared_ptr<Trace> trace = std::make_shared<Trace>();

    std::int64_t size() const { return static_cast<std::int64_t>(bytes->size()); }
    void add(Finding::Level level, std::string code, std::string text)
    {
        trace->findings.push_back({level, std::move(code), std::move(text)});
    }
    void note(std::string code, std::string text) { add(Finding::Level::Note, std::move(code), std::move(text)); }
    void warn(std::string code, std::string text) { add(Finding::Level::Warning, std::move(code), std::move(text)); }
};

Result<void> read_header(Reading& r)
{
    std::array<std::int32_t, 3> numbers = {};
    if (r.size() < header_bytes)
        return fail(ErrorKind::BadFormat, "{} is a llama.cpp base file that ends within its header, after {} bytes.",
                    r.name, r.size());
    if (auto ok = r.bytes->read(magic.size(), std::as_writable_bytes(std::span(numbers))); !ok)
        return ok;
    r.layout = {numbers[0], numbers[1], numbers[2]};
    const Layout& l = r.layout;
    if (l.n_ctx < 3 || l.n_vocab < 1 || l.n_chunk < 1)
        return fail(
            ErrorKind::BadFormat,
            "{} claims to be a llama.cpp base file of {} chunks of {} tokens with a vocabulary of {} ids, which "
            "cannot be; make it again.",
            r.name, l.n_chunk, l.n_ctx, l.n_vocab);
    if (l.tokens() > (r.size() - header_bytes) / 4)
        return fail(
            ErrorKind::BadFormat,
            "{} is a llama.cpp base file that ends within the list of its {} tokens ({} chunks of {}), after {} "
            "bytes; make it again.",
            r.name, l.tokens(), l.n_chunk, l.n_ctx, r.size());
    if (l.tokens() > max_tokens || l.n_chunk > max_chunks)
        return fail(ErrorKind::Unsupported,
                    "{} holds {} tokens in {} chunks, where at most {} in {} chunks can be shown.", r.name, l.tokens(),
                    l.n_chunk, max_tokens, max_chunks);
    return {};
}

Result<void> read_tokens(Reading& r)
{
    auto& ids = r.trace->tokens.ids;
    ids.resize(static_cast<std::size_t>(r.layout.tokens()));
    if (auto ok = r.bytes->read(header_bytes, std::as_writable_bytes(std::span(ids))); !ok)
        return ok;
    const auto odd = std::find_if(ids.begin(), ids.end(), [&](auto id) { return id < 0 || id >= r.layout.n_vocab; });
    if (odd != ids.end())
        return fail(
            ErrorKind::BadFormat,
            "{} holds the token id {} at position {}, outside of the vocabulary of {} ids that its header states: "
            "the header or the file is damaged; make it again.",
            r.name, *odd, odd - ids.begin(), r.layout.n_vocab);
    return {};
}

std::string chunks_text(std::int64_t n)
{
    return n == 1 ? "1 chunk" : fmt::format("{} chunks", n);
}

/// Files of a run that was stopped end somewhere; llama.cpp then prints no result and no error code.
Result<void> count_rows(Reading& r)
{
    const Layout& l = r.layout;
    const std::int64_t there = (r.size() - l.rows_at()) / l.row_bytes();
    r.rows = std::min(there, l.rows());
    if (r.rows < 1)
        return fail(ErrorKind::BadFormat,
                    "{} is a llama.cpp base file that ends before its first row is complete: nothing can be compared; "
                    "make it again.",
                    r.name);
    const std::int64_t whole = r.rows / l.rows_per_chunk(), rest = r.rows % l.rows_per_chunk();
    if (r.rows < l.rows())
        r.warn("incomplete",
               fmt::format("The file ends inside chunk {} of {}, after {} of its {} rows: {} and those rows "
                           "are used.",
                           whole + 1, l.n_chunk, rest, l.rows_per_chunk(), "whole " + chunks_text(whole)));
    const std::int64_t behind = r.size() - l.rows_at() - l.rows() * l.row_bytes();
    if (behind > 0)
        r.warn("trailing-bytes",
               fmt::format("{} bytes stand behind the last row that the header announces; they are ignored.", behind));
    return {};
}

Result<StoredRow> read_row(const Reading& r, std::int64_t row, bool with_codes)
{
    StoredRow out;
    out.bytes.resize(static_cast<std::size_t>(with_codes ? r.layout.row_bytes() : row_header_bytes));
    const auto offset = static_cast<std::uint64_t>(r.layout.rows_at() + row * r.layout.row_bytes());
    if (auto ok = r.bytes->read(offset, out.bytes); !ok)
        return tl::unexpected(ok.error());
    std::memcpy(&out.scale, out.bytes.data(), 4);
    std::memcpy(&out.minimum, out.bytes.data() + 4, 4);
    return out;
}

/// Codes are probabilities of all ids, so that they sum to 1 up to the codec: rounding, and the floor under each id.
bool sums_to_one(const StoredRow& row, std::int64_t n_vocab)
{
    if (std::isnan(row.scale) || std::isnan(row.minimum))
        return true; // one NaN in the logits spoils the whole row; the comparison counts it
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_vocab); ++i)
        sum += std::exp(static_cast<double>(row.scale * code_at(row.codes(), i) + row.minimum));
    return sum > 0.99 && sum < 1.01 + static_cast<double>(n_vocab) * std::exp(-16.0) * 1.01;
}

/// With a wrong width in the header every row but the first is read from the wrong place.
Result<void> check_rows(const Reading& r)
{
    const std::set<std::int64_t> some = {0, std::min<std::int64_t>(1, r.rows - 1), r.rows / 2, r.rows - 1};
    for (const std::int64_t i : some) {
        const auto row = read_row(r, i, true);
        if (!row)
            return tl::unexpected(row.error());
        if (!sums_to_one(*row, r.layout.n_vocab))
            return fail(
                ErrorKind::BadFormat,
                "{} claims a vocabulary of {} ids, but the probabilities of its row {} do not sum to 1: the header "
                "does not fit the rows (another vocabulary, or a damaged file); make it again.",
                r.name, r.layout.n_vocab, i);
    }
    return {};
}

/// How far below the best the floor is: that of the rows that reach it. A sample of the rows tells.
Result<void> find_floor(Reading& r)
{
    constexpr std::int64_t most = 4096;
    const std::int64_t step = std::max<std::int64_t>(1, (r.rows + most - 1) / most);
    float widest = 0;
    std::int64_t odd = 0;
    for (std::int64_t i = 0; i < r.rows; i += step) {
        if (i % 64 == 0 && r.job.cancelled())
            return cancelled();
        const auto row = read_row(r, i, false);
        if (!row)
            return tl::unexpected(row.error());
        const float range = 65535.0F * row->scale;
        if (std::isfinite(range))
            widest = std::max(widest, range);
        odd += std::isfinite(range) && std::isfinite(row->minimum) && range >= 0 ? 0 : 1;
    }
    const bool wide = widest > 16.001F;
    r.trace->run.emplace_back("codec", wide ? llamacpp_codec_24 : llamacpp_codec_16);
    r.trace->findings.push_back(*codec_finding(*r.trace));
    if (widest <= (wide ? 23.99F : 15.99F))
        r.note("floor-not-reached", "No row that was looked at reaches down to the floor.");
    if (odd > 0)
        r.warn("odd-rows",
               fmt::format("{} of the {} rows looked at hold no numbers: a NaN or an infinity spoiled them when "
                           "they were written.",
                           odd, (r.rows + step - 1) / step));
    return {};
}

/// What was fed may differ from what is stored: llama.cpp feeds BOS in place of each chunk's first token, where the
/// model uses one, and writes the text's own token.
Result<void> put_bos(Reading& r)
{
    auto& ids = r.trace->tokens.ids;
    const auto n_ctx = static_cast<std::size_t>(r.layout.n_ctx);
    std::set<std::int32_t> starts;
    for (std::size_t at = 0; at < ids.size(); at += n_ctx)
        starts.insert(ids[at]);
    if (r.hints.bos) {
        if (*r.hints.bos < 0 || *r.hints.bos >= r.layout.n_vocab)
            return fail(ErrorKind::Usage, "{}: the BOS id {} is outside of its vocabulary of {} ids.", r.name,
                        *r.hints.bos, r.layout.n_vocab);
        for (std::size_t at = 0; at < ids.size(); at += n_ctx)
            ids[at] = *r.hints.bos;
        r.note("bos",
               fmt::format("The first token of each chunk is shown as {}, which was fed in its place.", *r.hints.bos));
    } else if (starts.size() > 1) {
        r.note("bos-unknown",
               fmt::format(
                   "The first token of each chunk is the text's own ({} in chunk 1); if the model uses a BOS token, "
                   "llama.cpp fed that in its place, which the file does not tell.",
                   ids.front()));
    }
    return {};
}

void fill(Reading& r)
{
    Trace& t = *r.trace;
    const Layout& l = r.layout;
    t.format = "llama.cpp base file";
    for (std::int64_t c = 0; c < l.n_chunk; ++c)
        t.spans.push_back({c * l.n_ctx, (c + 1) * l.n_ctx, "chunk", fmt::format("chunk {}", c + 1)});
    t.probes.n_vocab = l.n_vocab;
    t.probes.scoring = "prefill";
    t.probes.values = "raw";
    t.probes.positions.reserve(static_cast<std::size_t>(r.rows));
    for (std::int64_t i = 0; i < r.rows; ++i)
        t.probes.positions.push_back(l.position_of(i));
    t.probes.rows = std::make_shared<DecodedRows>(r.bytes, l, r.rows, r.name);
    t.run.emplace_back("context_length", fmt::format("{}", l.n_ctx));
    t.run.emplace_back("engine", "llama.cpp (llama-perplexity)");
    t.run.emplace_back("sampling_positions",
                       fmt::format("{} to {} of each chunk of {}", l.first(), l.n_ctx - 2, l.n_ctx));
    r.note("chunks",
           fmt::format("Each of the {} chunks of {} tokens starts with an empty context, and only its second half "
                       "has rows: a position's context counts from the start of its chunk.",
                       l.n_chunk, l.n_ctx));
    r.note("not-stated", "A base file tells nothing of the model, its weights, its cache or the machine.");
}

Result<TracePtr> open_base(const TraceFile& from, const OpenHints& hints, const Job& job)
{
    Reading r{from, hints, job, h5::one_line(from.path.string()), {}, {}};
    auto bytes = formats::open_bytes(from.content, from.path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    r.bytes = std::move(*bytes);
    for (auto* step : {read_header, read_tokens, count_rows})
        if (auto ok = step(r); !ok)
            return tl::unexpected(ok.error());
    if (auto ok = check_rows(r); !ok)
        return tl::unexpected(ok.error());
    fill(r);
    for (auto* step : {find_floor, put_bos})
        if (auto ok = step(r); !ok)
            return tl::unexpected(ok.error());
    return formats::finish(std::move(r.trace), from, hints);
}

/// Kin of the format that nobody has described in full: named instead of being "of no kind".
Result<TracePtr> refuse_kin(const TraceFile& from, const OpenHints&, const Job&)
{
    return fail(ErrorKind::Unsupported,
                "{} is a file of logits by a relative of llama.cpp whose format this version does not read; have "
                "llama-perplexity write one with --kl-divergence-base, or export the rows as .npy.",
                h5::one_line(from.path.string()));
}

bool is_kin(std::string_view head)
{
    using namespace std::string_view_literals;
    for (const auto kin : {"_logits2"sv, "_logp16_"sv, "_logp16n"sv, "HFKLDR\0\0"sv})
        if (head.starts_with(kin))
            return true;
    return false;
}

} // namespace

std::optional<Finding> codec_finding(const Trace& trace)
{
    const std::string* codec = trace.setting("codec");
    const bool wide = codec && codec->starts_with(llamacpp_codec_24);
    if (codec == nullptr || (!wide && !codec->starts_with(llamacpp_codec_16)))
        return std::nullopt;
    return Finding{
        Finding::Level::Warning, "codec-limited",
        fmt::format(
            "Codec-limited: log-probabilities are stored in 16 bits, floored at {} nats under the best. KL below "
            "1e-4 nats a token is noise of the codec, small negative values of llama.cpp's KLD are normal, and "
            "tokens under the floor look likelier than they are.",
            wide ? 24 : 16)};
}

bool is_llamacpp_base(const Trace& trace)
{
    const std::string* codec = trace.setting("codec");
    return codec && (*codec == llamacpp_codec_16 || *codec == llamacpp_codec_24) && trace.probes.rows &&
           trace.probes.rows->type() == LogitType::F32;
}

TraceReader llamacpp_base_reader()
{
    return {"llama.cpp base file (--kl-divergence-base)",
            [](const std::filesystem::path&, std::string_view head) { return head.starts_with(magic) || is_kin(head); },
            [](const TraceFile& from, const OpenHints& hints, const Job& job) {
                return formats::guarded(from, [&] {
                    std::array<char, magic.size()> start = {};
                    const auto bytes = formats::open_bytes(from.content, from.path);
                    if (bytes && (*bytes)->read(0, std::as_writable_bytes(std::span(start))) &&
                        std::string_view(start.data(), start.size()) != magic)
                        return refuse_kin(from, hints, job);
                    return open_base(from, hints, job);
                });
            }};
}

} // namespace flipscope
