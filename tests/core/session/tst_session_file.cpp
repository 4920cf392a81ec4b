// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Session files: what is written is read again, and nothing that a file says can do harm.
#include "core/session/session_file.h"
#include "core/trace/open.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>

using namespace flipscope;
namespace fs = std::filesystem;

namespace {

SessionFile full()
{
    SessionFile s;
    s.files = {{"", "/data/base.h5", "abc", "", "", false}, {"", "/data/run.h5", "def", "my run", "#ff8800", true}};
    OpenHints& hints = s.files[1].hints;
    hints.array = "logits";
    hints.axes = "1pv";
    hints.type = LogitType::BF16;
    hints.vocabulary = 151669;
    hints.tokens = "/data/ids.npy";
    hints.first = 0;
    hints.stride = 32;
    hints.bos = 1;
    hints.shift = -1;
    hints.scoring = "decode";
    hints.values = "raw";
    hints.temperature = 0.7;
    s.files[0].hints.positions = "/data/positions.npy";
    s.printouts = {{"", "/data/kld.txt", "", "", "", false}};
    s.baseline = 0;
    s.floor = 1;
    s.compared_a = 1;
    s.compared_b = -1;
    s.window_tokens = 1024;
    s.metric = "kl_pq_p99";
    s.margin = 1.25;
    s.scale = {"log", false, 1e-4, 2.5, "vik"};
    s.range_start = 100;
    s.range_end = 5000;
    s.place = {1, 4096, 4127, 4128};
    s.page = "comparePage";
    s.bookmarks = {{4128, 1, "first \"wrong\" command, ✓"}, {5, -1, ""}};
    return s;
}

const char* const minimal = R"({"format": "flipscope-session", "version": 1, "files": [{"relative": "a.h5"}]})";

void write(const fs::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

} // namespace

class TestSessionFile : public QObject {
    Q_OBJECT
private slots:
    void what_is_written_is_read_again()
    {
        const SessionFile session = full();
        const auto read = parse_session(session_json(session).dump(), "x");
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QVERIFY(*read == session);
    }
    void what_is_not_there_is_as_at_first()
    {
        const auto read = parse_session(minimal, "x");
        QVERIFY(read);
        QCOMPARE(read->files.size(), std::size_t(1));
        QCOMPARE(read->metric, std::string("flip_rate"));
        QCOMPARE(read->baseline, -1);
        QVERIFY(read->scale.automatic);
        // A later version may add keys.
        QVERIFY(parse_session(R"({"format": "flipscope-session", "version": 1, "new": [{}]})", "x"));
    }
    void hostile_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("words");
        const auto with = [](const QByteArray& more) {
            return R"({"format": "flipscope-session", "version": 1, "files": [{"absolute": "/a.h5"}], )" + more + "}";
        };
        QTest::newRow("nothing") << QByteArray() << QByteArray("not a JSON object");
        QTest::newRow("half") << QByteArray(minimal).left(60) << QByteArray("not a JSON object");
        QTest::newRow("list") << QByteArray("[]") << QByteArray("not a JSON object");
        QTest::newRow("other format") << QByteArray(R"({"format": "x", "version": 1})")
                                      << QByteArray("flipscope-session");
        QTest::newRow("format is a number") << QByteArray(R"({"format": 1})") << QByteArray("flipscope-session");
        QTest::newRow("no version") << QByteArray(R"({"format": "flipscope-session"})") << QByteArray("no version");
        QTest::newRow("newer") << QByteArray(R"({"format": "flipscope-session", "version": 2})")
                               << QByteArray("version 2");
        QTest::newRow("deep") << with("\"x\": " + QByteArray(100'000, '[') + QByteArray(100'000, ']'))
                              << QByteArray("nested");
        QTest::newRow("files is a text") << QByteArray(R"({"format": "flipscope-session", "version": 1, "files": "a"})")
                                         << QByteArray("files is not a list");
        QTest::newRow("file is a number")
            << QByteArray(R"({"format": "flipscope-session", "version": 1, "files": [1]})")
            << QByteArray("files[0]. is not an object");
        QTest::newRow("file without path")
            << QByteArray(R"({"format": "flipscope-session", "version": 1, "files": [{}]})")
            << QByteArray("files[0] has no path");
        QTest::newRow("path with NUL")
            << QByteArray(R"({"format": "flipscope-session", "version": 1, "files": [{"absolute": "/a\u0000b"}]})")
            << QByteArray("is not a path");
        QTest::newRow("colour")
            << QByteArray(
                   R"({"format": "flipscope-session", "version": 1, "files": [{"absolute": "/a", "color": "red"}]})")
            << QByteArray("colour");
        QTest::newRow("baseline") << with("\"baseline\": 1")
                                  << QByteArray("baseline is not a whole number from -1 to 0");
        QTest::newRow("wraps around") << with("\"baseline\": 18446744073709551615") << QByteArray("baseline");
        QTest::newRow("half a run") << with("\"baseline\": 0.5") << QByteArray("baseline");
        QTest::newRow("window") << with("\"window_tokens\": -5") << QByteArray("window_tokens");
        QTest::newRow("window too large")
            << with("\"window_tokens\": 9223372036854775807") << QByteArray("window_tokens");
        QTest::newRow("margin") << with("\"margin\": -1") << QByteArray("margin");
        QTest::newRow("margin too large") << with("\"margin\": 1e999") << QByteArray("not a JSON object");
        QTest::newRow("scale") << with("\"scale\": {\"kind\": \"cubic\"}") << QByteArray("scale.kind is not one of");
        QTest::newRow("place") << with("\"place\": {\"run\": 7}") << QByteArray("place.run");
        QTest::newRow("place is a list") << with("\"place\": []") << QByteArray("place. is not an object");
        QTest::newRow("bookmark") << with("\"bookmarks\": [{\"position\": -1}]") << QByteArray("bookmarks[0].position");
        QTest::newRow("long note") << with("\"bookmarks\": [{\"text\": \"" + QByteArray(70'000, 'x') + "\"}]")
                                   << QByteArray("bookmarks[0].text");
        QTest::newRow("many") << with("\"bookmarks\": [" + QByteArray("{},").repeated(100'000) + "{}]")
                              << QByteArray("a list of at most");
        QTest::newRow("not UTF-8") << with("\"page\": \"\xff\"") << QByteArray("not a JSON object");
        QTest::newRow("huge") << QByteArray(17 << 20, ' ') << QByteArray("16 MiB");
    }
    void many_keys_take_no_time()
    {
        std::string text = R"({"format": "flipscope-session", "version": 1)";
        for (int i = 0; i < 200'000; ++i)
            text += fmt::format(",\"k{}\":[{}]", i, i);
        QElapsedTimer timer;
        timer.start();
        QVERIFY(parse_session(text + "}", "x"));
        QVERIFY2(timer.elapsed() < 10'000, qPrintable(QString::number(timer.elapsed())));
    }
    void hostile()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, words);
        const auto read = parse_session(text.toStdString(), "evil.flipscope");
        QVERIFY(!read);
        const QByteArray message = QByteArray::fromStdString(read.error().message);
        QVERIFY2(message.startsWith("evil.flipscope: ") && message.contains(words), message);
        QCOMPARE(message.count('\n'), 0);
    }
    void files_are_found_where_they_went()
    {
        const QTemporaryDir dir;
        const fs::path root = dir.path().toStdString();
        fs::create_directories(root / "project" / "traces");
        write(root / "project" / "traces" / "run.h5", "x");
        SessionFile session;
        session.files = {{"", root / "project" / "traces" / "run.h5", "", "", "", false}};
        QVERIFY(write_session(root / "project" / "s.flipscope", session));
        auto read = read_session(root / "project" / "s.flipscope");
        QVERIFY(read);
        QCOMPARE(read->files[0].relative, fs::path("traces/run.h5"));
        QCOMPARE(find_session_file(read->files[0], root / "project" / "s.flipscope"),
                 root / "project" / "traces" / "run.h5");
        // The whole folder moved.
        fs::rename(root / "project", root / "moved");
        QCOMPARE(find_session_file(read->files[0], root / "moved" / "s.flipscope"),
                 root / "moved" / "traces" / "run.h5");
        // The session alone moved.
        fs::rename(root / "moved", root / "project");
        QCOMPARE(find_session_file(read->files[0], root / "s.flipscope"), root / "project" / "traces" / "run.h5");
        // The trace alone moved.
        fs::create_directories(root / "elsewhere");
        fs::rename(root / "project" / "traces" / "run.h5", root / "elsewhere" / "run.h5");
        QVERIFY(find_session_file(read->files[0], root / "project" / "s.flipscope").empty());
        QCOMPARE(find_session_file(read->files[0], root / "project" / "s.flipscope", {root / "elsewhere"}),
                 root / "elsewhere" / "run.h5");
    }
    void is_told_from_a_trace_by_content()
    {
        const QTemporaryDir dir;
        const fs::path root = dir.path().toStdString();
        write(root / "a.txt", minimal);
        write(root / "b.flipscope", "not JSON");
        QVERIFY(is_session(root / "a.txt"));
        QVERIFY(!is_session(root / "b.flipscope"));
        QVERIFY(!is_session(root)); // a folder
        QVERIFY(!is_session(FLIPSCOPE_SOURCE "/resources/samples/baseline.h5"));
        const auto trace = open_trace(root / "a.txt");
        QVERIFY(!trace);
        QVERIFY2(trace.error().message.find("session") != std::string::npos, trace.error().message.c_str());
        QVERIFY(!read_session(root));
        QVERIFY(!read_session(root / "none.flipscope"));
    }
};

QTEST_GUILESS_MAIN(TestSessionFile)
#include "tst_session_file.moc"
