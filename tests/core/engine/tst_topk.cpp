// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Divergences of top-k lists. Expected numbers are worked out by hand or by a direct sum over the cells in long double.
#include "core/engine/engine.h"
#include "core/engine/topk.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace flipscope;

namespace {

using Ids = std::vector<std::int32_t>;
using Logs = std::vector<float>;

Logs logs(std::initializer_list<double> probabilities)
{
    Logs result;
    for (const double p : probabilities)
        result.push_back(static_cast<float>(std::log(p)));
    return result;
}

bool close(double got, double want, double relative)
{
    if (std::fabs(got - want) <= relative * std::fabs(want))
        return true;
    qWarning("%.17g instead of %.17g", got, want);
    return false;
}

/// sum p (ln p - ln q) over cells, as it stands in a textbook.
double textbook_kl(const std::vector<long double>& p, const std::vector<long double>& q)
{
    long double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
        sum += p[i] > 0 ? p[i] * (std::log(p[i]) - std::log(q[i])) : 0;
    return static_cast<double>(sum);
}

const float nan_f = std::numeric_limits<float>::quiet_NaN();
const float inf_f = std::numeric_limits<float>::infinity();

/// Two rows of logits that are alike, and their lists.
struct RowPairLists {
    std::vector<float> l, k;
    Ids ids_p, ids_q;
    Logs logs_p, logs_q;

    RowPairLists(unsigned seed, int vocab, int n, double noise)
    {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal;
        for (int i = 0; i < vocab; ++i) {
            l.push_back(static_cast<float>(3 * normal(random)));
            k.push_back(static_cast<float>(l.back() + noise * normal(random)));
        }
        list(l, n, ids_p, logs_p);
        list(k, n, ids_q, logs_q);
    }

    static long double lse(const std::vector<float>& row)
    {
        long double sum = 0;
        for (const float x : row)
            sum += std::exp(static_cast<long double>(x));
        return std::log(sum);
    }

    static void list(const std::vector<float>& row, int n, Ids& ids, Logs& values)
    {
        ids.resize(row.size());
        std::iota(ids.begin(), ids.end(), 0);
        std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return row[a] > row[b]; });
        ids.resize(n);
        for (const int id : ids)
            values.push_back(static_cast<float>(row[id] - lse(row)));
    }

    ProbeMetrics full(Engine& engine, std::int32_t next = -1) const
    {
        ProbeMetrics m{};
        PairBlock block;
        block.baseline = {reinterpret_cast<const std::byte*>(l.data()), LogitType::F32, 0};
        block.run = {reinterpret_cast<const std::byte*>(k.data()), LogitType::F32, 0};
        block.rows = 1;
        block.vocab = static_cast<std::int32_t>(l.size());
        block.next_ids = &next;
        if (!engine.compute(block, {&m, 1}, {}))
            qFatal("engine failed");
        return m;
    }
};

} // namespace

class TestTopK : public QObject {
    Q_OBJECT
private slots:
    void cells_worked_out_by_hand()
    {
        // P: a 1/2, b 1/4, c 1/8, rest 1/8. Q: a 1/4, b 1/4, d 1/4, rest 1/4.
        // Known on both sides: a, b; the rest is 1/4 against 1/2.
        const auto m =
            topk_metrics(Ids{10, 20, 30}, logs({0.5, 0.25, 0.125}), Ids{10, 20, 40}, logs({0.25, 0.25, 0.25}), 20);
        const double ln2 = std::log(2.0);
        QCOMPARE(m.valid, 1);
        QVERIFY(close(m.kl_pq, 0.5 * ln2 + 0 - 0.25 * ln2, 1e-7));
        QVERIFY(close(m.kl_qp, -0.25 * ln2 + 0 + 0.5 * ln2, 1e-7));
        QVERIFY(close(m.tv, 0.25, 1e-7));
        // M: 3/8, 1/4, 3/8.
        const double js = 0.5 * (0.5 * std::log(4.0 / 3) + 0.25 * std::log(2.0 / 3)) +
                          0.5 * (0.25 * std::log(2.0 / 3) + 0.5 * std::log(4.0 / 3));
        QVERIFY(close(m.js, js, 1e-6));
        QVERIFY(close(m.kept_p, 0.75, 1e-7));
        QVERIFY(close(m.kept_q, 0.5, 1e-7));
        QVERIFY(close(m.id_overlap, 2.0 / 3, 1e-15));
        QCOMPARE(m.argmax_p, 10);
        QCOMPARE(m.argmax_q, 10); // of three equal ones the lowest id
        QCOMPARE(m.flip, 0);
        QCOMPARE(m.tied, 1);
        QVERIFY(close(m.margin, ln2, 1e-6));
        QVERIFY(close(m.p_top, 0.5, 1e-7));
        QVERIFY(close(m.q_top, 0.25, 1e-7));
        QCOMPARE(m.rank, 1);
        QVERIFY(close(m.nll_p, std::log(4.0), 1e-7));
        QVERIFY(close(m.nll_q, std::log(4.0), 1e-7));
        QVERIFY(std::fabs(m.dp) < 1e-8);
        QCOMPARE(m.differing, 3); // a; c and d stand on one side only
        QVERIFY(std::isnan(m.entropy_p) && std::isnan(m.lse_q) && std::isnan(m.max_abs_dlogit));
        QVERIFY(std::isnan(m.top5_overlap)); // three ids do not tell
    }

    void what_is_not_listed_is_not_made_up()
    {
        const auto m = topk_metrics(Ids{1, 2}, logs({0.6, 0.2}), Ids{3, 2}, logs({0.5, 0.3}), 1);
        QCOMPARE(m.flip, 1);
        QVERIFY(std::isnan(m.q_top)); // 1 is not in Q's list
        QCOMPARE(m.rank, -1);
        QVERIFY(close(m.nll_p, -std::log(0.6), 1e-6));
        QVERIFY(std::isnan(m.nll_q) && std::isnan(m.dp));
        QVERIFY(close(m.kl_pq, textbook_kl({0.2L, 0.8L}, {0.3L, 0.7L}), 1e-6));
    }

    void identical_lists_give_zero()
    {
        const RowPairLists r(1, 1000, 20, 0.1);
        const auto m = topk_metrics(r.ids_p, r.logs_p, r.ids_p, r.logs_p, r.ids_p[3]);
        QCOMPARE(m.kl_pq, 0.0);
        QCOMPARE(m.kl_qp, 0.0);
        QCOMPARE(m.js, 0.0);
        QCOMPARE(m.tv, 0.0);
        QCOMPARE(m.dp, 0.0);
        QCOMPARE(m.differing, 0);
        QCOMPARE(m.id_overlap, 1.0);
        QCOMPARE(m.top10_overlap, 1.0);
    }

    void disjoint_lists_bound_nothing()
    {
        const auto m = topk_metrics(Ids{1, 2}, logs({0.6, 0.2}), Ids{3, 4}, logs({0.5, 0.3}), -1);
        QCOMPARE(m.valid, 1);
        QCOMPARE(m.kl_pq, 0.0);
        QCOMPARE(m.kept_p, 0.0);
        QCOMPARE(m.id_overlap, 0.0);
        QCOMPARE(m.flip, 1);
    }

    void case_33_no_values() // NaN and -inf in lists are no values, never summed
    {
        const auto m = topk_metrics(Ids{1, 2, 3, -1}, Logs{std::log(0.5F), nan_f, -inf_f, std::log(0.1F)},
                                    Ids{1, 2, 3, 4}, logs({0.25, 0.25, 0.125, 0.125}), 2);
        QVERIFY(close(m.kl_pq, 0.5 * std::log(2.0) + 0.5 * std::log(0.5 / 0.75), 1e-6));
        QVERIFY(close(m.id_overlap, 0.25, 1e-15));
        QVERIFY(std::isnan(m.nll_p));
        QVERIFY(close(m.nll_q, std::log(4.0), 1e-6));
        const auto nothing = topk_metrics(Ids{-1, 5}, Logs{0, nan_f}, Ids{1}, logs({0.5}), -1);
        QCOMPARE(nothing.valid, 0);
        QVERIFY(std::isnan(nothing.kl_pq) && std::isnan(nothing.kept_p));
        QCOMPARE(nothing.argmax_p, -1);
        QCOMPARE(topk_metrics(Ids{}, Logs{}, Ids{}, Logs{}, -1).valid, 0);
    }

    void case_30_repeated_id() // the first of two entries of one id counts
    {
        const auto m = topk_metrics(Ids{1, 1, 2}, logs({0.5, 0.25, 0.125}), Ids{1, 2}, logs({0.5, 0.125}), -1);
        QCOMPARE(m.kl_pq, 0.0);
        QCOMPARE(m.id_overlap, 1.0);
    }

    void case_46_lower_bound()
    {
        // Unlike lists of 20 from rows of 5,000: never negative, never above the full divergence, and equal to the sum
        // over the cells.
        const auto engine = make_reference_engine();
        for (unsigned seed = 0; seed < 300; ++seed) {
            const double noise = seed % 3 == 0 ? 0.01 : seed % 3 == 1 ? 0.3 : 1.5;
            const RowPairLists r(seed, 5000, 20, noise);
            const auto full = r.full(*engine);
            const auto m = topk_metrics(r.ids_p, r.logs_p, r.ids_q, r.logs_q, -1);
            QVERIFY(m.kl_pq >= 0 && m.kl_qp >= 0 && m.js >= 0);
            // The lists' values are rounded to float32: 1e-6 of slack.
            QVERIFY(m.kl_pq <= full.kl_pq + 1e-6 && m.kl_qp <= full.kl_qp + 1e-6);
            QVERIFY(m.js <= full.js + 1e-6 && m.tv <= full.tv + 1e-6);
            QCOMPARE(m.flip, full.flip);
            QCOMPARE(m.argmax_p, full.argmax_p);
            QCOMPARE(m.top5_overlap, full.top5_overlap);
            QCOMPARE(m.top10_overlap, full.top10_overlap);

            std::vector<long double> p, q;
            for (std::size_t i = 0; i < r.ids_p.size(); ++i)
                for (std::size_t j = 0; j < r.ids_q.size(); ++j)
                    if (r.ids_p[i] == r.ids_q[j]) {
                        p.push_back(std::exp(static_cast<long double>(r.logs_p[i])));
                        q.push_back(std::exp(static_cast<long double>(r.logs_q[j])));
                    }
            const long double kept_p = std::accumulate(p.begin(), p.end(), 0.0L);
            const long double kept_q = std::accumulate(q.begin(), q.end(), 0.0L);
            QCOMPARE(m.id_overlap, static_cast<double>(p.size()) / 20);
            p.push_back(1 - kept_p);
            q.push_back(1 - kept_q);
            QVERIFY(close(m.kept_p, static_cast<double>(kept_p), 1e-13));
            QVERIFY(std::fabs(m.kl_pq - textbook_kl(p, q)) < 1e-15 + 1e-10 * m.kl_pq);
            QVERIFY(std::fabs(m.kl_qp - textbook_kl(q, p)) < 1e-15 + 1e-10 * m.kl_qp);
        }
    }

    void case_46_nearly_all_mass_kept()
    {
        // Q's list adds up to 1 or a little more: rounding. Nothing infinite, nothing negative comes of it.
        const Logs all{-1e-7F, -20.F}, more{0.F, -14.F};
        for (const auto& [p, q] :
             {std::pair{all, more}, std::pair{more, all}, std::pair{more, more}, std::pair{all, all}}) {
            const auto m = topk_metrics(Ids{1, 2}, p, Ids{1, 2}, q, -1);
            QVERIFY(m.kl_pq >= 0 && m.kl_pq < 1e-5);
            QVERIFY(m.kl_qp >= 0 && m.kl_qp < 1e-5);
        }
        // P's rest is 1 %, Q's lost in rounding: the rest joins id 2, and 2 cells remain.
        const auto m = topk_metrics(Ids{1, 2}, logs({0.9, 0.09}), Ids{1, 2}, logs({0.5, 0.5}), -1);
        QVERIFY(close(m.kl_pq, textbook_kl({0.9L, 0.1L}, {0.5L, 0.5L}), 1e-6));
        QVERIFY(close(m.kl_qp, textbook_kl({0.5L, 0.5L}, {0.9L, 0.1L}), 1e-6));
        // A rest of 1e-4 beside one of 2e-4 is worth something, and 1 - x would lose half its digits.
        const auto fine = topk_metrics(Ids{1}, Logs{static_cast<float>(std::log1p(-1e-4))}, Ids{1},
                                       Logs{static_cast<float>(std::log1p(-2e-4))}, -1);
        const long double a = -std::expm1(static_cast<long double>(static_cast<float>(std::log1p(-1e-4))));
        const long double b = -std::expm1(static_cast<long double>(static_cast<float>(std::log1p(-2e-4))));
        QVERIFY(close(fine.kl_pq, textbook_kl({1 - a, a}, {1 - b, b}), 1e-10));
    }

    void case_44_fewer_than_asked() // 50 asked for, 20 given: the effective k counts
    {
        Ids ids(50, -1);
        Logs values(50, -inf_f);
        for (int i = 0; i < 20; ++i) {
            ids[i] = 100 + i;
            values[i] = std::log(0.03F);
        }
        QCOMPARE(topk_metrics(ids, values, ids, values, -1).id_overlap, 1.0);
    }

    void case_47_full_row_against_list()
    {
        // One full row reduced to the other's ids: its rest is exact, its own top and next token are known.
        const auto engine = make_reference_engine();
        for (unsigned seed = 0; seed < 60; ++seed) {
            const RowPairLists r(seed + 1000, 3000, 20, seed % 2 ? 0.3 : 2.0);
            const std::int32_t next = static_cast<std::int32_t>(seed * 37 % 3000);
            const auto full = r.full(*engine, next);
            const auto list = listed_probe(r.ids_p, r.logs_p);
            const auto row =
                restrict_row(reinterpret_cast<const std::byte*>(r.k.data()), LogitType::F32, 3000, list.ids, next);
            const auto m = topk_metrics(list, row, next);
            QVERIFY(m.kl_pq >= 0 && m.kl_pq <= full.kl_pq + 1e-6);
            QCOMPARE(m.id_overlap, 1.0);
            QCOMPARE(m.flip, full.flip);
            QCOMPARE(m.argmax_q, full.argmax_q);
            QCOMPARE(m.rank, full.rank);
            QVERIFY(close(m.q_top, full.q_top, 1e-12));
            QVERIFY(close(m.nll_q, full.nll_q, 1e-12));
            QCOMPARE(m.top10_overlap, full.top10_overlap);
            long double kept = 0;
            for (const auto id : r.ids_p)
                kept += std::exp(static_cast<long double>(r.k[id]) - RowPairLists::lse(r.k));
            QVERIFY(close(m.kept_q, static_cast<double>(kept), 1e-12));
            // The other way round, and the margin of the full row.
            const auto turned = topk_metrics(row, list, next);
            QVERIFY(close(turned.kl_pq, m.kl_qp, 1e-12)); // cells are added up in another order
            QCOMPARE(turned.argmax_p, full.argmax_q);
            QVERIFY(close(turned.p_top, std::exp(row.logprobs[0]), 1e-15));
        }
    }

    void full_row_of_its_own_list_differs_by_rounding_alone()
    {
        const RowPairLists r(5, 4000, 50, 0.1);
        const auto list = listed_probe(r.ids_p, r.logs_p);
        const auto row =
            restrict_row(reinterpret_cast<const std::byte*>(r.l.data()), LogitType::F32, 4000, list.ids, -1);
        const auto m = topk_metrics(list, row, -1);
        QVERIFY(m.kl_pq >= 0 && m.kl_pq < 1e-12);
        QCOMPARE(m.differing, 0);
        QCOMPARE(m.flip, 0);
        QCOMPARE(m.rank, 1);
    }

    void odd_full_rows()
    {
        const std::vector<float> good{1, 2, 3}, bad{1, nan_f, 3}, up{1, inf_f, 3}, none{-inf_f, -inf_f, -inf_f};
        const auto list = listed_probe(Ids{2, 1, 7}, logs({0.6, 0.3, 0.05}));
        for (const auto* row : {&bad, &up, &none}) {
            const auto cut =
                restrict_row(reinterpret_cast<const std::byte*>(row->data()), LogitType::F32, 3, list.ids, 0);
            QCOMPARE(topk_metrics(list, cut, 0).valid, 0);
        }
        const auto cut = restrict_row(reinterpret_cast<const std::byte*>(good.data()), LogitType::F32, 3, list.ids, 0);
        const auto m = topk_metrics(list, cut, 0); // id 7 is not in the row's vocabulary: it is part of the rest
        QCOMPARE(m.valid, 1);
        const long double z = std::exp(1.0L) + std::exp(2.0L) + std::exp(3.0L);
        QVERIFY(close(m.kl_pq,
                      textbook_kl({0.6L, 0.3L, 0.1L}, {std::exp(3.0L) / z, std::exp(2.0L) / z, std::exp(1.0L) / z}),
                      1e-6));
        // A listed id whose probability is 0 in the full row: infinite, and so said.
        const std::vector<float> masked{1, -inf_f, 3};
        const auto zero =
            restrict_row(reinterpret_cast<const std::byte*>(masked.data()), LogitType::F32, 3, list.ids, -1);
        const auto with_zero = topk_metrics(list, zero, -1);
        QCOMPARE(with_zero.valid, 1);
        QVERIFY(std::isinf(with_zero.kl_pq) && std::isfinite(with_zero.kl_qp) && with_zero.js <= std::log(2.0));
    }
};

QTEST_GUILESS_MAIN(TestTopK)
#include "tst_topk.moc"
