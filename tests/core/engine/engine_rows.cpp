// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/engine/engine_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace engine_test {

using namespace flipscope;

Rows::Rows(LogitType type, std::int32_t vocab, std::int64_t rows)
    : type_(type), vocab_(vocab), rows_(rows), stride_(static_cast<std::int64_t>(size_of(type)) * (vocab + 3)),
      offset_(size_of(type)), memory_(static_cast<std::size_t>(stride_ * rows) + offset_)
{
}

Rows::Rows(LogitType type, const std::vector<std::vector<double>>& values)
    : Rows(type, static_cast<std::int32_t>(values[0].size()), static_cast<std::int64_t>(values.size()))
{
    for (std::size_t r = 0; r < values.size(); ++r)
        for (std::size_t i = 0; i < values[r].size(); ++i)
            set(static_cast<std::int64_t>(r), i, values[r][i]);
}

void Rows::set(std::int64_t row, std::size_t i, double value)
{
    oracle::store(raw(row), static_cast<oracle::Type>(type_), i, value);
}

std::vector<ProbeMetrics> compute(Engine& engine, Rows& baseline, Rows& run, const std::vector<std::int32_t>& next)
{
    // Filled with rubbish, so that a field that is left out is seen.
    std::vector<ProbeMetrics> out(static_cast<std::size_t>(baseline.count()));
    std::memset(static_cast<void*>(out.data()), 0x5a, out.size() * sizeof(ProbeMetrics));
    PairBlock block;
    block.baseline = baseline.view();
    block.run = run.view();
    block.rows = baseline.count();
    block.vocab = baseline.vocab();
    block.next_ids = next.empty() ? nullptr : next.data();
    if (const auto done = engine.compute(block, out, {}); !done) {
        fmt::print(stderr, "{}: {}\n", engine.name(), done.error().message);
        std::abort();
    }
    return out;
}

ProbeMetrics compute_one(Engine& engine, LogitType type, const std::vector<double>& baseline,
                         const std::vector<double>& run, std::int32_t next)
{
    Rows p(type, {baseline}), q(type, {run});
    return compute(engine, p, q, {next})[0];
}

double scale_of(Rows& baseline, Rows& run, std::int64_t row)
{
    double largest = 0;
    for (Rows* side : {&baseline, &run})
        for (std::int32_t i = 0; i < side->vocab(); ++i)
            if (const double l = side->get(row, static_cast<std::size_t>(i)); std::isfinite(l))
                largest = std::max(largest, std::fabs(l));
    return 1 + largest;
}

namespace {

class Comparison {
public:
    explicit Comparison(Worst* worst) : worst_(worst) {}

    void exact(const char* name, double got, double want)
    {
        if (got != want && !(std::isnan(got) && std::isnan(want)))
            add(name, got, want);
    }

    void divergence(const char* name, double got, double want)
    {
        if (got == want)
            return;
        const double error = std::fabs(got - want);
        if (!(got >= 0) || !(error <= 1e-9 * std::max(want, 1e-12)))
            add(name, got, want);
        if (worst_ && want >= 1e-12 && std::isfinite(want))
            worst_->divergence = std::max(worst_->divergence, error / want);
    }

    void number(const char* name, double got, double want, double scale)
    {
        if (got == want || (std::isnan(got) && std::isnan(want)))
            return;
        const double allowed = std::max(1e-9 * std::fabs(want), 1e-14 * scale);
        if (!(std::fabs(got - want) <= allowed))
            add(name, got, want);
        if (worst_)
            worst_->rest = std::max(worst_->rest, std::fabs(got - want) / allowed);
    }

    void nan(const char* name, double got)
    {
        if (!std::isnan(got))
            add(name, got, std::nan(""));
    }

    std::string text;

private:
    void add(const char* name, double got, double want)
    {
        text += fmt::format("{}{} {:.17g} instead of {:.17g}", text.empty() ? "" : "; ", name, got, want);
    }

    Worst* worst_;
};

} // namespace

std::string difference(const ProbeMetrics& got, const ProbeMetrics& want, double scale, Worst* worst)
{
    Comparison c(worst);
    c.exact("valid", got.valid, want.valid);
    c.exact("differing", static_cast<double>(got.differing), static_cast<double>(want.differing));
    if (!want.valid) {
        for (const double x : {got.kl_pq, got.kl_qp, got.js, got.tv, got.margin, got.p_top, got.q_top, got.entropy_p,
                               got.entropy_q, got.nll_p, got.nll_q, got.dp, got.max_abs_dlogit, got.lse_p, got.lse_q,
                               got.top5_overlap, got.top10_overlap})
            c.nan("a number of an invalid probe", x);
        c.exact("argmax_p", got.argmax_p, -1);
        c.exact("argmax_q", got.argmax_q, -1);
        c.exact("rank", got.rank, -1);
        c.exact("flip", got.flip, 0);
        c.exact("tied", got.tied, 0);
        return c.text;
    }
    c.divergence("kl_pq", got.kl_pq, want.kl_pq);
    c.divergence("kl_qp", got.kl_qp, want.kl_qp);
    c.divergence("js", got.js, want.js);
    c.number("tv", got.tv, want.tv, scale);
    c.number("p_top", got.p_top, want.p_top, scale);
    c.number("q_top", got.q_top, want.q_top, scale);
    c.number("entropy_p", got.entropy_p, want.entropy_p, scale);
    c.number("entropy_q", got.entropy_q, want.entropy_q, scale);
    c.number("nll_p", got.nll_p, want.nll_p, scale);
    c.number("nll_q", got.nll_q, want.nll_q, scale);
    c.number("dp", got.dp, want.dp, scale);
    c.number("lse_p", got.lse_p, want.lse_p, scale);
    c.number("lse_q", got.lse_q, want.lse_q, scale);
    c.exact("margin", got.margin, want.margin);
    c.exact("max_abs_dlogit", got.max_abs_dlogit, want.max_abs_dlogit);
    c.exact("top5_overlap", got.top5_overlap, want.top5_overlap);
    c.exact("top10_overlap", got.top10_overlap, want.top10_overlap);
    c.exact("argmax_p", got.argmax_p, want.argmax_p);
    c.exact("argmax_q", got.argmax_q, want.argmax_q);
    c.exact("rank", got.rank, want.rank);
    c.exact("flip", got.flip, want.flip);
    c.exact("tied", got.tied, want.tied);
    return c.text;
}

bool same_bits(const ProbeMetrics& a, const ProbeMetrics& b)
{
    return std::memcmp(&a, &b, offsetof(ProbeMetrics, flip_top1)) == 0;
}

std::vector<std::unique_ptr<Engine>> engines()
{
    std::vector<std::unique_ptr<Engine>> all;
    all.push_back(make_reference_engine());
    all.push_back(make_cpu_engine(2));
    return all;
}

} // namespace engine_test
