// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/llamacpp_statistics.h"

#include "core/base/memory_limit.h"
#include "core/formats/llamacpp_base.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

namespace flipscope {

namespace {

constexpr std::int64_t block_bytes = 32 << 20; // of both sides' rows, as float32

/// Running sums over tokens, as the tool keeps them.
struct Sums {
    std::int64_t n = 0, same_top = 0;
    double nll = 0, nll2 = 0, base = 0, base2 = 0, product = 0, kld = 0, kld2 = 0, dp = 0, dp2 = 0, dp4 = 0;

    void add(const LlamacppToken& t)
    {
        ++n;
        same_top += t.same_top ? 1 : 0;
        nll += t.nll;
        nll2 += t.nll * t.nll;
        base += t.nll_base;
        base2 += t.nll_base * t.nll_base;
        product += t.nll * t.nll_base;
        kld += t.kld;
        kld2 += t.kld * t.kld;
        dp += t.dp;
        const double square = t.dp * t.dp;
        dp2 += square;
        dp4 += square * square;
    }

    Uncertain mean(double sum, double sum_of_squares) const
    {
        if (n < 1)
            return {};
        const auto count = static_cast<double>(n);
        const double value = sum / count, variance = sum_of_squares / count - value * value;
        return {value, variance > 0 && n > 10 ? std::sqrt(variance / (count - 1)) : 0};
    }
    double covariance() const
    {
        const auto count = static_cast<double>(n);
        return n < 10 ? 0 : (product / count - nll / count * (base / count)) / (count - 1);
    }

    Uncertain ln_q() const { return mean(nll, nll2); }
    Uncertain ln_base() const { return mean(base, base2); }
    static Uncertain exponential(const Uncertain& u) { return {std::exp(u.value), std::exp(u.value) * u.error}; }
    Uncertain ln_ratio() const
    {
        const Uncertain q = ln_q(), b = ln_base();
        return {q.value - b.value, std::sqrt(std::max(0.0, q.error * q.error + b.error * b.error - 2 * covariance()))};
    }
    Uncertain dp_rms() const
    {
        const Uncertain square = mean(dp2, dp4);
        const double rms = std::sqrt(square.value);
        return {rms, rms > 0 ? 0.5 / rms * square.error : 0};
    }
    Uncertain same() const
    {
        if (n < 1)
            return {};
        const double share = static_cast<double>(same_top) / static_cast<double>(n);
        return {share, n > 1 ? std::sqrt(share * (1 - share) / static_cast<double>(n - 1)) : 0};
    }
};

/// The tool's percentile: float arithmetic, linear between neighbours.
float percentile_of(const std::vector<float>& sorted, float share)
{
    if (share <= 0)
        return sorted.front();
    if (share >= 1)
        return sorted.back();
    float p = share * static_cast<float>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(p);
    p -= static_cast<float>(below);
    return (1 - p) * sorted[below] + p * sorted[std::min(below + 1, sorted.size() - 1)];
}

std::array<double, 13> percentiles(std::vector<float> values)
{
    std::array<double, 13> out{};
    out.fill(std::numeric_limits<double>::quiet_NaN());
    if (values.empty())
        return out;
    std::sort(values.begin(), values.end());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = percentile_of(values, static_cast<float>(LlamacppStatistics::shares[i]));
    const std::size_t n = values.size(); // the median has a rule of its own
    out[6] = n % 2 == 0 ? 0.5F * (values[n / 2] + values[n / 2 - 1]) : values[n / 2];
    return out;
}

bool is_valid(const LlamacppToken& t)
{
    // KLD is +inf where the run gives no probability to a token that the base deems possible: that is an answer.
    return !std::isnan(t.nll) && !std::isnan(t.nll_base) && !std::isnan(t.kld) && !std::isnan(t.dp);
}

/// Some matched rows in memory, widened or narrowed to float32, as the tool has them.
class Rows {
public:
    Rows(const Trace& trace, std::int64_t MatchedProbe::*row_of) : source_(*trace.probes.rows), row_of_(row_of) {}

    Result<void> read(std::span<const MatchedProbe> pairs)
    {
        const auto columns = static_cast<std::size_t>(source_.columns());
        values_.resize(pairs.size() * columns);
        raw_.resize(static_cast<std::size_t>(source_.row_bytes()));
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (auto ok = source_.read(pairs[i].*row_of_, 1, raw_); !ok)
                return ok;
            for (std::size_t v = 0; v < columns; ++v)
                values_[i * columns + v] = static_cast<float>(widen(raw_.data(), source_.type(), v));
        }
        return {};
    }
    std::span<const float> row(std::size_t i) const
    {
        const auto columns = static_cast<std::size_t>(source_.columns());
        return std::span(values_).subspan(i * columns, columns);
    }

private:
    const RowSource& source_;
    std::int64_t MatchedProbe::*row_of_;
    std::vector<std::byte> raw_;
    std::vector<float> values_;
};

/// Computes tokens of a block on all cores; each is independent of the others.
void compute_block(const Rows& base, const Rows& run, bool normalised, std::span<const std::int32_t> next,
                   std::span<LlamacppToken> out)
{
    std::atomic<std::size_t> taken = 0;
    const auto work = [&] {
        for (std::size_t i = taken++; i < out.size(); i = taken++)
            out[i] = llamacpp_token(base.row(i), run.row(i), next[i], normalised);
    };
    std::vector<std::jthread> helpers;
    for (unsigned n = 1;
         n < std::max(1u, std::min<unsigned>(std::thread::hardware_concurrency(), static_cast<unsigned>(out.size())));
         ++n)
        helpers.emplace_back(work);
    work();
}

Result<std::vector<LlamacppToken>> tokens_of(const Trace& baseline, const Trace& run,
                                             std::span<const MatchedProbe> pairs, const Job& job)
{
    std::vector<LlamacppToken> tokens(pairs.size());
    std::vector<std::int32_t> next(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i)
        next[i] = baseline.tokens.ids[static_cast<std::size_t>(pairs[i].position) + 1];
    Rows base_rows(baseline, &MatchedProbe::baseline_row), run_rows(run, &MatchedProbe::run_row);
    const auto pair_bytes = 8 * std::max<std::int64_t>(1, baseline.probes.n_vocab);
    const std::int64_t room = memory_limit() > 0 ? std::min(block_bytes, memory_limit()) : block_bytes;
    const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(1, room / pair_bytes));
    for (std::size_t first = 0; first < pairs.size(); first += at_once) {
        if (job.cancelled())
            return cancelled();
        const std::size_t n = std::min(at_once, pairs.size() - first);
        job.progress({fmt::format("llama.cpp's statistics of {}", run.run_name), static_cast<std::int64_t>(first),
                      static_cast<std::int64_t>(pairs.size()), false});
        for (Rows* rows : {&base_rows, &run_rows})
            if (auto ok = rows->read(pairs.subspan(first, n)); !ok)
                return tl::unexpected(ok.error());
        compute_block(base_rows, run_rows, is_llamacpp_base(run), std::span(next).subspan(first, n),
                      std::span(tokens).subspan(first, n));
    }
    return tokens;
}

/// Numbers, from 1, of the chunks that hold increasing positions.
class Chunks {
public:
    explicit Chunks(const Trace& trace)
    {
        for (const Span& span : trace.spans) // sorted by start
            if (span.kind == "chunk")
                starts_.push_back(span.start);
    }
    std::int64_t of(std::int64_t position) const
    {
        const auto behind = std::upper_bound(starts_.begin(), starts_.end(), position);
        return std::max<std::int64_t>(1, behind - starts_.begin());
    }

private:
    std::vector<std::int64_t> starts_;
};

void fill_totals(LlamacppStatistics& s, const Sums& sums)
{
    s.n = sums.n;
    const Uncertain q = sums.ln_q(), b = sums.ln_base();
    s.ppl_q = Sums::exponential(q);
    s.ppl_base = Sums::exponential(b);
    s.ln_ratio = sums.ln_ratio();
    s.ratio = Sums::exponential(s.ln_ratio);
    const double cov = sums.covariance();
    s.correlation = q.error * b.error > 0 ? cov / (q.error * b.error) : std::numeric_limits<double>::quiet_NaN();
    s.difference = {s.ppl_q.value - s.ppl_base.value,
                    std::sqrt(std::max(0.0, s.ppl_q.error * s.ppl_q.error + s.ppl_base.error * s.ppl_base.error -
                                                2 * s.ppl_q.value * s.ppl_base.value * cov))};
    s.kld_mean = sums.mean(sums.kld, sums.kld2);
    s.dp_mean = sums.mean(sums.dp, sums.dp2);
    s.dp_rms = sums.dp_rms();
    s.same_top = sums.same();
}

} // namespace

LlamacppToken llamacpp_token(std::span<const float> base, std::span<const float> logits, std::int32_t next,
                             bool normalised)
{
    std::size_t top = 0, top_base = 0; // the first of the largest
    for (std::size_t i = 1; i < logits.size(); ++i) {
        top = logits[i] > logits[top] ? i : top;
        top_base = base[i] > base[top_base] ? i : top_base;
    }
    float log_sum = -logits[top]; // so that the log-sum-exp is 0
    if (!normalised) {
        double sum = 0;
        for (const float z : logits)
            sum += std::exp(z - logits[top]); // in float32
        log_sum = static_cast<float>(std::log(sum));
    }
    const float lse = logits[top] + log_sum;
    LlamacppToken t;
    t.same_top = top == top_base;
    const auto id = static_cast<std::size_t>(next);
    t.nll = lse - logits[id];
    t.nll_base = -base[id];
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (base[i] > -16.0F)
            t.kld += std::exp(base[i]) * (base[i] - logits[i] + lse);
    t.dp = std::exp(-t.nll) - std::exp(-t.nll_base);
    return t;
}

Result<LlamacppStatistics> llamacpp_statistics(const Trace& baseline, const Trace& run, const Alignment& alignment,
                                               const Job& job)
{
    if (!run.probes.rows || alignment.top_k)
        return fail(ErrorKind::NotComparable, "llama.cpp's statistics need full rows, which {} does not hold.",
                    run.run_name);
    if (alignment.baseline_vocab != alignment.run_vocab)
        return fail(
            ErrorKind::NotComparable,
            "llama.cpp's statistics are not computed: the vocabularies differ ({} ids in the base file, {} in {}).",
            alignment.baseline_vocab, alignment.run_vocab, run.run_name);
    std::vector<MatchedProbe> pairs;
    for (const MatchedProbe& pair : alignment.probes) { // those with a next token to score
        const auto next = static_cast<std::size_t>(pair.position) + 1;
        if (next < baseline.tokens.ids.size() && baseline.tokens.ids[next] >= 0 &&
            baseline.tokens.ids[next] < alignment.baseline_vocab)
            pairs.push_back(pair);
    }
    const auto tokens = tokens_of(baseline, run, pairs, job);
    if (!tokens)
        return tl::unexpected(tokens.error());
    LlamacppStatistics s;
    s.run_is_codec = is_llamacpp_base(run);
    const Chunks chunks(baseline);
    Sums sums;
    std::vector<float> kld, dp;
    for (std::size_t i = 0; i < tokens->size(); ++i) {
        const LlamacppToken& t = (*tokens)[i];
        if (is_valid(t)) {
            sums.add(t);
            kld.push_back(static_cast<float>(t.kld));
            dp.push_back(t.dp);
        } else {
            ++s.n_invalid;
        }
        const std::int64_t chunk = chunks.of(pairs[i].position);
        if (i + 1 == tokens->size() || chunks.of(pairs[i + 1].position) != chunk)
            s.chunks.push_back({chunk, Sums::exponential(sums.ln_q()), sums.ln_ratio(), sums.mean(sums.kld, sums.kld2),
                                sums.dp_rms(), sums.same()});
    }
    fill_totals(s, sums);
    s.kld = percentiles(std::move(kld));
    s.dp = percentiles(std::move(dp));
    return s;
}

std::string llamacpp_text(const LlamacppStatistics& s)
{
    std::string text =
        fmt::format("As llama.cpp's --kl-divergence prints it, over {} tokens{}.\nCodec-limited: the base's values are "
                    "16-bit codes, "
                    "floored under the best; KLD below 1e-4 is noise and may be negative.\n",
                    s.n, s.n_invalid ? fmt::format(" ({} more hold no numbers and are left out)", s.n_invalid) : "");
    if (s.run_is_codec)
        text +=
            "The run comes from a base file as well, a rounded copy of what the tool would have seen: expect agreement "
            "to 1e-4.\n";
    if (s.n < llamacpp_least_tokens)
        text += fmt::format("The tool itself prints these from {} tokens on.\n", llamacpp_least_tokens);
    if (s.chunks.size() <= 64) {
        text += "\nchunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              Δp RMS "
                "      "
                "     Same top p\n";
        for (const LlamacppChunk& c : s.chunks)
            text += fmt::format("{:4}    {:9.4f} ± {:9.4f}    {:10.5f} ± {:10.5f}    {:10.5f} ± {:10.5f}    {:6.3f} ± "
                                "{:6.3f} %    {:6.3f} ± {:6.3f} %\n",
                                c.chunk, c.ppl.value, c.ppl.error, c.ln_ratio.value, c.ln_ratio.error, c.kld.value,
                                c.kld.error, 100 * c.dp_rms.value, 100 * c.dp_rms.error, 100 * c.same_top.value,
                                100 * c.same_top.error);
    }
    const auto line = [&](const char* label, const Uncertain& u) {
        text += fmt::format("{}: {:10.6f} ± {:10.6f}\n", label, u.value, u.error);
    };
    text += "\n====== Perplexity statistics ======\n";
    line("Mean PPL(Q)                   ", s.ppl_q);
    line("Mean PPL(base)                ", s.ppl_base);
    text += fmt::format("Cor(ln(PPL(Q)), ln(PPL(base))): {:6.2f}%\n", 100 * s.correlation);
    line("Mean ln(PPL(Q)/PPL(base))     ", s.ln_ratio);
    line("Mean PPL(Q)/PPL(base)         ", s.ratio);
    line("Mean PPL(Q)-PPL(base)         ", s.difference);
    static constexpr std::array<const char*, 13> labels = {"Maximum", "99.9%  ", "99.0%  ", "95.0%  ", "90.0%  ",
                                                           "75.0%  ", "Median ", "25.0%  ", "10.0%  ", " 5.0%  ",
                                                           " 1.0%  ", " 0.1%  ", "Minimum"};
    text += "\n====== KL divergence statistics ======\n";
    line("Mean    KLD", s.kld_mean);
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (i != 5 && i != 7) // the quartiles
            text += fmt::format("{} KLD: {:10.6f}\n", labels[i], s.kld[i]);
    text += "\n====== Token probability statistics ======\n";
    text += fmt::format("Mean    Δp: {:6.3f} ± {:5.3f} %\n", 100 * s.dp_mean.value, 100 * s.dp_mean.error);
    for (std::size_t i = 0; i < labels.size(); ++i)
        text += fmt::format("{} Δp: {:6.3f}%\n", labels[i], 100 * s.dp[i]);
    text += fmt::format("RMS Δp    : {:6.3f} ± {:5.3f} %\n", 100 * s.dp_rms.value, 100 * s.dp_rms.error);
    text += fmt::format("Same top p: {:6.3f} ± {:5.3f} %\n", 100 * s.same_top.value, 100 * s.same_top.error);
    return text;
}

} // namespace flipscope
