// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/notes_model.h"

#include "core/report/csv_fields.h"
#include "ui/models/history_text.h"
#include "ui/models/number_text.h"

namespace flipscope {

namespace {

QString runName(const Session& session, int id)
{
    const SessionRun* run = session.run(id);
    return run == nullptr ? QString() : run->name;
}

} // namespace

NotesModel::NotesModel(Session* session, QObject* parent)
    : QAbstractTableModel(parent), m_session(session), m_shown(session->bookmarks())
{
    connect(session, &Session::bookmarksChanged, this, &NotesModel::refresh);
    connect(session, &Session::runsChanged, this, [this] { // names, and texts of tokens
        if (!m_shown.empty())
            emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    });
}

void NotesModel::refresh()
{
    const auto& now = m_session->bookmarks();
    if (now.size() == m_shown.size()) { // words were edited: the selection stays
        m_shown = now;
        if (!now.empty())
            emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_shown = now;
    endResetModel();
}

int NotesModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

int NotesModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant NotesModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Bookmark& bookmark = m_shown[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole && index.column() == Position)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::EditRole && role != Qt::ToolTipRole)
        return {};
    switch (index.column()) {
    case Position:
        return groupedText(bookmark.position);
    case Token: {
        const SessionRun* base = m_session->baseline();
        return base == nullptr ? QString() : HistoryText(base->trace, &m_session->texts()).label(bookmark.position);
    }
    case Run:
        return bookmark.run < 0 ? tr("all") : runName(*m_session, bookmark.run);
    case Text:
        return QString::fromStdString(bookmark.text);
    default:
        return {};
    }
}

bool NotesModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (!index.isValid() || index.column() != Text || role != Qt::EditRole)
        return false;
    m_session->setBookmarkText(index.row(), value.toString().trimmed());
    return true;
}

Qt::ItemFlags NotesModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags usual = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == Text ? usual | Qt::ItemIsEditable : usual;
}

QVariant NotesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Position:
        return tr("Position");
    case Token:
        return tr("Token");
    case Run:
        return tr("Run");
    case Text:
        return tr("Note");
    default:
        return {};
    }
}

std::string notesCsv(const Session& session)
{
    std::string out = "position,run,text\n";
    for (const Bookmark& bookmark : session.bookmarks())
        out += fmt::format("{},{},{}\n", bookmark.position, csv::field(runName(session, bookmark.run).toStdString()),
                           csv::field(bookmark.text));
    return out;
}

QStringList noteLines(const Session& session)
{
    QStringList lines;
    for (const Bookmark& bookmark : session.bookmarks())
        if (!bookmark.text.empty())
            lines << QStringLiteral("%1: %2").arg(groupedText(bookmark.position),
                                                  QString::fromStdString(visible(bookmark.text)));
    return lines;
}

} // namespace flipscope
