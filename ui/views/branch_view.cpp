// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/branch_view.h"

#include "ui/models/branch_tokens_model.h"
#include "ui/models/compare_texts.h"
#include "ui/views/branch_facts.h"
#include "ui/views/share_delegate.h"
#include "ui/views/token_columns.h"

#include <QHeaderView>
#include <QSplitter>
#include <QTableView>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace flipscope {

BranchView::BranchView(QWidget* parent)
    : QWidget(parent), m_facts(new QTextBrowser), m_tokens(new QTableView), m_tokensModel(new BranchTokensModel(this)),
      m_texts(new TokenColumns)
{
    m_facts->setObjectName(QStringLiteral("branchFacts"));
    m_facts->setAccessibleName(tr("What became of the call"));
    m_facts->setFrameShape(QFrame::NoFrame);
    m_facts->setOpenLinks(false);
    m_tokens->setObjectName(QStringLiteral("branchTokens"));
    m_tokens->setAccessibleName(tr("Likeliest tokens of both sides where they part"));
    m_tokens->setModel(m_tokensModel);
    m_tokens->setItemDelegate(new ShareDelegate(m_tokens));
    m_tokens->setFrameShape(QFrame::NoFrame);
    m_tokens->setShowGrid(false);
    m_tokens->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_tokens->verticalHeader()->hide();
    m_tokens->verticalHeader()->setDefaultSectionSize(m_tokens->fontMetrics().height() + 6);
    m_tokens->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_texts->setObjectName(QStringLiteral("branchTexts"));
    m_texts->setAccessibleName(tr("Texts of the baseline and the run in two columns"));
    auto* upper = new QSplitter(Qt::Horizontal);
    upper->addWidget(m_facts);
    upper->addWidget(m_tokens);
    upper->setStretchFactor(0, 3);
    upper->setStretchFactor(1, 2);
    upper->setSizes({600, 360});
    upper->setChildrenCollapsible(false);
    auto* both = new QSplitter(Qt::Vertical);
    both->addWidget(upper);
    both->addWidget(m_texts);
    both->setSizes({190, 150});
    both->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(both);
}

void BranchView::show(const QString& runName, const RunCallsPtr& calls, std::size_t row, const ForcedCalls& forced,
                      const TokenTexts* texts)
{
    m_facts->setHtml(branchFacts(runName, *calls, row, forced));
    const auto& continuation = calls->continuations[static_cast<std::size_t>(calls->rows[row].continuation)];
    m_tokensModel->setDivergence(continuation.divergence ? &*continuation.divergence : nullptr, texts);
    ContinuationPair pair;
    pair.a = &calls->baseline->trace->generations[calls->baseline->continuations[continuation.baseline].generation];
    pair.b = &calls->run->trace->generations[calls->run->continuations[continuation.run].generation];
    pair.first_difference = continuation.divergence ? continuation.divergence->step : -1;
    m_texts->setUnits(continuationUnits(pair, *texts));
    m_texts->setCurrentKey(continuation.divergence ? continuation.divergence->position
                                                   : calls->rows[row].start_position);
}

void BranchView::clear(const QString& why)
{
    m_facts->setPlainText(why);
    m_tokensModel->setDivergence(nullptr, nullptr);
    m_texts->setUnits({});
}

} // namespace flipscope
