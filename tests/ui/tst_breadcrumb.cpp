// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The breadcrumb bar: what it says, where its parts lead, and what it does where the room is short.
#include "tests/ui/views_fixture.h"

#include "ui/views/breadcrumb_bar.h"

#include <QToolButton>

using namespace flipscope;
using namespace flipscope::test;

class BreadcrumbTest : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void says_where_one_is()
    {
        QTemporaryDir dir;
        Session session;
        BreadcrumbBar bar(&session);
        bar.resize(700, 28);
        bar.show();
        QVERIFY(bar.parts().isEmpty());
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        QCOMPARE(bar.parts(), QStringList{QStringLiteral("base")});
        const int run = session.visibleRuns().front()->id;
        session.setWindowTokens(128);
        session.path().go({run, -1, -1, -1});
        QCOMPARE(bar.parts(), (QStringList{QStringLiteral("base"), QStringLiteral("run")}));
        session.path().go({run, 384, 399, 400});
        // The last window ends where the history does.
        QCOMPARE(bar.parts(),
                 (QStringList{QStringLiteral("base"), QStringLiteral("run"), QStringLiteral("window 384–400"),
                              QStringLiteral("probe 399"), QStringLiteral("token 400")}));
        session.rename(run, QStringLiteral("another & name"));
        QCOMPARE(bar.parts()[1], QStringLiteral("another & name"));
        QCOMPARE(bar.button(1)->text(), QStringLiteral("another && name")); // no mnemonic
    }

    void parts_lead_back_up()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        session.setWindowTokens(64);
        const int run = session.visibleRuns().front()->id;
        BreadcrumbBar bar(&session);
        bar.resize(700, 28);
        bar.show();
        auto* back = bar.findChild<QToolButton*>(QStringLiteral("back"));
        auto* forward = bar.findChild<QToolButton*>(QStringLiteral("forward"));
        QVERIFY(!back->isEnabled());
        const Place deep{run, 64, 95, 96};
        session.path().go(deep);
        QVERIFY(back->isEnabled());
        QVERIFY(!forward->isEnabled());
        QTest::mouseClick(bar.button(2), Qt::LeftButton);
        QCOMPARE(session.path().place(), (Place{run, 64, -1, -1}));
        QCOMPARE(bar.parts().size(), 3);
        QTest::mouseClick(back, Qt::LeftButton);
        QCOMPARE(session.path().place(), deep);
        QTest::mouseClick(forward, Qt::LeftButton);
        QCOMPARE(session.path().place(), (Place{run, 64, -1, -1}));
        bar.button(1)->setFocus();
        QTest::keyClick(bar.button(1), Qt::Key_Space);
        QCOMPARE(session.path().place(), (Place{run, -1, -1, -1}));
        QTest::mouseClick(bar.button(0), Qt::LeftButton);
        QCOMPARE(session.path().place(), Place{});
        QCOMPARE(bar.parts().size(), 1);
    }

    void elides_in_the_middle()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        const int run = session.visibleRuns().front()->id;
        const QString name = QStringLiteral("Qwen3.6-27B-AWQ-BF16-INT4-group-size-32-with-a-very-long-name-mse");
        session.rename(run, name);
        session.path().go({run, 0, 47, 48});
        BreadcrumbBar bar(&session);
        bar.show();
        for (const int width : {1600, 700, 480, 320, 120, 40}) {
            bar.resize(width, 28);
            QCoreApplication::processEvents();
            if (width == 1600)
                QCOMPARE(bar.button(1)->text(), name);
            if (width == 480) {
                const QString shown = bar.button(1)->text();
                QVERIFY2(shown.contains(QChar(u'…')) && shown.startsWith(QStringLiteral("Q")), qPrintable(shown));
                QVERIFY(!shown.endsWith(QChar(u'…')));
                QCOMPARE(bar.button(4)->text(), QStringLiteral("token 48")); // short ones stay whole
                QCOMPARE(bar.button(1)->toolTip(), name);
            }
            for (int i = 0; i < 5 && width >= 320; ++i)
                QVERIFY2(bar.button(i)->geometry().right() <= width, qPrintable(QString::number(width)));
        }
    }
};

FLIPSCOPE_GUI_TEST(BreadcrumbTest)
#include "tst_breadcrumb.moc"
