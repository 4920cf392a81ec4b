// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the compare page is made of, and what is connected with what.
#include "ui/charts/chart_style.h"
#include "ui/charts/heatmap_view.h"
#include "ui/charts/pair_scatter_view.h"
#include "ui/models/worse_model.h"
#include "ui/views/comparison_card.h"
#include "ui/views/token_columns.h"
#include "ui/window/compare_page.h"
#include "ui/window/page.h"
#include "ui/window/view_controls.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace flipscope {

PageKind comparePage()
{
    return {QStringLiteral("comparePage"), QCoreApplication::translate("flipscope::Pages", "Compare A | B"),
            lineIcon([](QPainter& p) {
                p.drawRect(QRectF(1.5, 2.5, 5.5, 11));
                p.fillRect(QRectF(9, 2.5, 5.5, 11), p.pen().brush());
            }),
            [](Session* session, QWidget* parent) { return new ComparePage(session, parent); },
            QCoreApplication::translate("flipscope::Pages", "Two runs side by side against one baseline: where they "
                                                            "differ, by how much, and whether that can be chance")};
}

ComparePage::ComparePage(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    auto* content = new QSplitter(Qt::Vertical);
    content->setObjectName(QStringLiteral("compareSplitter"));
    content->addWidget(makeUpper());
    content->addWidget(makeLower());
    content->setStretchFactor(0, 1);
    content->setStretchFactor(1, 1);
    content->setSizes({360, 360});
    content->setChildrenCollapsible(false);
    m_why = new QLabel;
    m_why->setObjectName(QStringLiteral("whyNoComparison"));
    m_why->setAlignment(Qt::AlignCenter);
    m_why->setWordWrap(true);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(m_why);
    auto* scrolled = new QScrollArea; // a low window cuts no chart: what does not fit is a turn of the wheel away
    scrolled->setObjectName(QStringLiteral("compareScroll"));
    scrolled->setAccessibleName(tr("The comparison of A and B"));
    scrolled->setFrameShape(QFrame::NoFrame);
    scrolled->setWidgetResizable(true);
    scrolled->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scrolled->setWidget(content);
    m_stack->addWidget(scrolled);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHead());
    layout->addWidget(new ViewControls(session, this));
    layout->addWidget(m_stack, 1);

    connect(session, &Session::runsChanged, this, &ComparePage::runsChanged);
    connect(session, &Session::comparedRunsChanged, this, &ComparePage::runsChanged);
    connect(session, &Session::viewChanged, this, &ComparePage::viewChanged);
    connect(session, &Session::rangeChanged, this, &ComparePage::viewChanged);
    connect(&session->path(), &DrilldownPath::changed, this, &ComparePage::followPath);
    applyStyle();
}

QWidget* ComparePage::makeHead()
{
    auto* head = new QWidget(this);
    const auto chooser = [&](const QString& name, const QString& accessible, const QString& tip) {
        auto* box = new QComboBox(head);
        box->setObjectName(name);
        box->setAccessibleName(accessible);
        box->setToolTip(tip);
        box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        box->setMinimumContentsLength(8);
        connect(box, &QComboBox::activated, this, &ComparePage::choiceMade);
        return box;
    };
    m_chooseA = chooser(QStringLiteral("compareA"), tr("Run A"),
                        tr("The run to start from. Opened from another page it is the run that was selected there"));
    m_chooseB = chooser(QStringLiteral("compareB"), tr("Run B"),
                        tr("The run that is held against A: every difference is B − A"));
    const auto button = [&](const QString& text, const QString& name, const QString& tip, void (ComparePage::*slot)()) {
        auto* made = new QToolButton(head);
        made->setText(text);
        made->setObjectName(name);
        made->setToolTip(tip);
        made->setAccessibleDescription(tip);
        made->setFocusPolicy(Qt::StrongFocus);
        connect(made, &QToolButton::clicked, this, slot);
        return made;
    };
    m_swap =
        button(tr("⇄ &Swap"), QStringLiteral("compareSwap"), tr("A becomes B and B becomes A"), &ComparePage::swap);
    m_rebaseline = button(tr("★ Re&baseline on A"), QStringLiteral("compareRebaseline"),
                          tr("Measures from A: A becomes the baseline, and the old baseline takes its place"),
                          &ComparePage::rebaseline);
    m_against = new QLabel(head);
    m_against->setObjectName(QStringLiteral("compareAgainst"));
    auto* labelA = new QLabel(tr("&A"), head);
    labelA->setBuddy(m_chooseA);
    auto* labelB = new QLabel(tr("&B"), head);
    labelB->setBuddy(m_chooseB);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(8, 4, 8, 0);
    for (QWidget* widget : std::initializer_list<QWidget*>{labelA, m_chooseA, m_swap, labelB, m_chooseB, m_against})
        row->addWidget(widget);
    row->addStretch();
    row->addWidget(m_rebaseline);
    return head;
}

QWidget* ComparePage::makeUpper()
{
    m_heatmap = new HeatmapView;
    m_heatmap->setObjectName(QStringLiteral("compareHeatmap"));
    m_difference = new HeatmapView;
    m_difference->setObjectName(QStringLiteral("compareDifference"));
    // High enough for no scroll bar: it would push the columns of one from above those of the other.
    m_heatmap->setMinimumHeight(210);
    m_difference->setMinimumHeight(150);
    auto* maps = new QSplitter(Qt::Vertical);
    maps->addWidget(m_heatmap);
    maps->addWidget(m_difference);
    maps->setSizes({220, 140});
    maps->setChildrenCollapsible(false);
    m_card = new ComparisonCard;
    auto* upper = new QSplitter(Qt::Horizontal);
    upper->addWidget(maps);
    upper->addWidget(m_card);
    upper->setStretchFactor(0, 1);
    upper->setStretchFactor(1, 0);
    upper->setSizes({700, 290});
    upper->setChildrenCollapsible(false);
    for (HeatmapView* view : {m_heatmap, m_difference}) {
        connect(view, &HeatmapView::upRequested, &m_session->path(), &DrilldownPath::up);
        connect(view, &HeatmapView::rangeRequested, m_session, &Session::setRange);
    }
    connect(m_heatmap, &HeatmapView::currentCellChanged, this, &ComparePage::cellChosen);
    connect(m_heatmap, &HeatmapView::cellActivated, this, &ComparePage::cellActivated);
    connect(m_difference, &HeatmapView::currentCellChanged, this, [this](int, int c) { differenceChosen(c); });
    connect(m_difference, &HeatmapView::cellActivated, this,
            [this](int, int c) { cellActivated(m_session->path().place().run == m_a ? 0 : 1, c); });
    connect(m_heatmap, &HeatmapView::cellHovered, m_difference,
            [this](int, int c) { m_difference->setHoveredColumn(c); });
    connect(m_difference, &HeatmapView::cellHovered, m_heatmap, [this](int, int c) { m_heatmap->setHoveredColumn(c); });
    return upper;
}

QWidget* ComparePage::makeLower()
{
    m_scatter = new PairScatterView;
    m_scatter->setObjectName(QStringLiteral("compareScatter"));
    connect(m_scatter, &PairScatterView::probeChosen, this, [this](qint64 t) { goToProbe(t, false); });
    connect(m_scatter, &PairScatterView::probeActivated, this, [this](qint64 t) { goToProbe(t, true); });
    makeWorse();
    m_settings = new QTreeWidget;
    m_settings->setObjectName(QStringLiteral("compareSettings"));
    m_settings->setAccessibleName(tr("Settings in which A and B differ"));
    m_settings->setFrameShape(QFrame::NoFrame);
    m_settings->setRootIsDecorated(false);
    m_settings->setTextElideMode(Qt::ElideMiddle);
    m_tabs = new QTabWidget;
    m_tabs->setObjectName(QStringLiteral("compareTabs"));
    m_tabs->setAccessibleName(tr("Lists and texts of the comparison"));
    m_tabs->setDocumentMode(true);
    const auto addTab = [this](QWidget* page, const QString& title, const QString& tip) {
        m_tabs->setTabToolTip(m_tabs->addTab(page, title), tip);
    };
    addTab(m_worse, tr("What got worse"),
           tr("Probes that only B flips, then all others whose KL(P‖Q) is larger in B; the most first"));
    addTab(m_settings, tr("Settings that differ"),
           tr("What the two traces state differently, in the order in which a token passes the pipeline"));
    addTab(makeTexts(), tr("Texts"), tr("What both wrote, in two columns that scroll together"));
    auto* lower = new QSplitter(Qt::Horizontal);
    lower->addWidget(m_scatter);
    lower->addWidget(m_tabs);
    lower->setStretchFactor(0, 2);
    lower->setStretchFactor(1, 3);
    lower->setSizes({400, 600});
    lower->setChildrenCollapsible(false);
    return lower;
}

void ComparePage::makeWorse()
{
    m_worseModel = new WorseModel(this);
    m_sorted = new QSortFilterProxyModel(this);
    m_sorted->setSourceModel(m_worseModel);
    m_sorted->setSortRole(WorseModel::SortRole);
    m_worse = new QTableView;
    m_worse->setObjectName(QStringLiteral("worseTable"));
    m_worse->setAccessibleName(tr("What got worse from A to B"));
    m_worse->setModel(m_sorted);
    m_worse->setFrameShape(QFrame::NoFrame);
    m_worse->setSortingEnabled(true);
    m_worse->sortByColumn(-1, Qt::AscendingOrder); // as found: what only B flips, then by how much
    m_worse->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_worse->setSelectionMode(QAbstractItemView::SingleSelection);
    m_worse->verticalHeader()->hide();
    m_worse->verticalHeader()->setDefaultSectionSize(m_worse->fontMetrics().height() + 6);
    m_worse->setWordWrap(false);
    // Numbers have the room that they need, tokens share the rest.
    QHeaderView* header = m_worse->horizontalHeader();
    const auto widthOf = [this](const char* text) {
        return m_worse->fontMetrics().horizontalAdvance(QString::fromUtf8(text)) + 8;
    };
    header->setMinimumSectionSize(widthOf("Baseline"));
    header->setDefaultSectionSize(widthOf("-0.00123"));
    for (const int column : {WorseModel::History, WorseModel::Baseline, WorseModel::TopA, WorseModel::TopB})
        header->setSectionResizeMode(column, QHeaderView::Stretch);
    header->resizeSection(WorseModel::Position, widthOf("100,000"));
    header->resizeSection(WorseModel::Flips, widthOf("only B"));
    connect(m_worse->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        if (index.isValid())
            goToProbe(index.data(WorseModel::PositionRole).toLongLong(), false);
    });
    connect(m_worse, &QTableView::activated, this,
            [this](const QModelIndex& index) { goToProbe(index.data(WorseModel::PositionRole).toLongLong(), true); });
}

QWidget* ComparePage::makeTexts()
{
    auto* page = new QWidget;
    m_chooseText = new QComboBox(page);
    m_chooseText->setObjectName(QStringLiteral("compareText"));
    m_chooseText->setAccessibleName(tr("Which texts"));
    m_chooseText->setToolTip(tr("The history of the window that is looked at, or what both wrote on from one place"));
    m_chooseText->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_chooseText->setMinimumContentsLength(24);
    m_textNote = new QLabel(page);
    m_textNote->setObjectName(QStringLiteral("compareTextNote"));
    m_texts = new TokenColumns(page);
    m_texts->setObjectName(QStringLiteral("compareTexts"));
    const auto button = [&](Qt::ArrowType arrow, const QString& tip, void (TokenColumns::*slot)()) {
        auto* made = new QToolButton(page);
        made->setArrowType(arrow);
        made->setToolTip(tip);
        made->setAccessibleName(tip);
        made->setAutoRaise(true);
        connect(made, &QToolButton::clicked, m_texts, slot);
        return made;
    };
    auto* row = new QHBoxLayout;
    row->setContentsMargins(6, 4, 6, 4);
    row->addWidget(m_chooseText, 1);
    row->addWidget(button(Qt::UpArrow, tr("Previous disagreement (P)"), &TokenColumns::previous));
    row->addWidget(button(Qt::DownArrow, tr("Next disagreement (N)"), &TokenColumns::next));
    row->addWidget(m_textNote);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(row);
    layout->addWidget(m_texts, 1);
    connect(m_chooseText, &QComboBox::activated, this, &ComparePage::showTexts);
    connect(m_texts, &TokenColumns::unitChosen, this, [this](qint64 key) {
        if (m_chooseText->currentData().toInt() < 0) // of the history: the probe that predicts it
            goToProbe(key - 1, true);
    });
    return page;
}

void ComparePage::applyStyle()
{
    const ChartStyle style = ChartStyle::ofPalette();
    m_heatmap->setStyle(style);
    m_difference->setStyle(style);
    m_scatter->setStyle(style);
}

} // namespace flipscope
