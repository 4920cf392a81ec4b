// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Writing a file whole or not at all.
#include "core/base/file.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace flipscope;

class AtomicFile : public QObject {
    Q_OBJECT
private slots:
    void a_new_file();
    void a_failure_leaves_the_old_file();
    void odd_names_data();
    void odd_names();
    void a_folder_that_may_not_be_written();
    void a_write_protected_file_stays();
    void same_files();
    void a_full_disk();
    void links_and_permissions_stay();
    void devices_are_written_to();
    void many_writers_of_one_file();
    void stamps();

private:
    std::filesystem::path path(const std::string& name) const
    {
        return std::filesystem::path(folder_.path().toStdString()) / name;
    }
    static std::string content(const std::filesystem::path& p)
    {
        std::ifstream in(p, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::size_t files() const
    {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path("")), std::filesystem::directory_iterator()));
    }
    QTemporaryDir folder_;
};

void AtomicFile::a_new_file()
{
    QVERIFY(write_text(path("a.csv"), "1,2\n"));
    QCOMPARE(content(path("a.csv")), "1,2\n");
    QVERIFY(write_text(path("a.csv"), ""));
    QCOMPARE(content(path("a.csv")), "");
    QCOMPARE(files(), 1u);
}

void AtomicFile::a_failure_leaves_the_old_file()
{
    QVERIFY(write_text(path("b.txt"), "old"));
    const auto before = files();
    const auto written = write_atomically(path("b.txt"), [&](const std::filesystem::path& temporary) -> Result<void> {
        std::ofstream(temporary) << "half of the ne";
        if (temporary.extension() != ".txt" || temporary.parent_path() != path("b.txt").parent_path())
            return fail(ErrorKind::Usage, "wrong name");
        return fail(ErrorKind::Device, "Broken in between.");
    });
    QVERIFY(!written);
    QCOMPARE(written.error().message, "Broken in between.");
    QCOMPARE(content(path("b.txt")), "old");
    QCOMPARE(files(), before);
}

void AtomicFile::odd_names_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::newRow("spaces and quotes") << QByteArray("a 'b' \"c\".csv");
    QTest::newRow("hidden") << QByteArray(".hidden");
    QTest::newRow("dots") << QByteArray("...");
    QTest::newRow("unicode") << QByteArray("Übung–漢.svg");
    QTest::newRow("not UTF-8") << QByteArray("\xff\xfe.txt");
    QTest::newRow("line break") << QByteArray("a\nb.txt");
    QTest::newRow("leading dash") << QByteArray("-n.txt");
    QTest::newRow("as long as names may be") << QByteArray(251, 'x') + ".csv";
    QTest::newRow("a long suffix") << "x." + QByteArray(253, 'y');
    QTest::newRow("braces") << QByteArray("{}{0}%s.txt");
}

void AtomicFile::odd_names()
{
    QFETCH(QByteArray, name);
    const auto p = path(name.toStdString());
    const auto written = write_text(p, "x");
    QVERIFY2(written, written ? "" : written.error().message.c_str());
    QCOMPARE(content(p), "x");
    std::filesystem::remove(p);
}

void AtomicFile::a_folder_that_may_not_be_written()
{
    const auto missing = check_writable(path("missing/x.txt"));
    QVERIFY(!missing);
    QVERIFY(missing.error().message.find("there is no folder " + path("missing").string()) != std::string::npos);
    QVERIFY(check_writable(path("x.txt")));
    QVERIFY(!std::filesystem::exists(path("x.txt")));
    QVERIFY(!write_text(path("missing/x.txt"), "x"));
    QVERIFY(!write_text(path(""), "x"));
    QVERIFY(!write_text(path("."), "x"));
    if (::geteuid() == 0)
        QSKIP("root may write everywhere");
    std::filesystem::create_directory(path("locked"));
    QVERIFY(write_text(path("locked/x.txt"), "old"));
    std::filesystem::permissions(path("locked"),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto written = write_text(path("locked/x.txt"), "new");
    std::filesystem::permissions(path("locked"), std::filesystem::perms::owner_all);
    QVERIFY(!written);
    QVERIFY(written.error().message.find("Permission denied") != std::string::npos);
    QCOMPARE(content(path("locked/x.txt")), "old");
}

void AtomicFile::a_write_protected_file_stays()
{
    if (::geteuid() == 0)
        QSKIP("root may write everywhere");
    QVERIFY(write_text(path("protected.txt"), "old"));
    std::filesystem::permissions(path("protected.txt"), std::filesystem::perms::owner_read);
    QVERIFY(!write_text(path("protected.txt"), "new"));
    QCOMPARE(content(path("protected.txt")), "old");
}

void AtomicFile::same_files()
{
    QVERIFY(write_text(path("one.txt"), "1"));
    std::filesystem::create_hard_link(path("one.txt"), path("hard.txt"));
    std::filesystem::create_symlink("one.txt", path("soft.txt"));
    std::filesystem::create_symlink("later.txt", path("to-come.txt"));
    for (const char* other : {"one.txt", "./one.txt", "hard.txt", "soft.txt"})
        QVERIFY2(same_file(path("one.txt"), path(other)), other);
    // Names of what is not there yet.
    for (const char* other : {"later.txt", "./later.txt", "to-come.txt"})
        QVERIFY2(same_file(path("later.txt"), path(other)), other);
    QVERIFY(!same_file(path("one.txt"), path("later.txt")));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(path(""));
    const bool relative = same_file("new.txt", "./new.txt") && same_file("new.txt", path("new.txt"));
    std::filesystem::current_path(before);
    QVERIFY(relative);
}

void AtomicFile::a_full_disk()
{
    const auto written = write_text("/dev/full", "x");
    QVERIFY(!written);
    QVERIFY2(written.error().message.find("No space left") != std::string::npos, written.error().message.c_str());
}

void AtomicFile::links_and_permissions_stay()
{
    QVERIFY(write_text(path("target.txt"), "old"));
    std::filesystem::permissions(path("target.txt"), std::filesystem::perms(0640));
    std::filesystem::create_symlink("target.txt", path("link.txt"));
    QVERIFY(write_text(path("link.txt"), "new"));
    QVERIFY(std::filesystem::is_symlink(path("link.txt")));
    QCOMPARE(content(path("target.txt")), "new");
    QCOMPARE(static_cast<int>(std::filesystem::status(path("target.txt")).permissions()), 0640);
    std::filesystem::create_symlink("nowhere.txt", path("dangling.txt"));
    QVERIFY(write_text(path("dangling.txt"), "new"));
    QCOMPARE(content(path("nowhere.txt")), "new");
}

void AtomicFile::devices_are_written_to()
{
    QVERIFY(write_text("/dev/null", "x"));
    QVERIFY(std::filesystem::is_character_file("/dev/null"));
    QCOMPARE(::mkfifo(path("pipe").c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = content(path("pipe")); });
    QVERIFY(write_text(path("pipe"), "through"));
    reader.join();
    QCOMPARE(got, "through");
    QVERIFY(std::filesystem::is_fifo(path("pipe")));
}

void AtomicFile::many_writers_of_one_file()
{
    std::vector<std::thread> threads;
    std::atomic<int> failures = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i)
                failures += write_text(path("many.txt"), std::string(10000, static_cast<char>('a' + t))) ? 0 : 1;
        });
    for (auto& thread : threads)
        thread.join();
    QCOMPARE(failures.load(), 0);
    const auto text = content(path("many.txt"));
    QCOMPARE(text, std::string(10000, text.empty() ? '?' : text[0])); // one writer's, whole
}

void AtomicFile::stamps()
{
    QVERIFY(write_text(path("s.txt"), "1"));
    const auto first = stamp_of(path("s.txt"));
    QVERIFY(first);
    QCOMPARE(first->size, 1);
    QVERIFY(*first == *stamp_of(path("s.txt")));
    QVERIFY(write_text(path("s.txt"), "2"));
    QVERIFY(!(*first == *stamp_of(path("s.txt"))));
    QCOMPARE(stamp_of(path("none")).error().kind, ErrorKind::NotFound);
}

QTEST_GUILESS_MAIN(AtomicFile)
#include "tst_file.moc"
