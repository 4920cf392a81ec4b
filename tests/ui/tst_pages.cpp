// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of the window's centre: tabs, keys, made when first looked at.
#include "tests/ui/window_fixture.h"

#include "ui/window/page_stack.h"

#include <QLabel>
#include <QPainter>
#include <QSignalSpy>
#include <QTabBar>

using namespace flipscope;
using namespace flipscope::test;

class TestPages : public WindowFixture {
    Q_OBJECT

    static PageKind kind(const QString& name, int* made)
    {
        return {name, name.toUpper(), lineIcon([](QPainter& p) { p.drawLine(0, 0, 16, 16); }),
                [made](Session*, QWidget* parent) {
                    ++*made;
                    return new QLabel(parent);
                }};
    }

private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    void a_single_page_has_no_tabs()
    {
        int made = 0;
        PageStack stack({kind("one", &made)}, &session());
        stack.show();
        QVERIFY(QTest::qWaitForWindowExposed(&stack));
        QVERIFY(!stack.tabBar()->isVisible());
        QCOMPARE(stack.current(), QStringLiteral("one"));
        QCOMPARE(made, 1);
    }
    void pages_are_made_when_first_looked_at()
    {
        int one = 0, two = 0;
        PageStack stack({kind("one", &one), kind("two", &two)}, &session());
        QSignalSpy changed(&stack, &PageStack::currentChanged);
        stack.show();
        QVERIFY(QTest::qWaitForWindowExposed(&stack));
        QVERIFY(stack.tabBar()->isVisible());
        QCOMPARE(stack.tabBar()->tabText(1), QStringLiteral("TWO"));
        QCOMPARE(two, 0);
        QTest::mouseClick(stack.tabBar(), Qt::LeftButton, {}, stack.tabBar()->tabRect(1).center());
        QCOMPARE(stack.current(), QStringLiteral("two"));
        QCOMPARE(changed.size(), 1);
        QVERIFY(stack.page("two")->isVisible());
        QVERIFY(!stack.page("one")->isVisible());
        stack.showPage("one");
        stack.showPage("two");
        stack.showPage("no such page");
        QCOMPARE(stack.current(), QStringLiteral("two"));
        QCOMPARE(two, 1); // made once
        QCOMPARE(one, 1);
        QVERIFY(stack.page("no such page") == nullptr);
    }
    void actions_follow_and_lead()
    {
        int made = 0;
        PageStack stack({kind("one", &made), kind("two", &made)}, &session());
        QCOMPARE(stack.actions()[1]->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_2));
        QVERIFY(stack.actions()[0]->isChecked());
        stack.actions()[1]->trigger();
        QCOMPARE(stack.current(), QStringLiteral("two"));
        stack.tabBar()->setCurrentIndex(0);
        QVERIFY(stack.actions()[0]->isChecked());
        QVERIFY(!stack.actions()[1]->isChecked());
    }
    void icons_have_the_colour_of_text()
    {
        const QIcon icon = lineIcon([](QPainter& p) { p.fillRect(0, 0, 16, 16, p.pen().brush()); });
        for (const ThemeChoice theme : {ThemeChoice::Dark, ThemeChoice::Light}) {
            applyTheme(theme);
            QCOMPARE(icon.pixmap(16).toImage().pixelColor(8, 8),
                     QGuiApplication::palette().color(QPalette::WindowText));
        }
    }
    void the_window_begins_with_the_overview()
    {
        QVERIFY(!m_window->pages()->isVisible()); // the start page
        for (const QAction* action : m_window->pages()->actions())
            QVERIFY(!action->isEnabled());
        openUsual();
        QVERIFY(m_window->pages()->isVisible());
        QCOMPARE(m_window->pages()->current(), QStringLiteral("overviewPage"));
        QCOMPARE(m_window->pages()->page("overviewPage"), m_window->heatmapPanel());
        QCOMPARE(m_window->pages()->tabBar()->isVisible(), m_window->pages()->actions().size() > 1);
        QVERIFY(m_window->pages()->actions().front()->isEnabled());
    }
};

FLIPSCOPE_GUI_TEST(TestPages)
#include "tst_pages.moc"
