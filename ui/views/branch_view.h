// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/text/token_text.h"
#include "core/toolcalls/forced_calls.h"
#include "ui/session/call_results.h"

#include <QWidget>

class QTableView;
class QTextBrowser;

namespace flipscope {

class TokenColumns;
class BranchTokensModel;

/// One call of one run: what became of it, where the two continuations part, what each side found likely there, and
/// both texts, common stem first, in two columns.
class BranchView : public QWidget {
    Q_OBJECT
public:
    explicit BranchView(QWidget* parent = nullptr);

    /// `row` of calls.rows. Everything is copied out but `texts`, which must outlive the next call.
    void show(const QString& runName, const RunCallsPtr& calls, std::size_t row, const ForcedCalls& forced,
              const TokenTexts* texts);
    void clear(const QString& why);

    QTextBrowser* facts() const { return m_facts; }
    TokenColumns* texts() const { return m_texts; }
    QTableView* tokens() const { return m_tokens; }

private:
    QTextBrowser* m_facts;
    QTableView* m_tokens;
    BranchTokensModel* m_tokensModel;
    TokenColumns* m_texts;
};

} // namespace flipscope
