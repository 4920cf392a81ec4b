// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gpu/patterns.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace patterns {

namespace {

using oracle::Type;
using Random = std::mt19937_64;

/// A pair of rows under construction. `base` is a row as models give it: bulk about -1, one clear winner.
struct Pair {
    int vocab;
    unsigned char *p, *q;
    Type tp, tq;
    Random& random;

    double normal() { return std::normal_distribution<double>()(random); }
    int any_id() { return std::uniform_int_distribution<int>(0, vocab - 1)(random); }
    double base(int i) { return i == 7919 % vocab ? 18 : 2.5 * normal() - 1; }
    void set(int i, double l, double k)
    {
        oracle::store(p, tp, static_cast<std::size_t>(i), l);
        oracle::store(q, tq, static_cast<std::size_t>(i), k);
    }
    double l(int i) const { return oracle::widen(p, tp, static_cast<std::size_t>(i)); }
    void set_q(int i, double k) { oracle::store(q, tq, static_cast<std::size_t>(i), k); }
    /// Moves q's element to the next value of its type.
    void step(int i)
    {
        const std::size_t n = oracle::size_of(tq);
        std::uint64_t bits = 0;
        std::memcpy(&bits, q + n * static_cast<std::size_t>(i), n);
        bits += 1;
        std::memcpy(q + n * static_cast<std::size_t>(i), &bits, n);
    }
    void noise(double sd)
    {
        for (int i = 0; i < vocab; i++) {
            set(i, base(i), 0);
            set_q(i, l(i) + sd * normal());
        }
    }
    void same(double shift = 0)
    {
        for (int i = 0; i < vocab; i++) {
            set(i, base(i), 0);
            set_q(i, l(i) + shift);
        }
    }
};

const double inf = std::numeric_limits<double>::infinity();

struct Pattern {
    const char* name;
    std::function<void(Pair&)> fill;
};

void masks(Pair& r, double mask)
{
    for (int i = 0; i < r.vocab; i++) {
        const bool masked = i % 4 != 1 && r.vocab > 1;
        r.set(i, masked ? mask : r.base(i), 0);
        r.set_q(i, masked ? mask : r.l(i) + 0.1 * r.normal());
    }
}

const std::vector<Pattern>& all()
{
    static const std::vector<Pattern> list = {
        {"noise 0.3", [](Pair& r) { r.noise(0.3); }},
        {"noise 0.02", [](Pair& r) { r.noise(0.02); }},
        {"noise 0.03", [](Pair& r) { r.noise(0.03); }},
        {"noise 0.15", [](Pair& r) { r.noise(0.15); }},
        {"noise 0.5", [](Pair& r) { r.noise(0.5); }},
        {"noise 2", [](Pair& r) { r.noise(2); }},
        {"noise 1e-6", [](Pair& r) { r.noise(1e-6); }},
        {"peaked",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++) {
                 r.set(i, i == 5 % r.vocab ? 28 : r.base(i) - 4, 0);
                 r.set_q(i, r.l(i) + 0.1 * r.normal());
             }
         }},
        {"64 steps",
         [](Pair& r) {
             r.same();
             for (int i = 0; i < 64; i++)
                 r.step(r.any_id());
         }},
        {"one step",
         [](Pair& r) {
             r.same();
             r.step(r.vocab / 2);
         }},
        {"one step at the top",
         [](Pair& r) {
             r.same();
             r.step(7919 % r.vocab);
         }},
        {"one step early, small mass there",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++) {
                 const double x = i < 8192 ? r.base(i) - 25 : r.base(i);
                 r.set(i, x, 0);
                 r.set_q(i, r.l(i) + (i < 8192 ? 0.3 * r.normal() : 0));
             }
         }},
        {"shift 4",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++) { // halves and quarters: the shift is exact in every type
                 r.set(i, std::round(4 * r.base(i)) / 4, 0);
                 r.set_q(i, r.l(i) + 4);
             }
         }},
        {"shift 4 and steps",
         [](Pair& r) {
             r.same(4);
             for (int i = 0; i < 64; i++)
                 r.step(r.any_id());
         }},
        {"identical", [](Pair& r) { r.same(); }},
        {"equal masks", [](Pair& r) { masks(r, -inf); }},
        {"masks of the smallest float16", [](Pair& r) { masks(r, -65504); }},
        {"masks of -10000", [](Pair& r) { masks(r, -10000); }},
        {"mask in the run alone",
         [](Pair& r) {
             r.noise(0.1);
             r.set_q(r.any_id(), -inf);
             r.set_q(7919 % r.vocab, 18);
         }},
        {"mask in the baseline alone",
         [](Pair& r) {
             r.noise(0.1);
             if (r.vocab > 1)
                 oracle::store(r.p, r.tp, static_cast<std::size_t>(7920 % r.vocab), -inf);
         }},
        {"nearly all masked, top ten among them",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, i % 5000 == 0 ? 1 + 0.5 * r.normal() : -inf, i % 5000 == 0 ? 1 + 0.5 * r.normal() : -inf);
         }},
        {"all equal",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, 1.5, 1.5);
         }},
        {"all equal, shifted",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, 1.5, -3.25);
         }},
        {"few values, many ties",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, r.any_id() % 3, r.any_id() % 3);
         }},
        {"1e4 both ways",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++) {
                 r.set(i, 1e4 * (r.any_id() % 2001 - 1000) / 1000, 0);
                 r.set_q(i, r.l(i) * 0.999 + r.normal());
             }
         }},
        {"1e4, all near",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++) {
                 r.set(i, 9990 + 10 * r.normal(), 0);
                 r.set_q(i, r.l(i) + r.normal());
             }
         }},
        {"opposed by 1e4",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, i % 2 ? 1e4 : -1e4, i % 2 ? -1e4 : 1e4);
         }},
        {"large and negative",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++) {
                 r.set(i, -300 + 30 * r.normal(), 0);
                 r.set_q(i, r.l(i) + 0.5 * r.normal());
             }
         }},
        {"subnormal",
         [](Pair& r) {
             const double tiny = r.tp == oracle::f16 || r.tq == oracle::f16   ? 6e-8
                                 : r.tp == oracle::f64 && r.tq == oracle::f64 ? 5e-310
                                                                              : 1e-39;
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, tiny * r.normal() * 5, tiny * r.normal() * 5);
         }},
        {"zeros of both signs",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, i % 3 ? 0.0 : -0.0, i % 5 ? 0.0 : -0.0);
         }},
        {"top at zero, both signs",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i,
                       i % 97 == 3    ? -0.0
                       : i % 97 == 50 ? 0.0
                                      : -1 - r.any_id() % 4,
                       i % 97 == 4   ? -0.0
                       : i % 97 == 9 ? 0.0
                                     : -2);
         }},
        {"far scales",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, 8 * r.normal() * std::exp2(-r.any_id() % 24), 8 * r.normal() * std::exp2(-r.any_id() % 24));
         }},
        {"rising",
         [](Pair& r) { // every later element exceeds those before
             for (int i = 0; i < r.vocab; i++) {
                 r.set(i, 24.0 * i / r.vocab - 6, 0);
                 r.set_q(i, r.l(i) + 0.1 * r.normal());
             }
         }},
        {"unrelated",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, 4 * r.normal(), 4 * r.normal());
         }},
        {"far apart",
         [](Pair& r) {
             for (int i = 0; i < r.vocab; i++)
                 r.set(i, 30 * r.normal(), 30 * r.normal());
         }},
        {"NaN in the baseline",
         [](Pair& r) {
             r.noise(0.1);
             oracle::store(r.p, r.tp, static_cast<std::size_t>(r.any_id()), std::nan(""));
         }},
        {"NaN in the run",
         [](Pair& r) {
             r.noise(0.1);
             r.set_q(r.any_id(), std::nan(""));
         }},
        {"+inf",
         [](Pair& r) {
             r.noise(0.1);
             r.set_q(r.any_id(), inf);
         }},
        {"all masked",
         [](Pair& r) {
             r.noise(0.1);
             for (int i = 0; i < r.vocab; i++)
                 r.set_q(i, -inf);
         }},
    };
    return list;
}

} // namespace

int count()
{
    return static_cast<int>(all().size());
}
const char* name(int pattern)
{
    return all()[static_cast<std::size_t>(pattern)].name;
}

void fill(int pattern, int vocab, unsigned char* p, oracle::Type tp, unsigned char* q, oracle::Type tq)
{
    Random random(static_cast<std::uint64_t>(pattern) * 1000003 + static_cast<std::uint64_t>(vocab) * 17 +
                  static_cast<std::uint64_t>(tp) * 5 + static_cast<std::uint64_t>(tq));
    Pair pair{vocab, p, q, tp, tq, random};
    all()[static_cast<std::size_t>(pattern)].fill(pair);
}

} // namespace patterns
