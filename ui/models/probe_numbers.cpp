// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/probe_numbers.h"

#include "ui/models/number_text.h"

#include <QCoreApplication>

#include <cmath>

namespace flipscope {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("ProbeNumbers", text);
}

QString yesNo(bool yes)
{
    return yes ? tr("yes") : tr("no");
}

QString pair(double p, double q)
{
    return QStringLiteral("%1, %2").arg(realText(p), realText(q));
}

} // namespace

QVector<NumberRow> numbersOf(const ProbeMetrics& m, bool lowerBound)
{
    const QString nats = lowerBound ? tr("nats (lower bound)") : tr("nats");
    QVector<NumberRow> rows{
        {tr("KL(P‖Q)"), realText(m.kl_pq), nats},
        {tr("KL(Q‖P)"), realText(m.kl_qp), nats},
        {tr("JS"), realText(m.js), nats},
        {tr("TV"), realText(m.tv), lowerBound ? tr("(lower bound)") : QString()},
        {tr("Flip"), m.valid ? yesNo(m.flip != 0) : QStringLiteral("–"),
         m.tied ? tr("(tied: the largest logit occurs twice)") : QString()},
    };
    if (m.flip_top1 >= 0 && (m.flip_top1 != 0) != (m.flip != 0))
        rows.push_back({tr("Flip before storage rounding"), yesNo(m.flip_top1 != 0), {}});
    rows.push_back({tr("Margin of P"), realText(m.margin), tr("nats")});
    rows.push_back(
        {tr("Rank in Q of P's top token"), m.valid && m.rank > 0 ? groupedText(m.rank) : QStringLiteral("–"), {}});
    rows.push_back({tr("Entropy of P, Q"), pair(m.entropy_p, m.entropy_q), tr("nats")});
    if (!std::isnan(m.kept_p))
        rows.push_back({tr("Mass of the ids known on both sides, P, Q"), pair(m.kept_p, m.kept_q), {}});
    if (!std::isnan(m.id_overlap))
        rows.push_back({tr("Ids known on both sides"), realText(100 * m.id_overlap), QStringLiteral("%")});
    if (!std::isnan(m.outside_p) || !std::isnan(m.outside_q))
        rows.push_back({tr("Mass outside the shared ids, P, Q"), pair(m.outside_p, m.outside_q), {}});
    return rows;
}

} // namespace flipscope
