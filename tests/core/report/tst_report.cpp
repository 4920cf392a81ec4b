// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/method.h"
#include "core/report/report.h"
#include "tests/core/analysis/made_traces.h"

#include <QtTest>

using namespace flipscope;

class TestReport : public QObject {
    Q_OBJECT

    static QString truncation(const Trace& baseline, const std::vector<TracePtr>& runs)
    {
        for (const MethodLine& line : method_of(baseline, runs, ""))
            if (line.label == "vocabulary truncation")
                return QString::fromStdString(line.value);
        return {};
    }

private slots:
    void json_is_utf8_whatever_the_names()
    {
        const std::string text = json_text({{"path", "/tmp/caf\xe9.h5"}, {"name", "café"}});
        QCOMPARE(QString::fromStdString(text),
                 QStringLiteral("{\n  \"path\": \"/tmp/caf�.h5\",\n  \"name\": \"café\"\n}\n"));
    }
    void names_are_told_apart()
    {
        const std::vector<std::string> taken{"fa2", "fa2 (2)", "triton"};
        QCOMPARE(distinct_name("fa2", taken), "fa2 (3)");
        QCOMPARE(distinct_name("triton", taken), "triton (2)");
        QCOMPARE(distinct_name("nvfp4", taken), "nvfp4");
    }
    void method_says_where_vocabularies_differ()
    {
        Trace baseline = made::trace("base", made::ids(4), {1});
        auto run = made::trace("run", made::ids(4), {1});
        baseline.probes.n_vocab = run.probes.n_vocab = 6;
        QCOMPARE(truncation(baseline, {std::make_shared<const Trace>(run)}), "none: full rows of 6 logits");
        run.probes.n_vocab = 9;
        QCOMPARE(truncation(baseline, {std::make_shared<const Trace>(run)}),
                 "none: full rows of 6 logits, 9 in run (the ids that both sides have are compared)");
    }
};

QTEST_GUILESS_MAIN(TestReport)
#include "tst_report.moc"
