// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// File → Capture against a server on loopback, and with an engine that needs no model.
#include "tests/ui/scripted_server.h"
#include "tests/ui/window_fixture.h"

#include "core/trace/open.h"
#include "ui/capture/capture_dialog.h"
#include "ui/capture/capture_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTabWidget>

#include <algorithm>

using namespace flipscope;
using namespace flipscope::test;

class TestCapture : public WindowFixture {
    Q_OBJECT

    static constexpr int tokens = 400, stride = 8, probes = tokens / stride;
    CaptureDialog* m_dialog = nullptr;
    CaptureJob::Outcome m_outcome = CaptureJob::Outcome::Failed;
    int m_ended = 0;

    template <class T>
    T* field(const char* name)
    {
        return m_dialog->findChild<T*>(QLatin1String(name));
    }
    void fill(const char* name, const QString& text) { field<QLineEdit>(name)->setText(text); }
    QString status() { return field<QLabel>("captureStatus")->text(); }
    QString log() { return field<QPlainTextEdit>("captureLog")->toPlainText(); }
    QString path(const QString& name) const { return m_folder->filePath(name); }
    void press(const char* name)
    {
        auto* button = field<QPushButton>(name);
        QVERIFY(button->isEnabled());
        QTest::mouseClick(button, Qt::LeftButton);
    }
    bool over(int timeout = 60'000)
    {
        return QTest::qWaitFor([&] { return m_ended > 0; }, timeout);
    }
    void openDialog(const QString& out)
    {
        action("captureTrace")->trigger();
        m_dialog = child<CaptureDialog>("captureDialog");
        QVERIFY(m_dialog != nullptr && m_dialog->isVisible());
        m_ended = 0;
        connect(m_dialog->job(), &CaptureJob::ended, this, [this](CaptureJob::Outcome outcome) {
            m_outcome = outcome;
            ++m_ended;
        });
        QStringList ids;
        for (int i = 0; i < tokens; ++i)
            ids << QString::number(i * 7 % 64);
        fill("capturePromptFile", {});
        field<QPlainTextEdit>("capturePromptText")->setPlainText('[' + ids.join(',') + ']');
        field<QSpinBox>("captureStride")->setValue(stride);
        fill("captureOut", path(out));
        fill("captureInterpreter", QStringLiteral(FLIPSCOPE_CAPTURE_PYTHON));
    }
    void askServer(const ScriptedServer& server)
    {
        field<QTabWidget>("captureSource")->setCurrentIndex(0);
        fill("captureAddress", server.url());
        fill("captureTopK", QStringLiteral("5"));
    }
    /// Cells of the first row that have a value.
    qsizetype cells()
    {
        const HeatmapGrid grid = session().heatmap();
        return grid.rows.empty()
                   ? 0
                   : std::ranges::count(grid.rows[0].cells, HeatmapCell::State::Value, &HeatmapCell::state);
    }
    void captureBaseline()
    {
        openDialog(QStringLiteral("own.h5"));
        field<QTabWidget>("captureSource")->setCurrentIndex(1);
        field<QComboBox>("captureEngine")->setCurrentText(QStringLiteral("simulated"));
        fill("captureMore", QStringLiteral("--vocab 64 --chunk 64"));
        press("captureStart");
        QVERIFY(over());
        QVERIFY2(m_outcome == CaptureJob::Outcome::Done, qPrintable(status() + log()));
        QVERIFY(QTest::qWaitFor([&] { return session().baseline() != nullptr && !session().baseline()->live; }));
        QVERIFY(idle(session()));
    }

private slots:
    void initTestCase()
    {
        if (QLatin1String(FLIPSCOPE_CAPTURE_PYTHON).isEmpty())
            QSKIP("No Python 3.10 or newer with h5py and numpy was found (Debian: python3-h5py).");
    }
    void init()
    {
        QSettings().clear();
        qunsetenv("FLIPSCOPE_API_KEY");
        setUp();
    }
    void cleanup() { tearDown(); }

    void windows_fill_in_while_it_is_captured()
    {
        captureBaseline();
        QCOMPARE(session().baseline()->trace->probes.size(), probes);
        QCOMPARE(QString::fromStdString(session().baseline()->trace->path.string()), path("own.h5"));
        session().setWindowTokens(80); // 5 windows of 10 probes

        ScriptedServer server;
        server.delay = 100;
        server.key = "sesame-4711";
        openDialog(QStringLiteral("server.h5"));
        askServer(server);
        fill("captureKey", QStringLiteral("sesame-4711"));
        press("captureFetch");
        auto* model = field<QComboBox>("captureModel");
        QVERIFY(QTest::qWaitFor([&] { return model->count() == 2; }));
        QCOMPARE(status(), QStringLiteral("The server has 2 models."));
        model->setCurrentText(QStringLiteral("second"));
        press("captureStart");
        QVERIFY(!field<QPushButton>("captureStart")->isEnabled());

        // Cells appear while the process runs, and there are more of them later.
        QVERIFY(QTest::qWaitFor([&] { return cells() > 0 || m_ended > 0; }, 60'000));
        QVERIFY2(m_ended == 0, qPrintable(status() + log()));
        QVERIFY(cells() < 5);
        const int id = m_dialog->live()->run();
        QVERIFY(session().run(id)->live);
        QVERIFY(session().run(id)->trace->probes.size() < probes);
        // The key is in the environment of the process, and not among its arguments, which everybody sees.
        const QString process = QStringLiteral("/proc/%1/").arg(m_dialog->job()->processId());
        const auto content = [&](const char* name) {
            QFile file(process + QLatin1String(name));
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        QVERIFY(content("cmdline").contains("--stride=8"));
        QVERIFY(!content("cmdline").contains("sesame"));
        QVERIFY(content("environ").contains("sesame"));
        QVERIFY(QTest::qWaitFor([&] { return cells() > 1 || m_ended > 0; }, 60'000));
        QVERIFY(over());
        QVERIFY2(m_outcome == CaptureJob::Outcome::Done, qPrintable(status() + log()));
        QVERIFY(status().startsWith("Wrote "));

        // It stays open, as any trace, under its name.
        QVERIFY(QTest::qWaitFor([&] { return !session().busy() && !session().run(id)->live && cells() == 5; }, 20'000));
        const SessionRun* run = session().run(id);
        QCOMPARE(QString::fromStdString(run->trace->path.string()), path("server.h5"));
        QCOMPARE(run->trace->probes.size(), probes);
        QCOMPARE(run->state, SessionRun::State::Ready);
        QCOMPARE(QString::fromStdString(*run->trace->setting("model")), QStringLiteral("second"));
        QVERIFY(!QFile::exists(path("server.h5.partial")));
        for (const Banner& banner : session().banners())
            QVERIFY2(banner.level != Banner::Level::Error && !banner.text.contains("changed on disk"),
                     qPrintable(banner.text));
        // The typed key is nowhere.
        QSettings().sync();
        QFile settings(QSettings().fileName());
        QVERIFY(settings.open(QIODevice::ReadOnly));
        const QByteArray stored = settings.readAll();
        QVERIFY(stored.contains("127.0.0.1"));
        QVERIFY(!stored.contains("sesame"));
        QFile trace(path("server.h5"));
        QVERIFY(trace.open(QIODevice::ReadOnly));
        QVERIFY(!trace.readAll().contains("sesame"));
        QVERIFY(!log().contains("sesame"));
    }

    void a_slow_one_is_stopped_cleanly_and_gone_on_with()
    {
        m_window->openFiles({m_files[0]});
        QVERIFY(idle(session()));
        ScriptedServer server;
        server.delay = 150;
        openDialog(QStringLiteral("slow.h5"));
        askServer(server);
        press("captureStart");
        QVERIFY(QTest::qWaitFor([&] { return server.completions >= 4 || m_ended > 0; }, 60'000));
        press("captureStop");
        QVERIFY(over(20'000));
        QCOMPARE(m_outcome, CaptureJob::Outcome::Stopped);
        QVERIFY2(status().contains("slow.h5.partial"), qPrintable(status()));
        QVERIFY(!QFile::exists(path("slow.h5")));
        const auto partial = open_trace(path("slow.h5.partial").toStdString());
        QVERIFY(partial);
        QVERIFY((*partial)->probes.size() >= 2);
        // The same again goes on; the run that is open already takes over its new name.
        QVERIFY(QTest::qWaitFor([&] { return session().runAt(path("slow.h5.partial")) >= 0 && !session().busy(); }));
        const int id = session().runAt(path("slow.h5.partial"));
        server.delay = 0;
        m_ended = 0;
        press("captureStart");
        QVERIFY(over());
        QVERIFY2(m_outcome == CaptureJob::Outcome::Done, qPrintable(status() + log()));
        QVERIFY(QTest::qWaitFor([&] { return session().runAt(path("slow.h5")) == id && !session().busy(); }));
        QCOMPARE(session().run(id)->trace->probes.size(), probes);
    }

    void one_sentence_for_each_fault()
    {
        auto server = std::make_unique<ScriptedServer>();
        server->key = "sesame-4711";
        openDialog(QStringLiteral("fault.h5"));
        askServer(*server);
        press("captureFetch");
        QVERIFY(QTest::qWaitFor([&] { return status().contains("wants a key: HTTP 401"); }));
        fill("captureKey", QStringLiteral("wrong-4712"));
        press("captureFetch");
        QVERIFY(QTest::qWaitFor([&] { return status().contains("refuses the key: HTTP 401"); }));
        press("captureStart");
        QVERIFY(over());
        QCOMPARE(m_outcome, CaptureJob::Outcome::Failed);
        QVERIFY2(status().contains("refuses the key") && !status().contains("wrong-4712"), qPrintable(status()));

        // The server breaks down in the middle: what there was stays.
        server->key.clear();
        server->failFrom = 4;
        m_ended = 0;
        press("captureStart");
        QVERIFY(over());
        QCOMPARE(m_outcome, CaptureJob::Outcome::Failed);
        QVERIFY2(status().contains("HTTP 500: out of memory"), qPrintable(status()));
        QCOMPARE(status().count('\n'), 0);
        QVERIFY(QFile::exists(path("fault.h5.partial")));

        server.reset();
        press("captureFetch");
        QVERIFY(QTest::qWaitFor([&] { return status().contains("No server answers at"); }));
        m_ended = 0;
        press("captureStart");
        QVERIFY(over());
        QVERIFY2(status().contains("No server answers at"), qPrintable(status()));
        QVERIFY(QFile::exists(path("fault.h5.partial"))); // nothing lost

        fill("captureInterpreter", QStringLiteral("/no/python"));
        m_ended = 0;
        press("captureStart");
        QVERIFY(over());
        QVERIFY2(status().startsWith("The Python interpreter /no/python cannot be started"), qPrintable(status()));
        fill("captureAddress", {});
        press("captureStart");
        QVERIFY2(status().contains("needs the address of the server"), qPrintable(status()));
        QVERIFY(field<QPushButton>("captureStart")->isEnabled());
        QVERIFY(!field<QPushButton>("captureStop")->isEnabled());
    }

    void a_window_that_is_closed_asks_first()
    {
        ScriptedServer server;
        server.delay = 150;
        openDialog(QStringLiteral("asked.h5"));
        askServer(server);
        press("captureStart");
        QVERIFY(QTest::qWaitFor([&] { return server.completions >= 2; }, 60'000));
        const auto question = [&] { return m_window->findChild<QMessageBox*>("captureRuns"); };
        m_window->close();
        QVERIFY(m_window->isVisible());
        m_window->close();
        QCOMPARE(m_window->findChildren<QMessageBox*>().size(), 1);
        QVERIFY2(question()->informativeText().contains("asked.h5.partial"), qPrintable(question()->informativeText()));
        question()->defaultButton()->click(); // go on
        QTRY_VERIFY(question() == nullptr);
        QVERIFY(m_window->isVisible() && m_dialog->job()->isRunning());
        m_window->close();
        question()->findChild<QPushButton*>("stopAndClose")->click();
        QVERIFY(QTest::qWaitFor([&] { return !m_window->isVisible(); }, 20'000));
        QCOMPARE(m_outcome, CaptureJob::Outcome::Stopped);
        QVERIFY(open_trace(path("asked.h5.partial").toStdString()));
    }

    void one_that_vanishes_is_not_live_for_ever()
    {
        m_window->openFiles({m_files[0]});
        QVERIFY(idle(session()));
        const QString partial = path("gone.h5.partial");
        QVERIFY(QFile::copy(m_files[1], partial));
        LiveTrace live(&session());
        live.begin(partial, path("gone.h5"));
        live.grown();
        QVERIFY(QTest::qWaitFor([&] { return live.run() >= 0 && !session().busy(); }));
        QVERIFY(session().run(live.run())->live);
        QVERIFY(QFile::remove(partial));
        live.end();
        QVERIFY(QTest::qWaitFor([&] { return !session().run(live.run())->live; }));
    }

    void what_was_asked_for_is_remembered()
    {
        {
            CaptureForm form;
            form.findChild<QCheckBox*>("captureRepeat")->setChecked(true);
            form.findChild<QSpinBox*>("captureStride")->setValue(17);
            form.findChild<QLineEdit*>("captureKey")->setText("sesame-4711");
            form.remember();
        }
        const CaptureForm form;
        QVERIFY(form.findChild<QCheckBox*>("captureRepeat")->isChecked());
        QCOMPARE(form.findChild<QSpinBox*>("captureStride")->value(), 17);
        QVERIFY(form.findChild<QLineEdit*>("captureKey")->text().isEmpty());
    }

    void a_window_that_goes_stops_its_capture()
    {
        ScriptedServer server;
        server.delay = 150;
        openDialog(QStringLiteral("left.h5"));
        askServer(server);
        press("captureStart");
        QVERIFY(QTest::qWaitFor([&] { return server.completions >= 3; }, 60'000));
        m_window.reset();
        const auto partial = open_trace(path("left.h5.partial").toStdString());
        QVERIFY2(partial, partial ? "" : partial.error().message.c_str());
        QVERIFY((*partial)->probes.size() >= 1);
        for (const Finding& finding : (*partial)->findings) // closed in order: no mark of a writer
            QVERIFY2(finding.code != "being-written" && finding.code != "writer-gone", finding.text.c_str());
    }
};

FLIPSCOPE_GUI_TEST(TestCapture)
#include "tst_capture.moc"
