// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The engines over types, widths and distributions, against 80-bit arithmetic that shares no code with them.
#include "tests/core/engine/engine_rows.h"
#include "tests/gpu/patterns.h"

#include <QTest>
#include <hwy/targets.h>
#include <map>

using namespace flipscope;
using namespace engine_test;

namespace {

constexpr LogitType types[] = {LogitType::BF16, LogitType::F16, LogitType::F32, LogitType::F64};

oracle::Type of(LogitType t)
{
    return static_cast<oracle::Type>(t);
}

struct Cell {
    Rows p, q;
    std::vector<std::int32_t> next;
    std::vector<ProbeMetrics> want;
    std::vector<double> scale;
};

/// One row for each of `chosen`.
Cell make_cell(LogitType tp, LogitType tq, std::int32_t vocab, const std::vector<int>& chosen)
{
    const auto rows = static_cast<std::int64_t>(chosen.size());
    Cell cell{Rows(tp, vocab, rows), Rows(tq, vocab, rows), {}, {}, {}};
    for (std::int64_t r = 0; r < rows; ++r) {
        patterns::fill(chosen[static_cast<std::size_t>(r)], vocab, cell.p.raw(r), of(tp), cell.q.raw(r), of(tq));
        cell.next.push_back(static_cast<std::int32_t>(r % 3 == 0 ? -1 : (r * 12345 + 7) % vocab));
        cell.want.push_back(oracle::compare(cell.p.raw(r), of(tp), cell.q.raw(r), of(tq), vocab, cell.next.back()));
        cell.scale.push_back(scale_of(cell.p, cell.q, r));
    }
    return cell;
}

std::vector<int> all_patterns()
{
    std::vector<int> all;
    for (int i = 0; i < patterns::count(); ++i)
        all.push_back(i);
    return all;
}

} // namespace

class TestAccuracy : public QObject {
    Q_OBJECT
    std::map<std::string, Worst> worst_;

    void check(const Cell& cell, LogitType tp, LogitType tq, std::int32_t vocab, const std::vector<int>& chosen)
    {
        Cell copy = cell;
        for (const auto& engine : engines()) {
            const auto got = compute(*engine, copy.p, copy.q, copy.next);
            for (std::size_t r = 0; r < got.size(); ++r) {
                const auto wrong =
                    difference(got[r], cell.want[r], cell.scale[r], &worst_[std::string(engine->name())]);
                if (!wrong.empty())
                    QFAIL(fmt::format("{}, {}/{}, vocabulary {}, \"{}\": {}", engine->name(), name_of(tp), name_of(tq),
                                      vocab, patterns::name(chosen[r]), wrong)
                              .c_str());
            }
        }
    }

private slots:
    void every_pattern_in_small_vocabularies_data()
    {
        QTest::addColumn<int>("vocab");
        for (const int vocab : {1, 2, 3, 5, 9, 10, 11, 16, 31, 111, 513, 1500})
            QTest::addRow("%d", vocab) << vocab;
    }
    void every_pattern_in_small_vocabularies() // all pairs of types
    {
        QFETCH(int, vocab);
        const auto chosen = all_patterns();
        for (const LogitType tp : types)
            for (const LogitType tq : types)
                check(make_cell(tp, tq, vocab, chosen), tp, tq, vocab, chosen);
    }

    void every_vector_width() // of those that this processor has
    {
        const auto chosen = all_patterns();
        const auto supported = hwy::SupportedTargets();
        for (auto left = supported & HWY_TARGETS; left != 0; left &= left - 1) {
            hwy::SetSupportedTargetsForTest(left & -left);
            hwy::GetChosenTarget().Update(hwy::SupportedTargets());
            qInfo("%s", make_cpu_engine(1)->detail().c_str());
            for (const int vocab : {1, 3, 111, 1500})
                for (const LogitType type : types)
                    check(make_cell(type, type, vocab, chosen), type, type, vocab, chosen);
        }
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }

    void every_pattern_in_large_vocabularies_data()
    {
        QTest::addColumn<int>("vocab");
        for (const int vocab : {32000, 49152})
            QTest::addRow("%d", vocab) << vocab;
    }
    void every_pattern_in_large_vocabularies() // each pattern in one pair of types, each pair of types with some
    {
        QFETCH(int, vocab);
        for (int pattern = 0; pattern < patterns::count(); ++pattern) {
            const LogitType tp = types[pattern % 4], tq = types[pattern % 3 ? pattern % 4 : (pattern / 4) % 4];
            check(make_cell(tp, tq, vocab, {pattern}), tp, tq, vocab, {pattern});
        }
    }

    void chosen_patterns_in_the_largest_vocabularies()
    {
        for (int pattern = 0; pattern < patterns::count(); pattern += 5) {
            const LogitType type = types[(pattern / 5) % 4];
            const std::int32_t vocab = pattern % 2 ? 151936 : 248320;
            check(make_cell(type, type, vocab, {pattern}), type, type, vocab, {pattern});
        }
    }

    void cleanupTestCase()
    {
        for (const auto& [name, worst] : worst_)
            qInfo("%s: divergences within %.1e relative; everything else uses %.1e of what is allowed", name.c_str(),
                  worst.divergence, worst.rest);
    }
};

QTEST_GUILESS_MAIN(TestAccuracy)
#include "tst_accuracy.moc"
