// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/notes_panel.h"

#include "ui/models/notes_model.h"
#include "ui/views/selection.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace flipscope {

NotesPanel::NotesPanel(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    m_model = new NotesModel(session, this);
    m_view = new QTableView(this);
    m_view->setObjectName(QStringLiteral("notesTable"));
    m_view->setAccessibleName(tr("Notes and bookmarks"));
    m_view->setModel(m_model);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(m_view->fontMetrics().height() + 8);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_view->setWordWrap(false);
    const auto button = [this](const QString& text, const QString& tip, const QString& name) {
        auto* made = new QToolButton(this);
        made->setText(text);
        made->setToolTip(tip);
        made->setAccessibleName(tip);
        made->setObjectName(name);
        return made;
    };
    m_add = button(tr("&Bookmark here"), tr("Bookmark the position that is looked at (Ctrl+D)"),
                   QStringLiteral("notesAdd"));
    m_remove = button(tr("&Remove"), tr("Remove the bookmark (Del)"), QStringLiteral("notesRemove"));
    auto* row = new QHBoxLayout;
    row->setContentsMargins(6, 4, 6, 4);
    row->addWidget(m_add);
    row->addWidget(m_remove);
    row->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(row);
    layout->addWidget(m_view, 1);

    auto* remove = new QAction(this);
    remove->setShortcut(QKeySequence::Delete);
    remove->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    m_view->addAction(remove);
    connect(remove, &QAction::triggered, this, &NotesPanel::removeCurrent);
    connect(m_add, &QToolButton::clicked, this, &NotesPanel::bookmarkHere);
    connect(m_remove, &QToolButton::clicked, this, &NotesPanel::removeCurrent);
    connect(m_view, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (index.column() != NotesModel::Text)
            goTo(index.row());
    });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &NotesPanel::updateButtons);
    connect(m_model, &QAbstractItemModel::modelReset, this, &NotesPanel::updateButtons);
    connect(&session->path(), &DrilldownPath::changed, this, &NotesPanel::updateButtons);
    updateButtons();
}

void NotesPanel::updateButtons()
{
    const Place& place = m_session->path().place();
    m_add->setEnabled(place.windowStart >= 0);
    m_remove->setEnabled(m_view->currentIndex().isValid());
}

void NotesPanel::bookmarkHere()
{
    const Place& place = m_session->path().place();
    const qint64 position = place.token >= 0 ? place.token : place.probe >= 0 ? place.probe + 1 : place.windowStart;
    if (position < 0)
        return;
    const auto& all = m_session->bookmarks();
    const auto known =
        std::ranges::find_if(all, [&](const Bookmark& b) { return b.position == position && b.run == place.run; });
    auto row = static_cast<int>(known - all.begin());
    if (known == all.end()) {
        m_session->addBookmark({position, place.run, {}});
        const auto it =
            std::ranges::find_if(all, [&](const Bookmark& b) { return b.position == position && b.run == place.run; });
        row = static_cast<int>(it - all.begin());
    }
    emit added();
    const QModelIndex words = m_model->index(row, NotesModel::Text);
    m_view->setCurrentIndex(words);
    if (m_view->isVisible()) {
        m_view->setFocus();
        m_view->edit(words);
    }
}

void NotesPanel::removeCurrent()
{
    const int row = m_view->currentIndex().row();
    m_session->removeBookmark(row);
    if (m_model->rowCount() > 0 && row >= 0)
        m_view->setCurrentIndex(m_model->index(std::min(row, m_model->rowCount() - 1), NotesModel::Position));
}

void NotesPanel::goTo(int row)
{
    const auto& all = m_session->bookmarks();
    if (row < 0 || row >= static_cast<int>(all.size()))
        return;
    const Bookmark& bookmark = all[static_cast<std::size_t>(row)];
    const SessionRun* run = m_session->run(bookmark.run);
    if (run == nullptr || run->state == SessionRun::State::Baseline)
        run = shownRun(*m_session);
    const qint64 tokens = m_session->extent().n_tokens;
    if (run == nullptr || bookmark.position >= tokens)
        return;
    const auto& positions = run->trace->probes.positions;
    const bool probe = std::ranges::binary_search(positions, bookmark.position - 1);
    m_session->path().go(placeAt(*m_session, run->id, probe ? bookmark.position - 1 : -1, bookmark.position));
}

} // namespace flipscope
