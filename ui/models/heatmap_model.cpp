// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/heatmap_model.h"

#include "core/text/token_text.h"

#include "ui/models/number_text.h"

namespace flipscope {

HeatmapModel::HeatmapModel(QObject* parent) : QAbstractTableModel(parent) {}

void HeatmapModel::setGrid(const HeatmapGrid& grid)
{
    const bool sameShape = grid.rows.size() == m_grid.rows.size() && grid.starts == m_grid.starts;
    if (!sameShape) {
        beginResetModel();
        m_grid = grid;
        endResetModel();
        return;
    }
    m_grid = grid;
    if (rowCount() == 0 || columnCount() == 0)
        return;
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    emit headerDataChanged(Qt::Vertical, 0, rowCount() - 1);
    emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

int HeatmapModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_grid.rows.size());
}

int HeatmapModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_grid.starts.size());
}

QString HeatmapModel::textOf(const HeatmapCell& cell) const
{
    switch (cell.state) {
    case HeatmapCell::State::Value:
        return m_grid.metric.share ? shareText(cell.value) : shortNatsText(cell.value);
    case HeatmapCell::State::Empty:
        return tr("no probe");
    case HeatmapCell::State::Invalid:
        return tr("invalid");
    case HeatmapCell::State::Infinite:
        return QStringLiteral("∞");
    case HeatmapCell::State::NotComparable:
        return tr("not comparable");
    case HeatmapCell::State::Pending:
        return QStringLiteral("…");
    }
    return {};
}

/// What a column is where it is no window: "assistant", "turn 3".
QString HeatmapModel::pieceText(std::size_t column) const
{
    const Piece& piece = m_grid.pieces[column];
    if (m_grid.by == Partition::Turns)
        return QString::fromStdString(piece.label);
    return piece.kind.empty() ? tr("no segment")
                              : QString::fromStdString(visible(piece.kind)).replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString HeatmapModel::explain(int row, int column) const
{
    const HeatmapRow& run = m_grid.rows[static_cast<std::size_t>(row)];
    const HeatmapCell& cell = run.cells[static_cast<std::size_t>(column)];
    QString text =
        tr("%1, tokens %2 to %3: %4 %5, n = %6")
            .arg(QString::fromStdString(run.name) +
                     (m_grid.pieces.empty() ? QString()
                                            : QStringLiteral(", ") + pieceText(static_cast<std::size_t>(column))),
                 groupedText(m_grid.starts[static_cast<std::size_t>(column)]),
                 groupedText(m_grid.ends[static_cast<std::size_t>(column)]),
                 QString::fromStdString(m_grid.metric.title), textOf(cell), groupedText(cell.n));
    if (cell.state == HeatmapCell::State::Value && m_grid.metric.counts_flips)
        text += tr(", 95 % interval %1 to %2").arg(shareText(cell.interval.low), shareText(cell.interval.high));
    if (cell.n_invalid > 0)
        text += tr(", %1 invalid").arg(groupedText(cell.n_invalid));
    if (cell.state == HeatmapCell::State::NotComparable && !run.note.empty())
        text += QStringLiteral(": ") + QString::fromStdString(run.note);
    return text;
}

QVariant HeatmapModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount())
        return {};
    const auto& cells = m_grid.rows[static_cast<std::size_t>(index.row())].cells;
    if (static_cast<std::size_t>(index.column()) >= cells.size())
        return {};
    const HeatmapCell& cell = cells[static_cast<std::size_t>(index.column())];
    switch (role) {
    case Qt::DisplayRole:
        return textOf(cell);
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole:
        return explain(index.row(), index.column());
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    case ValueRole:
        return cell.value;
    case CountRole:
        return static_cast<qint64>(cell.n);
    default:
        return {};
    }
}

QVariant HeatmapModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    const int count = orientation == Qt::Horizontal ? columnCount() : rowCount();
    if (section < 0 || section >= count)
        return {};
    const auto i = static_cast<std::size_t>(section);
    if (orientation == Qt::Horizontal) {
        if (role == Qt::DisplayRole)
            return i < m_grid.pieces.size() ? pieceText(i) + QLatin1Char(' ') + groupedText(m_grid.starts[i])
                                            : groupedText(m_grid.starts[i]);
        if (role == Qt::ToolTipRole)
            return tr("Tokens %1 to %2").arg(groupedText(m_grid.starts[i]), groupedText(m_grid.ends[i]));
        return {};
    }
    if (role == Qt::DisplayRole)
        return QString::fromStdString(m_grid.rows[i].name);
    if (role == Qt::ToolTipRole)
        return QString::fromStdString(m_grid.rows[i].note);
    return {};
}

} // namespace flipscope
