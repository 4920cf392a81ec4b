// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What a person reads when the GPU cannot be used, and that the program goes on. No device is needed; the one test
// that uses one skips where there is none.

#include "core/engine/engine.h"
#include "core/engine/plugin_abi.h"

#include <QFile>
#include <QLibrary>
#include <QProcess>
#include <QtTest>
#include <vector>

using namespace flipscope;

namespace {

QString message_of_cuda()
{
    const auto engine = make_cuda_engine();
    return engine ? QString() : QString::fromStdString(engine.error().message);
}

QString real_module()
{
    return QStringLiteral(FLIPSCOPE_BIN) + "/libflipscope_cuda.so";
}

} // namespace

class CudaLoader : public QObject {
    Q_OBJECT
private slots:
    void cleanup()
    {
        qunsetenv("FLIPSCOPE_CUDA_MODULE");
        qunsetenv("FLIPSCOPE_FAKE_CASE");
        qunsetenv("FLIPSCOPE_ENGINE");
    }

    void missing_module_is_named()
    {
        qputenv("FLIPSCOPE_CUDA_MODULE", "/nowhere/libflipscope_cuda.so");
        const QString text = message_of_cuda();
        QVERIFY2(text.contains("/nowhere/libflipscope_cuda.so") && text.contains("not installed"), qPrintable(text));
        QCOMPARE(make_cuda_engine().error().kind, ErrorKind::Device);
    }

    void file_that_is_no_library()
    {
        qputenv("FLIPSCOPE_CUDA_MODULE", FLIPSCOPE_SOURCE "/LICENSE");
        const QString text = message_of_cuda();
        QVERIFY2(text.contains("cannot be loaded") && text.contains("LICENSE"), qPrintable(text));
    }

    void other_builds_module_is_refused()
    {
        qputenv("FLIPSCOPE_CUDA_MODULE", FLIPSCOPE_FAKE_MODULE);
        qputenv("FLIPSCOPE_FAKE_CASE", "abi");
        const QString text = message_of_cuda();
        QVERIFY2(text.contains("interface 999") && text.contains(QStringLiteral("needs %1").arg(FLIPSCOPE_ENGINE_ABI)),
                 qPrintable(text));
    }

    void the_modules_own_sentence_is_passed_on()
    {
        qputenv("FLIPSCOPE_CUDA_MODULE", FLIPSCOPE_FAKE_MODULE);
        qputenv("FLIPSCOPE_FAKE_CASE", "device");
        QCOMPARE(message_of_cuda(), QStringLiteral("the module's own sentence"));
    }

    void pinned_memory_is_used_again()
    {
        qputenv("FLIPSCOPE_CUDA_MODULE", FLIPSCOPE_FAKE_MODULE);
        qputenv("FLIPSCOPE_FAKE_CASE", "memory");
        QLibrary fake(FLIPSCOPE_FAKE_MODULE);
        const auto pieces = reinterpret_cast<int (*)()>(fake.resolve("fake_pieces"));
        QVERIFY(pieces);
        {
            auto engine = make_cuda_engine();
            QVERIFY(engine.has_value());
            const auto take = [&](std::size_t bytes) {
                auto buffer = (*engine)->allocate(bytes);
                return buffer && (*buffer)->bytes().size() == bytes ? std::move(*buffer) : nullptr;
            };
            auto one = take(100000), two = take(100000);
            QVERIFY(one && two && one->bytes().data() != two->bytes().data());
            QCOMPARE(pieces(), 2);
            const std::byte* there = one->bytes().data();
            one.reset();
            one = take(90000); // fits into what was given back
            QVERIFY(one && one->bytes().data() == there);
            QCOMPARE(pieces(), 2);
            one.reset();
            one = take(200000); // does not: that goes, and other memory comes
            QVERIFY(one);
            QCOMPARE(pieces(), 2);
            one.reset();
            one = take(50000); // far less does not sit on so much
            QVERIFY(one);
            QCOMPARE(pieces(), 2);
        }
        QCOMPARE(pieces(), 0);
    }

    /// The real module with a driver library that answers as an old driver does, in a process of its own: the CUDA
    /// runtime looks for the driver once.
    void case_66_real_module_with_an_old_driver()
    {
        if (!QFile::exists(real_module()))
            QSKIP("This build has no CUDA module.");
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LD_LIBRARY_PATH", FLIPSCOPE_FAKE_DRIVER);
        environment.insert("FLIPSCOPE_CUDA_MODULE", real_module());
        process.setProcessEnvironment(environment);
        process.start(QCoreApplication::applicationFilePath(), {"--say"});
        QVERIFY(process.waitForFinished());
        const QString text = process.readAllStandardOutput().trimmed();
        QVERIFY2(text.contains("too old") && text.contains("supports CUDA 12.4") && text.contains("needs CUDA 1"),
                 qPrintable(text));
    }

    void case_66_no_driver_or_no_device_and_the_cpu_goes_on()
    {
        if (!QFile::exists(real_module()))
            QSKIP("This build has no CUDA module.");
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("CUDA_VISIBLE_DEVICES", "");
        environment.insert("FLIPSCOPE_CUDA_MODULE", real_module());
        process.setProcessEnvironment(environment);
        process.start(QCoreApplication::applicationFilePath(), {"--say"});
        QVERIFY(process.waitForFinished());
        const QString text = process.readAllStandardOutput().trimmed();
        QVERIFY2(text.contains("No CUDA driver was found") || text.contains("CUDA_VISIBLE_DEVICES is \"\""),
                 qPrintable(text));
        QVERIFY2(text.contains("needs CUDA 1"), qPrintable(text));
        QCOMPARE(process.exitCode(), 0);
    }

    void auto_falls_back_and_says_why()
    {
        qputenv("FLIPSCOPE_CUDA_MODULE", "/nowhere/libflipscope_cuda.so");
        const auto selection = make_engine({EngineChoice::Auto, 1});
        QVERIFY(selection.has_value());
        QVERIFY(selection->engine->name() == "cpu");
        QVERIFY2(selection->notice.find("/nowhere/libflipscope_cuda.so") != std::string::npos,
                 selection->notice.c_str());
        const auto demanded = make_engine({EngineChoice::Cuda, 1});
        QVERIFY(!demanded.has_value());
    }

    void on_a_device_numbers_and_pinned_memory()
    {
        if (!QFile::exists(real_module()))
            QSKIP("This build has no CUDA module.");
        auto engine = make_cuda_engine();
        if (!engine)
            QSKIP(engine.error().message.c_str());
        auto buffer = (*engine)->allocate(1 << 20);
        QVERIFY(buffer.has_value());
        auto* logits = reinterpret_cast<float*>((*buffer)->bytes().data());
        for (int i = 0; i < 8; i++)
            logits[i] = static_cast<float>(i % 4); // two rows 0 1 2 3
        logits[4] = 5;                             // the run's first token takes the lead
        PairBlock block;
        block.baseline = {(*buffer)->bytes().data(), LogitType::F32, 16};
        block.run = {(*buffer)->bytes().data() + 16, LogitType::F32, 16};
        block.rows = 1;
        block.vocab = 4;
        std::vector<ProbeMetrics> out(1);
        QVERIFY((*engine)->compute(block, out, {}).has_value());
        QCOMPARE(out[0].argmax_p, 3);
        QCOMPARE(out[0].argmax_q, 0);
        QCOMPARE(out[0].rank, 2);
        QCOMPARE(out[0].differing, std::int64_t{1});
        // By hand: S_p = 1 + e + e^2 + e^3, S_q = e^5 + e + e^2 + e^3; KL = ln(S_q/S_p) - 5 / S_p.
        const double s_p = 1 + std::exp(1) + std::exp(2) + std::exp(3);
        const double s_q = s_p - 1 + std::exp(5);
        QVERIFY(std::abs(out[0].kl_pq - (std::log(s_q / s_p) - 5 / s_p)) < 1e-13);
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = (*engine)->compute(block, out, stop.get_token());
        QVERIFY(!stopped.has_value() && stopped.error().kind == ErrorKind::Cancelled);
    }
};

int main(int argc, char** argv)
{
    QCoreApplication app(argc, argv);
    if (argc > 1 && std::string_view(argv[1]) == "--say") {
        QTextStream(stdout) << message_of_cuda() << "\n";
        return 0;
    }
    CudaLoader test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_cuda_loader.moc"
