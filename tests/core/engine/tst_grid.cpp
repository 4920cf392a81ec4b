// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Accuracy over the grid of batch sizes x vocabularies x distributions x types, against 80-bit arithmetic. What runs
// with the other tests is a part that ends in seconds; FLIPSCOPE_WHOLE_GRID=1 (the build target accuracy_grid) takes
// every cell, for half an hour.
#include "tests/core/engine/engine_rows.h"
#include "tests/gpu/patterns.h"

#include <QTest>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

using namespace flipscope;
using namespace engine_test;

namespace {

constexpr LogitType types[] = {LogitType::BF16, LogitType::F16, LogitType::F32, LogitType::F64};
constexpr int vocabularies[] = {111, 32000, 49152, 128256, 151936, 248320};
constexpr const char* distributions[] = {"noise 0.3",   "noise 0.02", "peaked",        "64 steps", "shift 4 and steps",
                                         "equal masks", "all equal",  "1e4 both ways", "subnormal"};
constexpr std::size_t kinds = std::size(distributions);

bool whole_grid()
{
    const char* asked = std::getenv("FLIPSCOPE_WHOLE_GRID");
    return asked && std::string_view(asked) == "1";
}

int pattern_of(std::string_view name)
{
    for (int i = 0; i < patterns::count(); ++i)
        if (patterns::name(i) == name)
            return i;
    qFatal("there is no such pattern");
}

/// One pair of rows of each distribution, and what 80-bit arithmetic makes of it.
struct Originals {
    Rows p, q;
    std::vector<ProbeMetrics> want;
    std::vector<double> scale;

    Originals(LogitType type, std::int32_t vocab) : p(type, vocab, kinds), q(type, vocab, kinds)
    {
        const auto t = static_cast<oracle::Type>(type);
        for (std::size_t d = 0; d < kinds; ++d) {
            const auto row = static_cast<std::int64_t>(d);
            patterns::fill(pattern_of(distributions[d]), vocab, p.raw(row), t, q.raw(row), t);
            want.push_back(oracle::compare(p.raw(row), t, q.raw(row), t, vocab, next_of(d)));
            scale.push_back(scale_of(p, q, row));
        }
    }
    int next_of(std::size_t d) const { return static_cast<int>((d * 7919 + 5) % static_cast<std::size_t>(p.vocab())); }
};

/// `rows` pairs: the distributions one after the other, again and again.
struct Batch {
    Rows p, q;
    std::vector<std::int32_t> next;

    Batch(Originals& from, int rows) : p(from.p.type(), from.p.vocab(), rows), q(from.p.type(), from.p.vocab(), rows)
    {
        const std::size_t bytes = static_cast<std::size_t>(p.vocab()) * size_of(p.type());
        for (int r = 0; r < rows; ++r) {
            const std::size_t d = static_cast<std::size_t>(r) % kinds;
            std::memcpy(p.row(r), from.p.row(static_cast<std::int64_t>(d)), bytes);
            std::memcpy(q.row(r), from.q.row(static_cast<std::int64_t>(d)), bytes);
            next.push_back(from.next_of(d));
        }
    }
};

/// Does this cell end in time for every test run? Elements of 80-bit arithmetic are what counts.
bool quick(std::string_view engine, LogitType type, int vocab, int rows)
{
    if (engine == "reference")
        return vocab * rows <= 400'000;
    if (rows == 989)
        return vocab <= 32000;
    // Each large vocabulary in one type, each type in one at least.
    const auto place = std::find(std::begin(vocabularies), std::end(vocabularies), vocab) - vocabularies;
    return vocab <= 32000 || place % 4 == static_cast<int>(type);
}

} // namespace

class TestGrid : public QObject {
    Q_OBJECT
    std::map<std::string, Worst> worst_;
    int compared_ = 0;

    std::string judge(Engine& engine, Originals& originals, std::size_t d, const ProbeMetrics& got)
    {
        ++compared_;
        const auto wrong = difference(got, originals.want[d], originals.scale[d], &worst_[std::string(engine.name())]);
        return wrong.empty() ? "" : fmt::format("\"{}\": {}", distributions[d], wrong);
    }

    /// Each distribution as a block of one row.
    std::string check_alone(Engine& engine, Originals& originals)
    {
        for (std::size_t d = 0; d < kinds; ++d) {
            const auto row = static_cast<std::int64_t>(d);
            const std::int32_t next = originals.next_of(d);
            ProbeMetrics got{};
            const PairBlock block{originals.p.view(row), originals.q.view(row), 1, originals.p.vocab(), &next};
            if (!engine.compute(block, std::span(&got, 1), {}))
                return "the engine failed";
            if (auto wrong = judge(engine, originals, d, got); !wrong.empty())
                return wrong;
        }
        return {};
    }

    /// Many rows, in batches of 256 MB at most: float64 rows of the largest vocabulary would take 4 GB.
    std::string check(Engine& engine, Originals& originals, int rows)
    {
        const std::int64_t pair_bytes =
            2 * std::int64_t{originals.p.vocab()} * static_cast<std::int64_t>(size_of(originals.p.type()));
        const int fit = static_cast<int>(std::min<std::int64_t>(rows, (std::int64_t{1} << 28) / pair_bytes));
        Batch batch(originals, fit);
        for (int done = 0; done < rows; done += fit) {
            const auto got = compute(engine, batch.p, batch.q, batch.next);
            for (std::size_t r = 0; r < got.size(); ++r) {
                if (auto wrong = judge(engine, originals, r % kinds, got[r]); !wrong.empty())
                    return fmt::format("row {} of {}, {}", r, rows, wrong);
                if (r >= kinds && !same_bits(got[r], got[r % kinds]))
                    return fmt::format("row {} of {} has other bits than its twin at the start", r, rows);
            }
        }
        return {};
    }

private slots:
    void rows_vocabularies_distributions_types_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("vocab");
        for (const LogitType type : types)
            for (const int vocab : vocabularies)
                if (whole_grid() || quick("cpu", type, vocab, 1))
                    QTest::addRow("%s, %d", name_of(type), vocab) << static_cast<int>(type) << vocab;
    }
    void rows_vocabularies_distributions_types()
    {
        QFETCH(int, type);
        QFETCH(int, vocab);
        const auto t = static_cast<LogitType>(type);
        Originals originals(t, vocab);
        for (const int rows : {1, 99, 989})
            for (const auto& engine : engines()) {
                if (!whole_grid() && !quick(engine->name(), t, vocab, rows))
                    continue;
                const auto wrong = rows == 1 ? check_alone(*engine, originals) : check(*engine, originals, rows);
                QVERIFY2(wrong.empty(), fmt::format("{}: {}", engine->name(), wrong).c_str());
            }
    }

    void any_number_of_threads_gives_the_same_bits()
    {
        for (const LogitType type : types) {
            Originals originals(type, 5003);
            Batch batch(originals, 40);
            const auto one = compute(*make_cpu_engine(1), batch.p, batch.q, batch.next);
            for (const int threads : {2, 3, 7, 64}) {
                const auto many = compute(*make_cpu_engine(threads), batch.p, batch.q, batch.next);
                for (std::size_t r = 0; r < one.size(); ++r)
                    QVERIFY2(same_bits(one[r], many[r]), name_of(type));
            }
        }
    }

    void cleanupTestCase()
    {
        for (const auto& [name, worst] : worst_)
            qInfo("%s: divergences within %.1e relative; everything else uses %.1e of what is allowed", name.c_str(),
                  worst.divergence, worst.rest);
        qInfo("%d pairs of rows of the %s grid", compared_, whole_grid() ? "whole" : "quick");
    }
};

QTEST_GUILESS_MAIN(TestGrid)
#include "tst_grid.moc"
