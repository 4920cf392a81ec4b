// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/probe_table_model.h"

#include "ui/models/number_text.h"

#include <QHash>
#include <QSet>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flipscope {

namespace {

QString qt(std::string_view s)
{
    return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}

QVector<ProbeTableModel::Column> makeColumns()
{
    using Column = ProbeTableModel::Column;
    using Text = ProbeTableModel::Text;
    static const QSet<QString> shown = {
        QStringLiteral("position"), QStringLiteral("flip"),  QStringLiteral("tied"), QStringLiteral("kl_pq"),
        QStringLiteral("kl_qp"),    QStringLiteral("tv"),    QStringLiteral("rank"), QStringLiteral("margin"),
        QStringLiteral("p_top"),    QStringLiteral("q_top"),
    };
    QVector<Column> columns;
    for (const ProbeColumn& metric : probe_columns()) {
        const QString name = qt(metric.name);
        columns.push_back({name, qt(metric.title), qt(metric.unit), qt(metric.description), &metric, Text::None,
                           shown.contains(name)});
        if (columns.size() > 1)
            continue;
        // The tokens stand right after the position.
        columns.push_back({QStringLiteral("token_fed"),
                           QStringLiteral("Token fed"),
                           {},
                           QStringLiteral("The history's token at the probe's position, the last one fed"),
                           nullptr,
                           Text::Fed,
                           true});
        columns.push_back({QStringLiteral("token_next"),
                           QStringLiteral("Next token"),
                           {},
                           QStringLiteral("The history's own next token, the one that the probe predicts"),
                           nullptr,
                           Text::Next,
                           true});
        columns.push_back({QStringLiteral("top_p"),
                           QStringLiteral("Top of baseline"),
                           {},
                           QStringLiteral("The baseline's most probable next token"),
                           nullptr,
                           Text::TopP,
                           true});
        columns.push_back({QStringLiteral("top_q"),
                           QStringLiteral("Top of run"),
                           {},
                           QStringLiteral("The run's most probable next token"),
                           nullptr,
                           Text::TopQ,
                           true});
    }
    return columns;
}

std::optional<double> number(const ProbeTableModel::Column& column, const ProbeMetrics& probe)
{
    const std::optional<double> value = column.metric ? column.metric->value(probe) : std::nullopt;
    return value && std::isnan(*value) ? std::nullopt : value;
}

} // namespace

const QVector<ProbeTableModel::Column>& ProbeTableModel::columns()
{
    static const QVector<Column> all = makeColumns();
    return all;
}

int ProbeTableModel::columnNamed(const QString& name)
{
    const auto& all = columns();
    for (int i = 0; i < all.size(); ++i) {
        if (all[i].name == name)
            return i;
    }
    return -1;
}

ProbeTableModel::ProbeTableModel(QObject* parent)
    : QAbstractTableModel(parent), m_sortColumn(columnNamed(QStringLiteral("kl_pq")))
{
}

void ProbeTableModel::setTable(TablePtr table, HistoryText history)
{
    m_table = std::move(table);
    m_history = std::move(history);
    rebuild();
}

void ProbeTableModel::refreshTexts()
{
    if (!m_rows.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void ProbeTableModel::setFilter(ProbeFilter filter)
{
    m_filter = std::move(filter);
    rebuild();
}

void ProbeTableModel::setWindow(std::optional<std::pair<qint64, qint64>> window)
{
    if (window == m_window)
        return;
    m_window = window;
    rebuild();
}

void ProbeTableModel::rebuild()
{
    beginResetModel();
    m_rows = filteredRows();
    sortRows(m_rows);
    endResetModel();
}

std::vector<int> ProbeTableModel::filteredRows() const
{
    std::vector<int> rows;
    if (!m_table)
        return rows;
    // A text is looked for in each id once, not once a row.
    QHash<QString, QHash<std::int32_t, bool>> known;
    const auto inId = [&](const QString& text, std::int32_t id) {
        if (id < 0)
            return false;
        auto& answers = known[text];
        auto it = answers.find(id);
        if (it == answers.end())
            it = answers.insert(id, m_history.idLabel(id).contains(text, Qt::CaseInsensitive));
        return *it;
    };
    const auto inHistory = [&](const QString& text, qint64 position) {
        const auto bytes = m_history.bytes(position);
        return (bytes && qt(*bytes).contains(text, Qt::CaseInsensitive)) ||
               m_history.label(position).contains(text, Qt::CaseInsensitive);
    };
    const auto matches = [&](const QString& text, const ProbeMetrics& m) {
        // What is typed with a plain space finds the token that is shown with "␣".
        QString shown = text;
        if (shown.startsWith(QLatin1Char(' ')))
            shown[0] = QChar(u'␣');
        return inHistory(text, m.position) || inHistory(text, m.position + 1) || inId(shown, m.argmax_p) ||
               inId(shown, m.argmax_q);
    };
    const int n = probeCount();
    rows.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        const ProbeMetrics& m = m_table->probes[static_cast<std::size_t>(i)];
        if (m_window && (m.position < m_window->first || m.position >= m_window->second))
            continue;
        if (m_filter.accepts(m, matches))
            rows.push_back(i);
    }
    return rows;
}

void ProbeTableModel::sortRows(std::vector<int>& rows) const
{
    if (!m_table || m_sortColumn < 0 || m_sortColumn >= columns().size())
        return;
    const Column& column = columns()[m_sortColumn];
    const bool descending = m_sortOrder == Qt::DescendingOrder;
    std::sort(rows.begin(), rows.end()); // table order is the order of position; stable_sort keeps it for equals
    const auto probeOf = [&](int i) -> const ProbeMetrics& { return m_table->probes[static_cast<std::size_t>(i)]; };
    if (column.metric) {
        struct Key {
            double value;
            int row;
        };
        std::vector<Key> keys;
        std::vector<int> without; // behind the others
        keys.reserve(rows.size());
        for (const int i : rows) {
            if (const auto value = number(column, probeOf(i)))
                keys.push_back({*value, i});
            else
                without.push_back(i);
        }
        std::sort(keys.begin(), keys.end(), [descending](const Key& a, const Key& b) {
            if (a.value != b.value)
                return descending ? a.value > b.value : a.value < b.value;
            return a.row < b.row;
        });
        std::transform(keys.begin(), keys.end(), rows.begin(), [](const Key& key) { return key.row; });
        std::copy(without.begin(), without.end(), rows.begin() + static_cast<std::ptrdiff_t>(keys.size()));
        return;
    }
    std::vector<QString> keys(m_table->probes.size());
    for (const int i : rows)
        keys[static_cast<std::size_t>(i)] = tokenText(column.text, probeOf(i));
    std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) {
        const QString &x = keys[static_cast<std::size_t>(a)], &y = keys[static_cast<std::size_t>(b)];
        if (x.isEmpty() || y.isEmpty())
            return !x.isEmpty() && y.isEmpty();
        return descending ? x > y : x < y;
    });
}

void ProbeTableModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0 || column >= columns().size() || (column == m_sortColumn && order == m_sortOrder))
        return;
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const std::vector<int> before = m_rows;
    m_sortColumn = column;
    m_sortOrder = order;
    sortRows(m_rows);
    const QModelIndexList old = persistentIndexList();
    if (!old.isEmpty()) {
        std::vector<int> rowOfProbe(m_table ? m_table->probes.size() : 0, -1);
        for (std::size_t row = 0; row < m_rows.size(); ++row)
            rowOfProbe[static_cast<std::size_t>(m_rows[row])] = static_cast<int>(row);
        QModelIndexList moved;
        moved.reserve(old.size());
        for (const QModelIndex& i : old) {
            const int probe = before[static_cast<std::size_t>(i.row())];
            moved << index(rowOfProbe[static_cast<std::size_t>(probe)], i.column());
        }
        changePersistentIndexList(old, moved);
    }
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

int ProbeTableModel::probeCount() const
{
    return m_table ? static_cast<int>(m_table->probes.size()) : 0;
}

const ProbeMetrics& ProbeTableModel::probe(int row) const
{
    return m_table->probes[static_cast<std::size_t>(m_rows[static_cast<std::size_t>(row)])];
}

int ProbeTableModel::rowOf(qint64 position) const
{
    if (!m_table)
        return -1;
    const auto probe = std::ranges::lower_bound(m_table->probes, position, {}, &ProbeMetrics::position);
    if (probe == m_table->probes.end() || probe->position != position)
        return -1;
    const auto row = std::ranges::find(m_rows, static_cast<int>(probe - m_table->probes.begin()));
    return row == m_rows.end() ? -1 : static_cast<int>(row - m_rows.begin());
}

TablePtr ProbeTableModel::shownTable() const
{
    if (!m_table)
        return nullptr;
    auto shown = std::make_shared<MetricsTable>(*m_table);
    shown->dense.clear();
    shown->alignment.dense.clear();
    shown->probes.clear();
    shown->alignment.probes.clear();
    for (const int i : m_rows) {
        const auto at = static_cast<std::size_t>(i);
        shown->probes.push_back(m_table->probes[at]);
        if (at < m_table->alignment.probes.size())
            shown->alignment.probes.push_back(m_table->alignment.probes[at]);
    }
    return shown;
}

QString ProbeTableModel::tsv(const QVector<int>& rows, const QVector<int>& columns) const
{
    const QVector<Column>& all = ProbeTableModel::columns();
    QStringList lines;
    QStringList cells;
    for (const int c : columns)
        cells << all[c].name;
    lines << cells.join(QLatin1Char('\t'));
    for (const int row : rows) {
        cells.clear();
        const ProbeMetrics& m = probe(row);
        for (const int c : columns) {
            if (!all[c].metric) {
                cells << tokenText(all[c].text, m);
                continue;
            }
            const std::optional<double> value = all[c].metric->value(m);
            cells << (value ? exactText(*value) : QString());
        }
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

int ProbeTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int ProbeTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(columns().size());
}

QString ProbeTableModel::tokenText(Text which, const ProbeMetrics& probe) const
{
    switch (which) {
    case Text::Fed:
        return m_history.label(probe.position);
    case Text::Next:
        return m_history.label(probe.position + 1);
    case Text::TopP:
        return m_history.idLabel(probe.argmax_p);
    case Text::TopQ:
        return m_history.idLabel(probe.argmax_q);
    case Text::None:
        break;
    }
    return {};
}

QString ProbeTableModel::displayText(const Column& column, const ProbeMetrics& probe) const
{
    if (!column.metric)
        return tokenText(column.text, probe);
    const std::optional<double> value = number(column, probe);
    if (!value)
        return QStringLiteral("–");
    switch (column.metric->kind) {
    case ProbeColumn::Kind::Boolean:
        return *value != 0 ? QStringLiteral("yes") : QString();
    case ProbeColumn::Kind::Integer:
        return groupedText(static_cast<qint64>(*value));
    case ProbeColumn::Kind::Real:
        break;
    }
    return realText(*value);
}

QString ProbeTableModel::accessibleText(const Column& column, const ProbeMetrics& probe) const
{
    QString value = displayText(column, probe);
    if (column.metric && column.metric->kind == ProbeColumn::Kind::Boolean && value.isEmpty())
        value = QStringLiteral("no");
    if (column.metric && !number(column, probe))
        value = QStringLiteral("no value");
    return QStringLiteral("probe %1, %2: %3 %4")
        .arg(groupedText(probe.position), column.title, value, column.unit)
        .trimmed();
}

QVariant ProbeTableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Column& column = columns()[index.column()];
    const ProbeMetrics& m = probe(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return displayText(column, m);
    case SortRole:
        if (!column.metric)
            return tokenText(column.text, m);
        if (const auto value = number(column, m))
            return *value;
        return {};
    case PositionRole:
        return static_cast<qlonglong>(m.position);
    case Qt::TextAlignmentRole:
        if (column.metric && column.metric->kind != ProbeColumn::Kind::Boolean)
            return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
        return QVariant::fromValue((column.metric ? Qt::AlignHCenter : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        if (!m.valid)
            return QStringLiteral("Probe %1 is invalid: a NaN, a +inf or nothing but −inf in one of the two rows.")
                .arg(groupedText(m.position));
        if (column.metric && number(column, m))
            return QStringLiteral("%1: %2 %3").arg(column.title, exactText(*number(column, m)), column.unit).trimmed();
        return column.metric ? QStringLiteral("%1: no such value at this probe").arg(column.title)
                             : QStringLiteral("%1: %2").arg(column.title, tokenText(column.text, m));
    case Qt::AccessibleTextRole:
        return accessibleText(column, m);
    default:
        return {};
    }
}

QVariant ProbeTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columns().size())
        return {};
    const Column& column = columns()[section];
    switch (role) {
    case Qt::DisplayRole:
        return column.unit.isEmpty() ? column.title : QStringLiteral("%1\n%2").arg(column.title, column.unit);
    case Qt::AccessibleTextRole:
        return column.unit.isEmpty() ? column.title : QStringLiteral("%1, %2").arg(column.title, column.unit);
    case Qt::ToolTipRole:
        return QStringLiteral("%1\n%2%3")
            .arg(column.name, column.description,
                 column.unit.isEmpty() ? QString() : QStringLiteral(" (unit: %1)").arg(column.unit));
    default:
        return {};
    }
}

} // namespace flipscope
