// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/tool_call_model.h"

#include "core/text/token_text.h"
#include "ui/models/number_text.h"

#include <QColor>
#include <QFont>
#include <QGuiApplication>
#include <QPalette>

#include <algorithm>
#include <map>

namespace flipscope {

namespace {

QString textOf(std::string_view bytes)
{
    return QString::fromStdString(visible(bytes));
}

QString word(Outcome outcome)
{
    const std::string_view text = outcome_word(outcome);
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString valueText(const std::optional<std::string>& value)
{
    return value ? QLatin1Char('"') + textOf(*value) + QLatin1Char('"') : ToolCallModel::tr("nothing");
}

/// `command="show arp", count=5`
QString argumentsText(const Call& call)
{
    QStringList parts;
    for (const Argument& argument : call.arguments()) {
        std::string_view path = argument.path;
        if (path.starts_with("$."))
            path.remove_prefix(2);
        const QString value = textOf(argument.value);
        parts << textOf(path) + QLatin1Char('=') +
                     (argument.type == Argument::Type::Text ? QLatin1Char('"') + value + QLatin1Char('"') : value);
    }
    return parts.join(QStringLiteral(", "));
}

/// A quiet ground for broken calls, from the palette of the moment.
QColor brokenGround()
{
    const QColor base = QGuiApplication::palette().color(QPalette::Base);
    return base.lightnessF() < 0.5F ? QColor(92, 52, 24) : QColor(255, 232, 204);
}

} // namespace

void ToolCallModel::setCalls(const TraceCallsPtr& baseline, QVector<Run> runs)
{
    beginResetModel();
    m_baseline = baseline;
    m_runs = std::move(runs);
    // Lines in the order of the baseline's calls; an extra call stands behind the call it follows, those of several
    // runs beside each other.
    std::map<std::pair<std::int64_t, int>, Line> lines;
    for (int r = 0; r < m_runs.size(); ++r) {
        if (!m_runs[r].calls)
            continue;
        const auto& rows = m_runs[r].calls->rows;
        std::int64_t anchor = -1;
        int extra = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].baseline_index) {
                anchor = static_cast<std::int64_t>(*rows[i].baseline_index);
                extra = 0;
            } else {
                ++extra;
            }
            Line& line = lines[{anchor, extra}];
            line.rows.resize(m_runs.size(), -1);
            line.rows[r] = static_cast<int>(i);
            line.number = rows[i].baseline_index ? static_cast<int>(anchor) : -1;
        }
    }
    m_lines.clear();
    m_lines.reserve(static_cast<qsizetype>(lines.size()));
    for (auto& [key, line] : lines)
        m_lines.append(std::move(line));
    endResetModel();
}

int ToolCallModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
}

int ToolCallModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : FirstRun + static_cast<int>(m_runs.size());
}

const CallRow* ToolCallModel::callAt(const QModelIndex& index) const
{
    const int run = index.column() - FirstRun;
    if (!index.isValid() || run < 0 || run >= m_runs.size())
        return nullptr;
    const int row = m_lines[index.row()].rows[run];
    return row < 0 ? nullptr : &m_runs[run].calls->rows[static_cast<std::size_t>(row)];
}

bool ToolCallModel::brokenLine(int line) const
{
    for (int run = 0; run < m_runs.size(); ++run) {
        const CallRow* row = callAt(index(line, FirstRun + run));
        if (row != nullptr && row->broken())
            return true;
    }
    return false;
}

QModelIndex ToolCallModel::nextBroken(const QModelIndex& from, bool backwards) const
{
    const int runs = static_cast<int>(m_runs.size());
    const int cells = static_cast<int>(m_lines.size()) * runs, step = backwards ? -1 : 1;
    int cell = !from.isValid() ? (backwards ? cells : -1)
                               : from.row() * runs + std::max(from.column() - FirstRun, backwards ? 0 : -1);
    for (cell += step; cell >= 0 && cell < cells; cell += step) {
        const QModelIndex candidate = index(cell / runs, FirstRun + cell % runs);
        const CallRow* row = callAt(candidate);
        if (row != nullptr && row->broken())
            return candidate;
    }
    return {};
}

const CallRow* ToolCallModel::anyCall(const Line& line) const
{
    for (int run = 0; run < m_runs.size(); ++run)
        if (line.rows[run] >= 0)
            return &m_runs[run].calls->rows[static_cast<std::size_t>(line.rows[run])];
    return nullptr;
}

const Call* ToolCallModel::shownCall(const Line& line) const
{
    for (int run = 0; run < m_runs.size(); ++run) {
        if (line.rows[run] < 0)
            continue;
        const RunCalls& calls = *m_runs[run].calls;
        const CallRow& row = calls.rows[static_cast<std::size_t>(line.rows[run])];
        const auto& both = calls.continuations[static_cast<std::size_t>(row.continuation)];
        if (row.baseline_call)
            return &calls.baseline->continuations[both.baseline].found.calls[*row.baseline_call];
        if (row.run_call)
            return &calls.run->continuations[both.run].found.calls[*row.run_call];
    }
    return nullptr;
}

QString ToolCallModel::cellText(const CallRow& row) const
{
    const std::string_view symbol = outcome_symbol(row.outcome);
    QString text =
        QString::fromUtf8(symbol.data(), static_cast<qsizetype>(symbol.size())) + QLatin1Char(' ') + word(row.outcome);
    if (row.parser_disagrees && row.outcome != Outcome::ParserDisagrees)
        text += tr(", parser disagrees");
    return text;
}

QString ToolCallModel::cellTip(const CallRow& row) const
{
    const std::string_view description = outcome_description(row.outcome);
    QStringList lines{QString::fromUtf8(description.data(), static_cast<qsizetype>(description.size()))};
    if (row.outcome == Outcome::OtherTool)
        lines << tr("%1 became %2").arg(textOf(row.name), textOf(row.run_name));
    if (!row.path.empty())
        lines << tr("%1: %2 became %3").arg(textOf(row.path), valueText(row.baseline_value), valueText(row.value));
    if (!row.note.empty())
        lines << QString::fromStdString(row.note);
    if (row.parser_disagrees)
        lines << QString::fromStdString(row.parser_note);
    if (row.recovers)
        lines << (*row.recovers ? tr("Later calls come back to the baseline's.")
                                : tr("Later calls do not come back to the baseline's."));
    return lines.join(QLatin1Char('\n'));
}

QVariant ToolCallModel::callData(const QModelIndex& index, int role) const
{
    const CallRow* row = callAt(index);
    const Run& run = m_runs[index.column() - FirstRun];
    if (row == nullptr) {
        if (role == Qt::DisplayRole)
            return QStringLiteral("–");
        if (role == Qt::ToolTipRole)
            return m_lines[index.row()].number < 0 ? tr("%1 makes no such call").arg(run.name)
                                                   : tr("%1 has no continuation from here").arg(run.name);
        return {};
    }
    switch (role) {
    case Qt::DisplayRole:
        return cellText(*row);
    case Qt::ToolTipRole:
        return cellTip(*row);
    case BrokenRole:
        return row->broken();
    case RowRole:
        return m_lines[index.row()].rows[index.column() - FirstRun];
    case Qt::FontRole: {
        QFont font;
        font.setBold(row->broken());
        return font;
    }
    case Qt::BackgroundRole:
        return row->broken() ? QVariant(brokenGround()) : QVariant();
    default:
        return {};
    }
}

QVariant ToolCallModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    if (index.column() >= FirstRun)
        return callData(index, role);
    const Line& line = m_lines[index.row()];
    const CallRow* row = anyCall(line);
    const Call* call = shownCall(line);
    if (role == BrokenRole)
        return brokenLine(index.row());
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((index.column() <= Position ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if ((role != Qt::DisplayRole && role != Qt::ToolTipRole) || row == nullptr)
        return {};
    switch (index.column()) {
    case Number:
        return line.number < 0 ? tr("extra") : QString::number(line.number);
    case Position:
        return groupedText(row->start_position);
    case Tool:
        return textOf(row->name);
    default: {
        const QString text = call == nullptr ? QString() : argumentsText(*call);
        return text.size() > 200 && role == Qt::DisplayRole ? text.left(200) + QStringLiteral("…") : text;
    }
    }
}

QVariant ToolCallModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    if (section >= FirstRun) {
        const Run& run = m_runs[section - FirstRun];
        if (role == Qt::DisplayRole)
            return run.name;
        if (role == Qt::ToolTipRole)
            return run.calls ? QString::fromStdString(run.calls->summary.text) : run.problem;
        return {};
    }
    struct Heading {
        QString title, tip;
    };
    const Heading headings[FirstRun] = {
        {tr("Call"), tr("Number of the baseline's call, as flipscope toolcalls counts them")},
        {tr("Token"), tr("Position of the call's first token")},
        {tr("Tool"), tr("The tool that the baseline calls")},
        {tr("Arguments"), tr("The arguments that the baseline gives")}};
    if (role == Qt::DisplayRole)
        return headings[section].title;
    if (role == Qt::ToolTipRole)
        return headings[section].tip;
    return {};
}

} // namespace flipscope
