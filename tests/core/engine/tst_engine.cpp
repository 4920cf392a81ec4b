// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What engines promise beside accuracy: odd values, ties, directions, invariances, bit-equality.
#include "tests/core/engine/engine_rows.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

using namespace flipscope;
using namespace engine_test;

namespace {

constexpr LogitType types[] = {LogitType::BF16, LogitType::F16, LogitType::F32, LogitType::F64};
const double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

bool close(double got, double want, double relative)
{
    if (got == want || std::fabs(got - want) <= relative * std::fabs(want))
        return true;
    qWarning("%.17g instead of %.17g", got, want);
    return false;
}

std::vector<double> noise(unsigned seed, std::size_t n, double sd)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, sd);
    std::vector<double> values(n);
    for (double& v : values)
        v = normal(random);
    return values;
}

/// Pairs of rows in which every row is another.
struct Pairs {
    Rows p, q;
    std::vector<std::int32_t> next;

    Pairs(LogitType tp, LogitType tq, std::int32_t vocab, int rows, double sd) : p(tp, vocab, rows), q(tq, vocab, rows)
    {
        for (int r = 0; r < rows; ++r) {
            const auto base = noise(static_cast<unsigned>(r), static_cast<std::size_t>(vocab), 3);
            const auto moved = noise(static_cast<unsigned>(r) + 77777, static_cast<std::size_t>(vocab), sd * (r % 5));
            for (std::size_t i = 0; i < base.size(); ++i) {
                p.set(r, i, base[i]);
                q.set(r, i, base[i] + moved[i]);
            }
            next.push_back(r * 31 % vocab);
        }
    }
};

/// The same rows, computed in blocks that begin at the given rows.
std::vector<ProbeMetrics> compute_cut(Engine& engine, Pairs& pairs, const std::vector<std::int64_t>& cuts)
{
    std::vector<ProbeMetrics> out(static_cast<std::size_t>(pairs.p.count()));
    for (std::size_t c = 0; c < cuts.size(); ++c) {
        const std::int64_t first = cuts[c], end = c + 1 < cuts.size() ? cuts[c + 1] : pairs.p.count();
        PairBlock block{pairs.p.view(first), pairs.q.view(first), end - first, pairs.p.vocab(),
                        pairs.next.data() + first};
        if (!engine.compute(block, std::span(out).subspan(static_cast<std::size_t>(first)), {}))
            qFatal("engine failed");
    }
    return out;
}

} // namespace

class TestEngine : public QObject {
    Q_OBJECT
private slots:
    void case_53_direction() // P = (1/2, 1/2), Q = (1/4, 3/4): by hand
    {
        const double l3 = std::log(3.0), l2 = std::log(2.0);
        for (const auto& engine : engines()) {
            const auto m = compute_one(*engine, LogitType::F64, {0, 0}, {0, l3}, 1);
            QVERIFY(close(m.kl_pq, 0.5 * std::log(4.0 / 3), 1e-13)); // 1/2 ln 2 + 1/2 ln(2/3)
            QVERIFY(close(m.kl_qp, 0.75 * l3 - l2, 1e-13));          // 1/4 ln(1/2) + 3/4 ln(3/2)
            QVERIFY(close(m.tv, 0.25, 1e-13));
            // M = (3/8, 5/8).
            const double js = 0.5 * (0.5 * std::log(4.0 / 3) + 0.5 * std::log(4.0 / 5)) +
                              0.5 * (0.25 * std::log(2.0 / 3) + 0.75 * std::log(6.0 / 5));
            QVERIFY(close(m.js, js, 1e-13));
            QVERIFY(close(m.entropy_p, l2, 1e-13));
            QVERIFY(close(m.entropy_q, 0.25 * std::log(4.0) + 0.75 * std::log(4.0 / 3), 1e-13));
            QVERIFY(close(m.nll_p, l2, 1e-13));
            QVERIFY(close(m.nll_q, -std::log(0.75), 1e-13));
            QVERIFY(close(m.dp, 0.25, 1e-13));
            QVERIFY(close(m.lse_p, l2, 1e-13));
            QVERIFY(close(m.lse_q, std::log(4.0), 1e-13));
            QCOMPARE(m.margin, 0.0);
            QCOMPARE(m.tied, 1); // P's two are equal: the lowest id wins, and Q's top is the other
            QCOMPARE(m.argmax_p, 0);
            QCOMPARE(m.argmax_q, 1);
            QCOMPARE(m.flip, 1);
            QCOMPARE(m.rank, 2);
            QVERIFY(close(m.p_top, 0.5, 1e-13));
            QVERIFY(close(m.q_top, 0.25, 1e-13));
            QCOMPARE(m.differing, 1);
            QCOMPARE(m.max_abs_dlogit, l3);
            // Turned round, the directions change places.
            const auto turned = compute_one(*engine, LogitType::F64, {0, l3}, {0, 0}, 1);
            QVERIFY(close(turned.kl_pq, m.kl_qp, 1e-13));
            QVERIFY(close(turned.kl_qp, m.kl_pq, 1e-13));
            QVERIFY(close(turned.js, m.js, 1e-13));
        }
    }

    void case_16_ties_and_single_steps()
    {
        for (const auto& engine : engines()) {
            // Equal best two in P; the run puts the higher id first by one step (0.125 between 16 and 32).
            std::vector<double> l(1000, -3), k(1000, -3);
            l[400] = l[700] = 20;
            k[400] = 20;
            k[700] = 20.125;
            auto m = compute_one(*engine, LogitType::BF16, l, k);
            QCOMPARE(m.argmax_p, 400);
            QCOMPARE(m.argmax_q, 700);
            QCOMPARE(m.flip, 1);
            QCOMPARE(m.tied, 1);
            QCOMPARE(m.margin, 0.0);
            QCOMPARE(m.rank, 2);
            QCOMPARE(m.differing, 1);
            QCOMPARE(m.max_abs_dlogit, 0.125);
            // One step apart in P, turned in Q: a flip, no tie, and the margin says it is a step.
            l[700] = 19.875;
            m = compute_one(*engine, LogitType::BF16, l, k);
            QCOMPARE(m.flip, 1);
            QCOMPARE(m.tied, 0);
            QCOMPARE(m.margin, 0.125);
            // A tie in the run's row alone: the lowest id wins there too, no flip.
            k[700] = 20;
            m = compute_one(*engine, LogitType::BF16, l, k);
            QCOMPARE(m.flip, 0);
            QCOMPARE(m.tied, 1);
            QCOMPARE(m.rank, 1);
            // The tie's lower id is another: a flip by the order of ids.
            k[100] = 20;
            m = compute_one(*engine, LogitType::BF16, l, k);
            QCOMPARE(m.argmax_q, 100);
            QCOMPARE(m.flip, 1);
            QCOMPARE(m.tied, 1);
            QCOMPARE(m.rank, 2); // behind id 100, ahead of id 700
            // Five nats apart.
            l[700] = 15;
            m = compute_one(*engine, LogitType::BF16, l, l);
            QCOMPARE(m.margin, 5.0);
            QCOMPARE(m.tied, 0);
            QCOMPARE(m.flip, 0);
        }
    }

    void less_that_is_wanted_has_the_same_bits()
    {
        Pairs pairs(LogitType::BF16, LogitType::BF16, 3001, 10, 0.3);
        Pairs wide(LogitType::F32, LogitType::F16, 3001, 10, 0.3);
        for (const auto& engine : engines())
            for (Pairs* rows : {&pairs, &wide}) {
                const auto with = [&](MetricSet wanted) {
                    std::vector<ProbeMetrics> out(10);
                    PairBlock block{rows->p.view(), rows->q.view(), 10, rows->p.vocab(), rows->next.data()};
                    block.wanted = wanted;
                    if (!engine->compute(block, out, {}))
                        qFatal("engine failed");
                    return out;
                };
                const auto kl = with(MetricSet::Kl), core = with(MetricSet::Core), full = with(MetricSet::Full);
                // Each is the full value, or nothing where it was not asked for.
                const auto same = [](double less, double all, bool asked) {
                    return less == all || (!asked && std::isnan(less)) || (std::isnan(less) && std::isnan(all));
                };
                for (std::size_t r = 0; r < 10; ++r)
                    for (const auto* less : {&kl[r], &core[r]}) {
                        const ProbeMetrics &m = *less, &all = full[r];
                        const bool has_core = less == &core[r];
                        QVERIFY(same(m.kl_pq, all.kl_pq, true) && same(m.kl_qp, all.kl_qp, true));
                        QVERIFY(same(m.margin, all.margin, true) && same(m.p_top, all.p_top, true));
                        QVERIFY(same(m.q_top, all.q_top, true) && same(m.lse_p, all.lse_p, true));
                        QVERIFY(same(m.lse_q, all.lse_q, true) && same(m.nll_p, all.nll_p, true));
                        QVERIFY(same(m.nll_q, all.nll_q, true) && same(m.dp, all.dp, true));
                        QVERIFY(m.argmax_p == all.argmax_p && m.argmax_q == all.argmax_q && m.rank == all.rank);
                        QVERIFY(m.flip == all.flip && m.tied == all.tied && m.valid && m.differing == all.differing);
                        QVERIFY(same(m.entropy_p, all.entropy_p, has_core) &&
                                same(m.entropy_q, all.entropy_q, has_core) &&
                                same(m.max_abs_dlogit, all.max_abs_dlogit, has_core));
                        QVERIFY(same(m.js, all.js, false) && same(m.tv, all.tv, false) &&
                                same(m.top5_overlap, all.top5_overlap, false) &&
                                same(m.top10_overlap, all.top10_overlap, false));
                    }
            }
    }

    void lowest_numbers_as_masks() // as frameworks write them in place of -inf, on both sides or one
    {
        const double floors[] = {-3.3895313892515355e38, -65504, -3.4028234663852886e38, -1e290};
        for (const auto& engine : engines())
            for (const LogitType type : types)
                for (const int sides :
                     {0, 1, 2, 3}) { // masked in: both, the run, the baseline; -inf against the lowest
                    const double floor = floors[static_cast<std::size_t>(type)];
                    auto l = noise(1, 2000, 3), k = noise(2, 2000, 3);
                    for (std::size_t i = 100; i < 2000; i += 3) {
                        l[i] = sides == 1 ? l[i] : sides == 3 ? -inf : floor;
                        k[i] = sides == 2 ? k[i] : floor;
                    }
                    Rows p(type, {l}), q(type, {k});
                    const auto t = static_cast<oracle::Type>(type);
                    const auto want = oracle::compare(p.raw(0), t, q.raw(0), t, 2000, 5);
                    const auto got = compute(*engine, p, q, {5})[0];
                    const auto wrong = difference(got, want, scale_of(p, q, 0));
                    QVERIFY2(wrong.empty(),
                             fmt::format("{}, {}, sides {}: {}", engine->name(), name_of(type), sides, wrong).c_str());
                }
    }

    void zeros_of_both_signs_are_equal_but_differ()
    {
        for (const auto& engine : engines())
            for (const LogitType type : types) {
                const auto m = compute_one(*engine, type, {-1, -0.0, 0.0, -2}, {-1, 0.0, -0.0, -2});
                QCOMPARE(m.differing, 2);
                QCOMPARE(m.argmax_p, 1); // -0 = +0, so the lowest id wins
                QCOMPARE(m.argmax_q, 1);
                QCOMPARE(m.tied, 1);
                QCOMPARE(m.flip, 0);
                QCOMPARE(m.margin, 0.0);
                QCOMPARE(m.kl_pq, 0.0);
                QCOMPARE(m.kl_qp, 0.0);
                QCOMPARE(m.js, 0.0);
                QCOMPARE(m.tv, 0.0);
                QCOMPARE(m.max_abs_dlogit, 0.0);
            }
    }

    void identical_rows_are_exactly_zero_and_one_bit_is_found()
    {
        for (const auto& engine : engines())
            for (const LogitType type : types) {
                const auto l = noise(3, 5003, 4);
                Rows p(type, {l}), q(type, {l});
                auto m = compute(*engine, p, q)[0];
                QCOMPARE(m.kl_pq, 0.0);
                QCOMPARE(m.kl_qp, 0.0);
                QCOMPARE(m.js, 0.0);
                QCOMPARE(m.tv, 0.0);
                QCOMPARE(m.differing, 0);
                QCOMPARE(m.max_abs_dlogit, 0.0);
                QCOMPARE(m.top10_overlap, 1.0);
                // The lowest bit of one logit, at the row's beginning, inside, and in its last, incomplete vector.
                for (const std::size_t at : {std::size_t{0}, std::size_t{2500}, std::size_t{5002}}) {
                    Rows changed(type, {l});
                    changed.raw(0)[at * size_of(type)] ^= 1;
                    m = compute(*engine, p, changed)[0];
                    QCOMPARE(m.differing, 1);
                    QVERIFY(m.max_abs_dlogit > 0);
                    QVERIFY(m.kl_pq >= 0 && m.kl_qp >= 0 && m.js >= 0 && m.tv >= 0);
                }
            }
    }

    void case_55_nan_and_infinities()
    {
        for (const auto& engine : engines())
            for (const LogitType type : types)
                for (const std::size_t vocab : {std::size_t{1}, std::size_t{3}, std::size_t{70}, std::size_t{4099}}) {
                    const auto base = noise(11, vocab, 2);
                    // Every kind of oddity in every place, one row each; the row in between stays healthy.
                    std::vector<std::vector<double>> ps, qs;
                    for (const double odd : {not_a_number, inf})
                        for (const std::size_t at : {std::size_t{0}, vocab / 2, vocab - 1})
                            for (const int side : {0, 1}) {
                                auto l = base, k = base;
                                (side ? k : l)[at] = odd;
                                ps.insert(ps.end(), {l, base});
                                qs.insert(qs.end(), {k, base});
                            }
                    const std::vector<double> nothing(vocab, -inf);
                    ps.insert(ps.end(), {nothing, base, base, nothing});
                    qs.insert(qs.end(), {base, base, nothing, nothing});
                    Rows p(type, ps), q(type, qs);
                    const auto got = compute(*engine, p, q);
                    for (std::size_t r = 0; r < got.size(); ++r) {
                        const bool healthy = r % 2 == 1 && r != got.size() - 1;
                        ProbeMetrics want{};
                        want.valid = healthy;
                        std::int64_t differing = 0;
                        for (std::size_t i = 0; i < vocab; ++i)
                            differing += std::memcmp(p.raw(static_cast<std::int64_t>(r)) + i * size_of(type),
                                                     q.raw(static_cast<std::int64_t>(r)) + i * size_of(type),
                                                     size_of(type)) != 0;
                        QCOMPARE(got[r].differing, differing);
                        if (healthy) {
                            QCOMPARE(got[r].valid, 1);
                            QCOMPARE(got[r].kl_pq, 0.0);
                            continue;
                        }
                        want.differing = differing;
                        const auto wrong = difference(got[r], want, 1);
                        QVERIFY2(wrong.empty(), wrong.c_str());
                    }
                }
    }

    void differing_sees_the_bits_of_nan()
    {
        // Two quiet NaN of equal bits do not differ, of different bits do; another type widens exactly.
        for (const auto& engine : engines()) {
            Rows p(LogitType::BF16, {{1, 2, 3}}), q(LogitType::BF16, {{1, 2, 3}});
            const auto put = [](Rows& rows, std::size_t i, std::uint16_t bits) {
                std::memcpy(rows.raw(0) + 2 * i, &bits, 2);
            };
            put(p, 1, 0x7fc1);
            put(q, 1, 0x7fc1);
            QCOMPARE(compute(*engine, p, q)[0].differing, 0);
            QCOMPARE(compute(*engine, p, q)[0].valid, 0);
            put(q, 1, 0x7fc3);
            QCOMPARE(compute(*engine, p, q)[0].differing, 1);
            Rows wide(LogitType::F32, {{1, 2, 3}});
            const std::uint32_t same = 0x7fc10000, other = 0x7fc10001;
            std::memcpy(wide.raw(0) + 4, &same, 4);
            QCOMPARE(compute(*engine, p, wide)[0].differing, 0);
            std::memcpy(wide.raw(0) + 4, &other, 4);
            QCOMPARE(compute(*engine, p, wide)[0].differing, 1);
            // A signalling NaN, which a conversion of float to double would turn into the quiet one.
            put(p, 1, 0x7f81);
            Rows widest(LogitType::F64, {{1, 2, 3}});
            const std::uint64_t quiet = 0x7ff8200000000000, signalling = 0x7ff0200000000000;
            std::memcpy(widest.raw(0) + 8, &signalling, 8);
            QCOMPARE(compute(*engine, p, widest)[0].differing, 0);
            std::memcpy(widest.raw(0) + 8, &quiet, 8);
            QCOMPARE(compute(*engine, p, widest)[0].differing, 1);
        }
    }

    void minus_infinity_is_probability_zero()
    {
        const double l2 = std::log(2.0);
        for (const auto& engine : engines())
            for (const LogitType type : types) {
                // Masked on both sides alike: as if the id were not there.
                auto m = compute_one(*engine, type, {0, -inf, 0, -inf}, {0, -inf, 0, -inf}, 1);
                QCOMPARE(m.valid, 1);
                QCOMPARE(m.kl_pq, 0.0);
                QCOMPARE(m.max_abs_dlogit, 0.0); // both are the same infinity
                QVERIFY(close(m.entropy_p, l2, 1e-14));
                QVERIFY(std::isinf(m.nll_p) && m.nll_p > 0);
                QCOMPARE(m.dp, 0.0);
                // P > 0 where Q = 0: P = (1/2, 1/2), Q = (1, 0).
                m = compute_one(*engine, type, {0, 0}, {0, -inf}, 1);
                QCOMPARE(m.valid, 1);
                QVERIFY(std::isinf(m.kl_pq) && m.kl_pq > 0);
                QVERIFY(close(m.kl_qp, l2, 1e-13));
                QVERIFY(close(m.tv, 0.5, 1e-13));
                QVERIFY(close(m.js, 0.5 * (0.5 * std::log(2.0 / 3) + 0.5 * l2) + 0.5 * std::log(4.0 / 3), 1e-13));
                QVERIFY(std::isinf(m.max_abs_dlogit));
                QVERIFY(close(m.nll_p, l2, 1e-13) && std::isinf(m.nll_q));
                QVERIFY(close(m.dp, -0.5, 1e-13));
                QCOMPARE(m.differing, 1);
                // And the other way.
                m = compute_one(*engine, type, {0, -inf}, {0, 0}, -1);
                QVERIFY(std::isinf(m.kl_qp) && m.kl_qp > 0);
                QVERIFY(close(m.kl_pq, l2, 1e-13));
                QVERIFY(std::isinf(m.margin));
                // Nothing in common: as far apart as distributions can be.
                m = compute_one(*engine, type, {0, -inf}, {-inf, 0}, -1);
                QVERIFY(std::isinf(m.kl_pq) && std::isinf(m.kl_qp));
                QVERIFY(close(m.js, l2, 1e-13));
                QVERIFY(close(m.tv, 1, 1e-13));
                QCOMPARE(m.flip, 1);
                QCOMPARE(m.rank, 2);
            }
    }

    void one_token_vocabulary()
    {
        for (const auto& engine : engines()) {
            const auto m = compute_one(*engine, LogitType::F32, {3}, {-2}, 0);
            QCOMPARE(m.valid, 1);
            QCOMPARE(m.kl_pq, 0.0);
            QCOMPARE(m.tv, 0.0);
            QCOMPARE(m.entropy_p, 0.0);
            QCOMPARE(m.p_top, 1.0);
            QCOMPARE(m.tied, 0);
            QVERIFY(std::isnan(m.margin));
            QCOMPARE(m.differing, 1);
            QCOMPARE(m.max_abs_dlogit, 5.0);
        }
    }

    void next_token_may_be_missing()
    {
        for (const auto& engine : engines()) {
            for (const std::int32_t next : {-1, 5, 1000}) { // none, and ids outside the compared vocabulary
                const auto m = compute_one(*engine, LogitType::F32, {1, 2, 3}, {3, 2, 1}, next);
                QVERIFY(std::isnan(m.nll_p) && std::isnan(m.nll_q) && std::isnan(m.dp));
            }
            Rows p(LogitType::F32, {{1, 2, 3}}), q(LogitType::F32, {{3, 2, 1}});
            QVERIFY(std::isnan(compute(*engine, p, q)[0].nll_p)); // no next ids at all
        }
    }

    void a_constant_changes_nothing()
    {
        for (const auto& engine : engines()) {
            auto l = noise(21, 20011, 3), k = noise(22, 20011, 0.05);
            for (std::size_t i = 0; i < l.size(); ++i) { // on a grid, so that adding a constant is exact in float64
                l[i] = std::round(l[i] * 4096) / 4096;
                k[i] = l[i] + std::round(k[i] * 4096) / 4096;
            }
            const auto plain = compute_one(*engine, LogitType::F64, l, k, 5);
            for (const double shift : {4.0, -700.0, 9000.0}) {
                auto moved = k;
                for (double& x : moved)
                    x += shift;
                auto want = plain;
                want.lse_q += shift;
                const auto got = compute_one(*engine, LogitType::F64, l, moved, 5);
                QVERIFY(close(got.kl_pq, plain.kl_pq, 1e-10));
                QVERIFY(close(got.kl_qp, plain.kl_qp, 1e-10));
                QVERIFY(close(got.js, plain.js, 1e-10));
                QVERIFY(close(got.tv, plain.tv, 1e-9));
                QCOMPARE(got.rank, plain.rank);
                QCOMPARE(got.argmax_q, plain.argmax_q);
            }
            // The same row, moved: no distance at all, though every bit differs.
            auto moved = l;
            for (double& x : moved)
                x += 8;
            const auto m = compute_one(*engine, LogitType::F64, l, moved);
            QVERIFY(m.kl_pq >= 0 && m.kl_pq < 1e-25);
            QVERIFY(m.js >= 0 && m.js < 1e-25);
        }
    }

    void a_permutation_changes_nothing()
    {
        for (const auto& engine : engines()) {
            const auto l = noise(31, 10007, 3), d = noise(32, 10007, 0.1);
            std::vector<double> k(l.size()), pl(l.size()), pk(l.size());
            std::vector<std::size_t> to(l.size());
            std::iota(to.begin(), to.end(), 0);
            std::shuffle(to.begin(), to.end(), std::mt19937(33));
            for (std::size_t i = 0; i < l.size(); ++i) {
                k[i] = l[i] + d[i];
                pl[to[i]] = l[i];
                pk[to[i]] = k[i];
            }
            const auto a = compute_one(*engine, LogitType::F64, l, k, 3);
            auto b = compute_one(*engine, LogitType::F64, pl, pk, static_cast<std::int32_t>(to[3]));
            QCOMPARE(static_cast<std::size_t>(b.argmax_p), to[static_cast<std::size_t>(a.argmax_p)]);
            QCOMPARE(static_cast<std::size_t>(b.argmax_q), to[static_cast<std::size_t>(a.argmax_q)]);
            b.argmax_p = a.argmax_p;
            b.argmax_q = a.argmax_q;
            const auto wrong = difference(b, a, 20);
            QVERIFY2(wrong.empty(), wrong.c_str());
            QVERIFY(close(b.kl_pq, a.kl_pq, 1e-12));
        }
    }

    void bit_equal_for_any_threads_and_blocks()
    {
        for (const LogitType tp : types)
            for (const LogitType tq : {tp, LogitType::F32}) {
                Pairs pairs(tp, tq, 3001, 23, 0.2);
                const auto one = make_cpu_engine(1);
                const auto want = compute_cut(*one, pairs, {0});
                for (const int threads : {1, 2, 5, 64}) {
                    const auto engine = make_cpu_engine(threads);
                    for (const auto& cuts : {std::vector<std::int64_t>{0}, {0, 1, 2, 3}, {0, 7, 22}, {0, 11}}) {
                        const auto got = compute_cut(*engine, pairs, cuts);
                        for (std::size_t r = 0; r < got.size(); ++r)
                            QVERIFY(same_bits(got[r], want[r]));
                    }
                }
            }
    }

    void several_runs_are_as_each_alone()
    {
        Pairs pairs(LogitType::BF16, LogitType::BF16, 1000, 6, 0.1),
            other(LogitType::BF16, LogitType::F32, 1000, 6, 0.3);
        const std::vector<RowView> runs{pairs.q.view(), other.q.view(), pairs.p.view()};
        for (const auto& engine : engines()) {
            const RunsBlock block{pairs.p.view(), runs, 6, 1000, pairs.next.data()};
            std::vector<ProbeMetrics> all(18), one(6);
            QVERIFY(engine->compute_runs(block, all, {}));
            for (std::size_t r = 0; r < runs.size(); ++r) {
                QVERIFY(engine->compute({pairs.p.view(), runs[r], 6, 1000, pairs.next.data()}, one, {}));
                for (std::size_t i = 0; i < one.size(); ++i)
                    QVERIFY(same_bits(all[6 * r + i], one[i]));
            }
            all.pop_back();
            const auto refused = engine->compute_runs(block, all, {});
            QVERIFY(!refused);
            QVERIFY(refused.error().message == "18 results do not fit into room for 17.");
            const std::vector<std::int64_t> keys{31, 63};
            QVERIFY(!engine->holds(pairs.p.view(), 1000, keys));
        }
    }

    void a_row_does_not_depend_on_where_it_lies()
    {
        // The same row at every offset from a cache line.
        const auto l = noise(41, 1013, 3), k = noise(42, 1013, 3);
        const auto engine = make_cpu_engine(1);
        for (const LogitType type : types) {
            const ProbeMetrics want = compute_one(*engine, type, l, k);
            std::vector<std::byte> memory(64 + 1013 * size_of(type) + 64), other = memory;
            Rows p(type, {l}), q(type, {k});
            for (std::size_t offset = 0; offset < 64; offset += size_of(type)) {
                std::memcpy(memory.data() + offset, p.row(0), 1013 * size_of(type));
                std::memcpy(other.data() + 64 - offset, q.row(0), 1013 * size_of(type));
                ProbeMetrics got{};
                QVERIFY(engine->compute(
                    {{memory.data() + offset, type, 0}, {other.data() + 64 - offset, type, 0}, 1, 1013, nullptr},
                    {&got, 1}, {}));
                auto expected = want;
                QVERIFY(same_bits(got, expected));
            }
        }
    }

    void stops_when_asked()
    {
        Pairs pairs(LogitType::F32, LogitType::F32, 1000, 8, 0.2);
        for (const auto& engine : engines()) {
            std::stop_source source;
            source.request_stop();
            std::vector<ProbeMetrics> out(8);
            const auto done =
                engine->compute({pairs.p.view(), pairs.q.view(), 8, 1000, nullptr}, out, source.get_token());
            QVERIFY(!done);
            QCOMPARE(done.error().kind, ErrorKind::Cancelled);
        }
    }

    void refuses_blocks_that_make_no_sense()
    {
        Pairs pairs(LogitType::F32, LogitType::F32, 10, 2, 0.2);
        std::vector<ProbeMetrics> out(2);
        for (const auto& engine : engines()) {
            const auto run = [&](std::int64_t rows, std::int32_t vocab, std::size_t space) {
                return engine->compute({pairs.p.view(), pairs.q.view(), rows, vocab, nullptr},
                                       std::span(out).first(space), {});
            };
            QVERIFY(run(2, 10, 2));
            QVERIFY(run(0, 10, 0)); // nothing to do
            for (const auto& done : {run(2, 10, 1), run(2, 0, 2), run(1, -3, 2), run(-1, 10, 2)}) {
                QVERIFY(!done);
                QCOMPARE(done.error().kind, ErrorKind::Usage);
                QVERIFY(done.error().message.ends_with("."));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestEngine)
#include "tst_engine.moc"
