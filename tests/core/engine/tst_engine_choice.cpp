// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Which engine is taken, what it is called, and the memory that it gives.
#include "core/engine/engine.h"

#include <QTest>
#include <cstring>

using namespace flipscope;

class TestEngineChoice : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { qunsetenv("FLIPSCOPE_ENGINE"); }

    void names_and_buffers()
    {
        const auto cpu = make_cpu_engine(3);
        QCOMPARE(cpu->name(), "cpu");
        QVERIFY(cpu->detail().ends_with("3 threads"));
        QVERIFY(make_cpu_engine(1)->detail().ends_with("1 thread"));
        QCOMPARE(make_reference_engine()->name(), "reference");
        auto buffer = cpu->allocate(1000);
        QVERIFY(buffer);
        QCOMPARE((*buffer)->bytes().size(), std::size_t{1000});
        QCOMPARE(reinterpret_cast<std::uintptr_t>((*buffer)->bytes().data()) % 64, std::uintptr_t{0});
        std::memset((*buffer)->bytes().data(), 1, 1000);
        const auto too_much = cpu->allocate(std::size_t{1} << 62);
        QVERIFY(!too_much);
        QCOMPARE(too_much.error().kind, ErrorKind::OutOfMemory);
    }

    void choice_of_engine()
    {
        QCOMPARE(*parse_engine("auto"), EngineChoice::Auto);
        QCOMPARE(*parse_engine("cpu"), EngineChoice::Cpu);
        QCOMPARE(*parse_engine("cuda"), EngineChoice::Cuda);
        QCOMPARE(*parse_engine("reference"), EngineChoice::Reference);
        const auto bad = parse_engine("gpu");
        QVERIFY(!bad);
        QCOMPARE(bad.error().kind, ErrorKind::Usage);
        QVERIFY(bad.error().message.find("\"gpu\"") != std::string::npos);

        auto made = make_engine({EngineChoice::Reference, 0});
        QVERIFY(made);
        QCOMPARE(made->engine->name(), "reference");
        QVERIFY(made->notice.empty());

        qputenv("FLIPSCOPE_ENGINE", "reference");
        QCOMPARE(make_engine({EngineChoice::Auto, 1})->engine->name(), "reference");
        QCOMPARE(make_engine({EngineChoice::Cpu, 1})->engine->name(), "cpu"); // what is asked for goes first
        qputenv("FLIPSCOPE_ENGINE", "fast");
        const auto unknown = make_engine({EngineChoice::Auto, 1});
        QVERIFY(!unknown);
        QCOMPARE(unknown.error().kind, ErrorKind::Usage);
        QVERIFY(unknown.error().message.find("FLIPSCOPE_ENGINE") != std::string::npos);
        qputenv("FLIPSCOPE_ENGINE", "");
        const auto automatic = make_engine({EngineChoice::Auto, 1});
        QVERIFY(automatic);
        if (automatic->engine->name() == "cpu")
            QVERIFY(automatic->notice.starts_with("Computing on the CPU: "));
        else
            QVERIFY(automatic->engine->name() == "cuda" && automatic->notice.empty());
    }
};

QTEST_GUILESS_MAIN(TestEngineChoice)
#include "tst_engine_choice.moc"
