// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gpu/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace oracle {

namespace {

using Real = long double;

double f16_value(std::uint16_t h)
{
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    double x;
    if (exponent == 31)
        x = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    else if (exponent == 0)
        x = std::ldexp(mantissa, -24);
    else
        x = std::ldexp(1024 + mantissa, exponent - 25);
    return h & 0x8000 ? -x : x;
}

std::uint16_t to_f16(double v)
{
    const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
    const double a = std::fabs(v);
    if (std::isnan(v))
        return 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    if (a < std::ldexp(1, -14)) // subnormal, or up to the first normal number
        return sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(a, 24)));
    int e;
    const double m = std::frexp(a, &e); // a = m * 2^e, m in [1/2, 1)
    // A mantissa that rounds up to 2048 carries into the exponent by itself.
    return sign |
           static_cast<std::uint16_t>(((e + 14) << 10) + static_cast<int>(std::nearbyint(std::ldexp(m, 11))) - 1024);
}

std::uint16_t to_bf16(double v)
{
    if (std::isnan(v))
        return 0x7fc0;
    const float f = static_cast<float>(v);
    std::uint32_t u;
    std::memcpy(&u, &f, 4);
    if (std::isinf(f))
        return static_cast<std::uint16_t>(u >> 16);
    return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

bool same_bits(double a, double b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Ids by logit descending, id ascending; the first k.
std::vector<int> top(const std::vector<double>& x, std::size_t k)
{
    std::vector<int> ids(x.size());
    std::iota(ids.begin(), ids.end(), 0);
    k = std::min(k, ids.size());
    std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k), ids.end(),
                      [&](int a, int b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
    ids.resize(k);
    return ids;
}

int common(const std::vector<int>& a, const std::vector<int>& b, std::size_t k)
{
    int n = 0;
    for (std::size_t i = 0; i < std::min(k, a.size()); i++)
        n += static_cast<int>(
            std::count(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(std::min(k, b.size())), a[i]));
    return n;
}

/// ln(sum e^x) as (largest, ln of the rest): their sum would round the rest away where logits are large.
struct Lse {
    Real max, log;
    Real value() const { return max + log; }
};

Lse lse(const std::vector<double>& x)
{
    const Real m = *std::max_element(x.begin(), x.end());
    Real s = 0;
    for (double v : x)
        s += expl(v - m);
    return {m, logl(s)};
}

} // namespace

std::size_t size_of(Type t)
{
    return t == f64 ? 8 : t == f32 ? 4 : 2;
}

double widen(const unsigned char* row, Type t, std::size_t i)
{
    std::uint16_t h;
    float f;
    double d;
    switch (t) {
    case bf16: {
        std::memcpy(&h, row + 2 * i, 2);
        const std::uint32_t u = static_cast<std::uint32_t>(h) << 16;
        std::memcpy(&f, &u, 4);
        return f;
    }
    case f16:
        std::memcpy(&h, row + 2 * i, 2);
        return f16_value(h);
    case f32:
        std::memcpy(&f, row + 4 * i, 4);
        return f;
    default:
        std::memcpy(&d, row + 8 * i, 8);
        return d;
    }
}

void store(unsigned char* row, Type t, std::size_t i, double v)
{
    const std::uint16_t h = t == f16 ? to_f16(v) : t == bf16 ? to_bf16(v) : 0;
    const float f = static_cast<float>(v);
    if (t == f64)
        std::memcpy(row + 8 * i, &v, 8);
    else if (t == f32)
        std::memcpy(row + 4 * i, &f, 4);
    else
        std::memcpy(row + 2 * i, &h, 2);
}

flipscope::ProbeMetrics compare(const unsigned char* p, Type tp, const unsigned char* q, Type tq, int vocab, int next)
{
    const auto n = static_cast<std::size_t>(vocab);
    std::vector<double> l(n), k(n);
    flipscope::ProbeMetrics m{};
    bool bad = false;
    for (std::size_t i = 0; i < n; i++) {
        l[i] = widen(p, tp, i);
        k[i] = widen(q, tq, i);
        const double inf = std::numeric_limits<double>::infinity();
        bad = bad || std::isnan(l[i]) || std::isnan(k[i]) || l[i] == inf || k[i] == inf;
        // Two NaN of one type are compared by their stored bits.
        m.differing +=
            tp == tq ? std::memcmp(p + i * size_of(tp), q + i * size_of(tq), size_of(tp)) != 0 : !same_bits(l[i], k[i]);
    }
    const double low = -std::numeric_limits<double>::infinity();
    bad = bad || *std::max_element(l.begin(), l.end()) == low || *std::max_element(k.begin(), k.end()) == low;
    if (bad) {
        m.argmax_p = m.argmax_q = -1;
        return m; // valid = 0; the caller knows that all else is NaN
    }
    m.valid = 1;
    const Lse a = lse(l), b = lse(k);
    const Real shift = (b.max - a.max) + (b.log - a.log);
    const Real inf = std::numeric_limits<Real>::infinity();
    Real pq = 0, qp = 0, js = 0, tv = 0, hp = 0, hq = 0;
    for (std::size_t i = 0; i < n; i++) {
        const Real lp = (l[i] - a.max) - a.log, lq = (k[i] - b.max) - b.log;
        const Real P = expl(lp), Q = expl(lq);
        const bool no_p = l[i] == low, no_q = k[i] == low;
        tv += fabsl(P - Q);
        m.max_abs_dlogit = std::max(m.max_abs_dlogit, l[i] == k[i] ? 0 : std::fabs(l[i] - k[i]));
        hp += P > 0 ? -P * lp : 0;
        hq += Q > 0 ? -Q * lq : 0;
        if (no_p && no_q)
            continue;
        if (no_p || no_q) {
            pq = no_q ? inf : pq + Q;
            qp = no_p ? inf : qp + P;
            js += (P + Q) * logl(2.0L);
            continue;
        }
        const Real x = ((Real)k[i] - (Real)l[i]) - shift; // ln q - ln p
        pq += fabsl(x) < 1 ? P * (expm1l(x) - x) : (Q - P) - P * x;
        qp += fabsl(x) < 1 ? Q * (expm1l(-x) + x) : (P - Q) + Q * x;
        // ln of the middle over p: log1p((e^x - 1) / 2); form B again, or plainly where both are far apart.
        if (fabsl(x) < 1) {
            const Real t1 = log1pl(expm1l(x) / 2), t2 = log1pl(expm1l(-x) / 2);
            js += P * (expm1l(t1) - t1) + Q * (expm1l(t2) - t2);
        } else {
            js += (P > 0 ? P * logl(2 * P / (P + Q)) : 0) + (Q > 0 ? Q * logl(2 * Q / (P + Q)) : 0);
        }
    }
    m.kl_pq = static_cast<double>(pq);
    m.kl_qp = static_cast<double>(qp);
    m.js = static_cast<double>(js / 2);
    m.tv = static_cast<double>(tv / 2);
    m.entropy_p = static_cast<double>(hp);
    m.entropy_q = static_cast<double>(hq);
    m.lse_p = static_cast<double>(a.value());
    m.lse_q = static_cast<double>(b.value());
    const std::vector<int> tops_p = top(l, 10), tops_q = top(k, 10);
    m.argmax_p = tops_p[0];
    m.argmax_q = tops_q[0];
    m.flip = m.argmax_p != m.argmax_q;
    m.tied = n > 1 && (l[tops_p[0]] == l[tops_p[1]] || k[tops_q[0]] == k[tops_q[1]]);
    m.margin = n > 1 ? l[tops_p[0]] - l[tops_p[1]] : std::numeric_limits<double>::quiet_NaN();
    m.rank = 1;
    for (std::size_t i = 0; i < n; i++)
        m.rank += k[i] > k[tops_p[0]] || (k[i] == k[tops_p[0]] && static_cast<int>(i) < tops_p[0]);
    m.p_top = static_cast<double>(expl(l[tops_p[0]] - a.value()));
    m.q_top = static_cast<double>(expl(k[tops_p[0]] - b.value()));
    m.top5_overlap = common(tops_p, tops_q, 5) / 5.0;
    m.top10_overlap = common(tops_p, tops_q, 10) / 10.0;
    m.nll_p = m.nll_q = m.dp = std::numeric_limits<double>::quiet_NaN();
    if (next >= 0 && next < vocab) {
        const Real lp = (l[next] - a.max) - a.log, lq = (k[next] - b.max) - b.log;
        m.nll_p = static_cast<double>(-lp);
        m.nll_q = static_cast<double>(-lq);
        m.dp = static_cast<double>(expl(lq) - expl(lp));
    }
    return m;
}

} // namespace oracle
