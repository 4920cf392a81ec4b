// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/runs_model.h"

#include "core/analysis/floor.h"

#include "core/report/method.h"
#include "ui/models/number_text.h"
#include "ui/window/theme.h"

#include <QFont>
#include <QMimeData>

#include <algorithm>

namespace flipscope {

namespace {

const QString runMimeType = QStringLiteral("application/x-flipscope-run");

QString pathOf(const SessionRun& run)
{
    return QString::fromStdString(run.trace->path.string());
}

} // namespace

RunsModel::RunsModel(Session* session, QObject* parent) : QAbstractTableModel(parent), m_session(session)
{
    connect(session, &Session::runsChanged, this, &RunsModel::refresh);
    refresh();
}

void RunsModel::refresh()
{
    std::vector<int> ids;
    for (const SessionRun& run : m_session->runs())
        ids.push_back(run.id);
    // Rows that only grew or stayed keep selection and an open editor.
    const bool grew = ids.size() >= m_ids.size() && std::equal(m_ids.begin(), m_ids.end(), ids.begin());
    if (!grew) {
        beginResetModel();
        m_ids = std::move(ids);
        endResetModel();
    } else if (ids.size() > m_ids.size()) {
        beginInsertRows({}, static_cast<int>(m_ids.size()), static_cast<int>(ids.size()) - 1);
        m_ids = std::move(ids);
        endInsertRows();
    }
    const QSet<int> open(m_ids.begin(), m_ids.end());
    m_facts.removeIf([&](const auto& entry) { return !open.contains(entry.key()); });
    if (!m_ids.empty())
        emit dataChanged(index(0, 0), index(static_cast<int>(m_ids.size()) - 1, ColumnCount - 1));
}

int RunsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_ids.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

int RunsModel::rowOf(int id) const
{
    const auto it = std::ranges::find(m_ids, id);
    return it == m_ids.end() ? -1 : static_cast<int>(it - m_ids.begin());
}

const RunsModel::Facts& RunsModel::factsOf(const SessionRun& run) const
{
    Facts& facts = m_facts[run.id];
    const SessionRun* base = m_session->baseline();
    const TracePtr baseTrace = base != nullptr ? base->trace : nullptr;
    if (facts.table != run.table || facts.trace != run.trace || facts.baseline != baseTrace) {
        facts = {run.table, run.trace, baseTrace, {}, false, 0};
        if (run.table) {
            facts.overall = summarize(run.table->probes, 0, static_cast<std::int64_t>(run.trace->tokens.ids.size()));
            facts.bitIdentical = bit_identical(*run.table);
        }
        if (baseTrace && baseTrace != run.trace)
            facts.settingsDiffer = static_cast<qsizetype>(differing_settings({baseTrace, run.trace}).size());
    }
    return facts;
}

QString RunsModel::badgeOf(const SessionRun& run) const
{
    QStringList parts;
    if (run.live && run.state != SessionRun::State::Failed)
        return run.state == SessionRun::State::Baseline ? tr("baseline, capturing …") : tr("capturing …");
    switch (run.state) {
    case SessionRun::State::Baseline:
        parts << tr("baseline");
        break;
    case SessionRun::State::Waiting:
        parts << tr("waiting");
        break;
    case SessionRun::State::Working:
        parts << tr("computing …");
        break;
    case SessionRun::State::Failed:
        parts << tr("failed: %1").arg(run.problem);
        break;
    case SessionRun::State::Ready: {
        const Facts& facts = factsOf(run);
        if (&run == m_session->floorRun())
            parts << tr("noise floor");
        if (facts.bitIdentical)
            parts << tr("bit-identical");
        if (facts.settingsDiffer > 0)
            parts << counted(facts.settingsDiffer, tr("setting differs"), tr("settings differ"));
        if (facts.overall.n_invalid > 0)
            parts << tr("%1 invalid").arg(groupedText(facts.overall.n_invalid));
        if (parts.isEmpty())
            parts << counted(facts.overall.n, tr("probe"), tr("probes"));
        break;
    }
    }
    if (run.changedOnDisk)
        parts << tr("changed on disk");
    return parts.join(QStringLiteral(" · "));
}

QVariant RunsModel::displayOf(const SessionRun& run, int column) const
{
    const bool ready = run.table != nullptr && run.state != SessionRun::State::Baseline;
    switch (column) {
    case Star:
        return run.state == SessionRun::State::Baseline ? QStringLiteral("★") : QStringLiteral("☆");
    case Name:
        return run.name;
    case Flips:
        return ready ? shareText(factsOf(run).overall.flip_rate) : QString();
    case Kl:
        return ready ? shortNatsText(factsOf(run).overall.kl_pq.mean) : QString();
    case Above:
        return aboveText(run);
    default:
        return {};
    }
}

/// The run's mean KL less the floor's.
QString RunsModel::aboveText(const SessionRun& run) const
{
    const SessionRun* floor = m_session->floorRun();
    if (floor == nullptr || !floor->table || !run.table || run.state == SessionRun::State::Baseline)
        return {};
    if (run.id == floor->id)
        return tr("floor");
    const double above = above_floor(factsOf(run).overall, factsOf(*floor).overall).kl_pq_mean;
    return above < 0 ? QStringLiteral("−") + shortNatsText(-above) : shortNatsText(above);
}

QString RunsModel::toolTipOf(const SessionRun& run, int column) const
{
    const bool ready = run.table != nullptr && run.state != SessionRun::State::Baseline;
    switch (column) {
    case Star:
        return run.state == SessionRun::State::Baseline ? tr("The baseline: the others are compared with it")
                                                        : tr("Compare all runs with this one");
    case Colour:
        return tr("Colour of its line; click to change");
    case Shown:
        return run.state == SessionRun::State::Baseline ? QString()
               : run.hidden                             ? tr("Hidden; click to show")
                                                        : tr("Shown; click to hide");
    case Flips:
        if (ready) {
            const WindowStats& all = factsOf(run).overall;
            return tr("%1 of %2 probes flipped (95 % interval %3 to %4), %5 of them with a tie")
                .arg(groupedText(all.flips), groupedText(all.n), shareText(all.flip_interval.low),
                     shareText(all.flip_interval.high), groupedText(all.flips_tied));
        }
        return {};
    case Kl:
        if (ready) {
            const Distribution& kl = factsOf(run).overall.kl_pq;
            QString text =
                tr("Mean KL(P‖Q) over %1 probes, in nats; P is the baseline. Median %2, p99 %3, largest %4.")
                    .arg(groupedText(kl.n), shortNatsText(kl.median), shortNatsText(kl.p99), shortNatsText(kl.max));
            if (kl.n_infinite > 0)
                text += tr(" %1 infinite, left out of these.").arg(groupedText(kl.n_infinite));
            return text;
        }
        return {};
    case Above: {
        const SessionRun* floor = m_session->floorRun();
        if (floor == nullptr || !floor->table || !ready || run.id == floor->id)
            return {};
        const AboveFloor above = above_floor(factsOf(run).overall, factsOf(*floor).overall);
        return tr("Mean KL(P‖Q) %1 less that of the noise floor %2, %3; flip rate %4 less %5")
                   .arg(shortNatsText(factsOf(run).overall.kl_pq.mean), floor->name,
                        shortNatsText(factsOf(*floor).overall.kl_pq.mean), shareText(factsOf(run).overall.flip_rate),
                        shareText(factsOf(*floor).overall.flip_rate)) +
               QStringLiteral(" (%1 %)").arg(above.flip_rate * 100, 0, 'f', 1);
    }
    default:
        return QStringLiteral("%1\n%2\n%3").arg(run.name, badgeOf(run), pathOf(run));
    }
}

QString RunsModel::accessibleTextOf(const SessionRun& run, int column) const
{
    switch (column) {
    case Star:
        return run.state == SessionRun::State::Baseline ? tr("baseline") : tr("not the baseline");
    case Colour:
        return tr("colour %1").arg(run.color.name());
    case Name:
        return QStringLiteral("%1, %2").arg(run.name, badgeOf(run));
    case Shown:
        return run.hidden ? tr("hidden") : tr("shown");
    default:
        return displayOf(run, column).toString();
    }
}

QVariant RunsModel::data(const QModelIndex& index, int role) const
{
    const SessionRun* run = index.isValid() ? m_session->run(m_ids[static_cast<std::size_t>(index.row())]) : nullptr;
    if (run == nullptr)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return displayOf(*run, index.column());
    case Qt::EditRole:
        return index.column() == Name ? run->name : QVariant();
    case Qt::DecorationRole:
        return index.column() == Colour ? QVariant(run->color) : QVariant();
    case Qt::ToolTipRole:
        return toolTipOf(*run, index.column());
    case Qt::AccessibleTextRole:
        return accessibleTextOf(*run, index.column());
    case Qt::TextAlignmentRole:
        if (index.column() == Flips || index.column() == Kl || index.column() == Above)
            return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
        return QVariant::fromValue(
            Qt::Alignment((index.column() == Star ? Qt::AlignHCenter : Qt::AlignLeft) | Qt::AlignVCenter));
    case Qt::ForegroundRole:
        return run->hidden ? QVariant(mutedTextColor()) : QVariant();
    case IdRole:
        return run->id;
    case BadgeRole:
        return badgeOf(*run);
    case StateRole:
        return static_cast<int>(run->state);
    case HiddenRole:
        return run->hidden;
    default:
        return {};
    }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::DisplayRole) {
        switch (section) {
        case Name:
            return tr("Run");
        case Flips:
            return tr("Flips");
        case Kl:
            return tr("KL(P‖Q)");
        case Above:
            return tr("above floor");
        default:
            return QString();
        }
    }
    if (role == Qt::ToolTipRole) {
        switch (section) {
        case Star:
            return tr("Baseline");
        case Flips:
            return tr("Share of probes where the run's top token is another than the baseline's");
        case Kl:
            return tr("Mean KL(P‖Q) in nats, P = baseline, Q = run");
        case Above:
            return tr("Mean KL(P‖Q) less that of the run named as noise floor, in nats");
        case Shown:
            return tr("Shown or hidden");
        default:
            return {};
        }
    }
    if (role == Qt::TextAlignmentRole && (section == Flips || section == Kl || section == Above))
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    return {};
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (!index.isValid() || role != Qt::EditRole || index.column() != Name)
        return false;
    m_session->rename(m_ids[static_cast<std::size_t>(index.row())], value.toString());
    return true;
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const
{
    if (!index.isValid())
        return Qt::ItemIsDropEnabled; // between the rows, never onto one
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled | Qt::ItemNeverHasChildren;
    return index.column() == Name ? flags | Qt::ItemIsEditable : flags;
}

QStringList RunsModel::mimeTypes() const
{
    return {runMimeType};
}

QMimeData* RunsModel::mimeData(const QModelIndexList& indexes) const
{
    if (indexes.isEmpty())
        return nullptr;
    auto* data = new QMimeData;
    data->setData(runMimeType, QByteArray::number(indexes.first().data(IdRole).toInt()));
    return data;
}

bool RunsModel::canDropMimeData(const QMimeData* data, Qt::DropAction action, int, int, const QModelIndex&) const
{
    return action == Qt::MoveAction && data->hasFormat(runMimeType);
}

bool RunsModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                             const QModelIndex& parent)
{
    if (!canDropMimeData(data, action, row, column, parent))
        return false;
    const int id = data->data(runMimeType).toInt();
    const int from = rowOf(id);
    int to = row >= 0 ? row : parent.isValid() ? parent.row() : rowCount();
    if (from < to)
        --to; // the row's own place closes up behind it
    m_session->move(id, to);
    return false; // moved already: the view must not remove the source row
}

} // namespace flipscope
