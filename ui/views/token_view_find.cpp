// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The line above the text: find, and go to a position.
#include "ui/models/number_text.h"
#include "ui/views/token_view.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include <algorithm>

namespace flipscope {

void TokenView::showBar(Bar bar)
{
    m_mode = bar;
    const bool find = bar == Bar::Find;
    m_barLabel->setText(find ? tr("Find:") : tr("Go to token:"));
    m_barEdit->setAccessibleName(find ? tr("Text to find in the history") : tr("Position of the token to go to"));
    m_barEdit->setToolTip(find ? tr("Text as it stands in the history, or #1234 for the token with that id")
                               : tr("Position in the history, counted from 0; thousands may have commas"));
    m_barEdit->setPlaceholderText(
        find ? tr("text, or #id") : tr("0 to %1").arg(groupedText(std::max<qint64>(m_area->history().size() - 1, 0))));
    m_barEdit->setText(find ? m_searched : QString());
    m_barNote->clear();
    m_regex->setVisible(find);
    m_findPrevious->setVisible(find);
    m_findNext->setVisible(find);
    m_bar->show();
    m_barEdit->setFocus();
    m_barEdit->selectAll();
}

void TokenView::showFind()
{
    showBar(Bar::Find);
    if (!m_searched.isEmpty())
        search();
}

void TokenView::showGoTo()
{
    showBar(Bar::GoTo);
}

void TokenView::hideBar()
{
    m_bar->hide();
    m_area->setFound(-1, -1);
    m_area->setFocus();
}

bool TokenView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_barEdit)
        return QWidget::eventFilter(watched, event);
    if (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride)
        return false;
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    const bool ours = enter || key->key() == Qt::Key_Escape || key->key() == Qt::Key_F3;
    if (!ours)
        return false;
    if (event->type() == QEvent::ShortcutOverride) {
        event->accept();
        return true;
    }
    const int direction = key->modifiers() & Qt::ShiftModifier ? -1 : 1;
    if (key->key() == Qt::Key_Escape)
        hideBar();
    else if (m_mode == Bar::Find)
        findFrom(direction);
    else if (enter)
        jump();
    return true;
}

bool TokenView::findMatches()
{
    if (!m_search)
        m_search.emplace(m_area->history());
    if (!m_regex->isChecked()) {
        m_matches = m_search->find(m_searched);
        return true;
    }
    const auto found = m_search->findRegex(m_searched);
    m_matches = found.value_or(std::vector<HistorySearch::Match>{});
    if (!found) {
        m_barNote->setText(found.error());
        m_area->setFound(-1, -1);
    }
    return found.has_value();
}

void TokenView::search()
{
    m_searched = m_barEdit->text();
    if (!findMatches())
        return;
    if (m_searched.isEmpty()) {
        m_barNote->clear();
        m_area->setFound(-1, -1);
        return;
    }
    if (m_matches.empty()) {
        m_barNote->setText(tr("not found"));
        m_area->setFound(-1, -1);
        return;
    }
    // The first match from here on is shown while one types; Enter goes there.
    const qint64 here = std::max<qint64>(m_area->current() >= 0 ? m_area->current() : m_area->topToken(), 0);
    auto it = std::find_if(m_matches.begin(), m_matches.end(), [here](const auto& m) { return m.first >= here; });
    if (it == m_matches.end())
        it = m_matches.begin();
    m_barNote->setText(
        tr("%1 of %2")
            .arg(groupedText(it - m_matches.begin() + 1), groupedText(static_cast<qint64>(m_matches.size()))));
    m_area->setFound(it->first, it->last);
    m_area->ensureVisible(it->first);
}

void TokenView::findFrom(int direction)
{
    if (m_bar->isHidden() && m_searched.isEmpty())
        return showFind();
    if (!m_bar->isHidden() && m_mode == Bar::Find)
        m_searched = m_barEdit->text();
    if (!findMatches())
        return;
    if (m_matches.empty()) {
        m_barNote->setText(m_searched.isEmpty() ? QString() : tr("not found"));
        return;
    }
    const qint64 here = m_area->current();
    auto it = m_matches.begin();
    if (direction > 0) {
        it = std::find_if(it, m_matches.end(), [here](const auto& m) { return m.first > here; });
        if (it == m_matches.end())
            it = m_matches.begin();
    } else {
        it = std::lower_bound(it, m_matches.end(), here, [](const auto& m, qint64 t) { return m.first < t; });
        it = it == m_matches.begin() ? std::prev(m_matches.end()) : std::prev(it);
    }
    m_barNote->setText(
        tr("%1 of %2")
            .arg(groupedText(it - m_matches.begin() + 1), groupedText(static_cast<qint64>(m_matches.size()))));
    m_area->setFound(it->first, it->last);
    m_area->setCurrent(it->first, true);
    commit(it->first);
}

void TokenView::jump()
{
    QString digits = m_barEdit->text().simplified();
    digits.remove(QLatin1Char(','));
    digits.remove(QLatin1Char(' '));
    bool ok = false;
    const qint64 token = digits.toLongLong(&ok);
    const qint64 size = m_area->history().size();
    if (!ok) {
        m_barNote->setText(tr("“%1” is not a position: give a number.").arg(m_barEdit->text()));
        return;
    }
    if (token < 0 || token >= size) {
        m_barNote->setText(size == 0 ? tr("There are no tokens.")
                                     : tr("There is no token %1: the history goes from 0 to %2.")
                                           .arg(groupedText(token), groupedText(size - 1)));
        return;
    }
    hideBar();
    m_area->setCurrent(token, true);
    commit(token);
}

} // namespace flipscope
