// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/compare_texts.h"

#include "ui/models/history_text.h"
#include "ui/models/number_text.h"

#include <QCoreApplication>

#include <algorithm>

namespace flipscope {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("flipscope::CompareTexts", text);
}

QString tipOf(const ProbeMetrics& probe, const QString& said, const QString& baseline)
{
    if (!probe.valid)
        return tr("The probe before this token holds no numbers.");
    return tr("most likely here: %1; the baseline's: %2\nKL(P‖Q) %3 nats, margin of the baseline %4 nats")
        .arg(said, baseline, realText(probe.kl_pq), realText(probe.margin));
}

/// Bytes and label of one token of a continuation.
struct Said {
    QString label;
    bool endsLine = false;
};

Said said(const Generation& generation, std::int64_t index, const TokenTexts& texts)
{
    if (index < 0)
        return {};
    const auto i = static_cast<std::size_t>(index);
    const std::int32_t id = generation.ids[i];
    if (i < generation.text.size()) {
        const std::string_view bytes = generation.text[i];
        // A special token may have no bytes of its own in the text: then it is known by its name.
        const QString label =
            bytes.empty() ? QString::fromStdString(texts.label(id)) : QString::fromStdString(visible(bytes));
        return {label, bytes.ends_with('\n')};
    }
    const auto bytes = texts.bytes(id);
    return {QString::fromStdString(texts.label(id)), bytes && bytes->ends_with('\n')};
}

} // namespace

QVector<ColumnUnit> historyUnits(const RunComparison& comparison, const TokenTexts& texts, qint64 start, qint64 end)
{
    const HistoryText history(comparison.baseline, &texts);
    end = std::min(end, history.size());
    QVector<ColumnUnit> units;
    units.reserve(std::max<qint64>(0, end - start));
    const auto probes = paired_between(comparison.probes, start - 1, end - 1);
    auto probe = probes.begin();
    for (qint64 position = start; position < end; ++position) {
        ColumnUnit unit;
        unit.key = position;
        unit.a = unit.b = history.label(position);
        const auto bytes = history.bytes(position);
        unit.breakAfter = bytes && bytes->ends_with('\n');
        if (probe != probes.end() && probe->position == position - 1) {
            const ProbeMetrics &a = *probe->a, &b = *probe->b;
            const QString baseline = history.idLabel(a.argmax_p);
            const QString saidA = history.idLabel(a.argmax_q), saidB = history.idLabel(b.argmax_q);
            if (a.valid && a.flip)
                unit.a += QStringLiteral("⇒") + saidA;
            if (b.valid && b.flip)
                unit.b += QStringLiteral("⇒") + saidB;
            unit.differs = probe->tops_differ();
            unit.markA = a.valid && a.flip;
            unit.markB = b.valid && b.flip;
            unit.tipA = tipOf(a, saidA, baseline);
            unit.tipB = tipOf(b, saidB, baseline);
            ++probe;
        }
        units.append(unit);
    }
    return units;
}

void baselineOnTheLeft(QVector<ColumnUnit>& units)
{
    for (ColumnUnit& unit : units) {
        unit.a = unit.a.section(QStringLiteral("⇒"), 0, 0);
        unit.differs = unit.markB;
        unit.markA = unit.markB = false;
    }
}

QVector<ColumnUnit> continuationUnits(const ContinuationPair& pair, const TokenTexts& texts)
{
    QVector<ColumnUnit> units;
    std::int64_t last = pair.a->prefix_tokens;
    for (const TokenPair& line : align_tokens(pair.a->ids, pair.b->ids)) {
        const Said a = said(*pair.a, line.a, texts), b = said(*pair.b, line.b, texts);
        ColumnUnit unit;
        unit.a = a.label;
        unit.b = b.label;
        unit.differs = !line.same;
        unit.breakAfter = a.endsLine || b.endsLine;
        if (line.a >= 0)
            last = pair.a->prefix_tokens + line.a;
        unit.key = last;
        const auto tip = [&](const Generation& g, std::int64_t index, const QString& label) {
            return index < 0 ? tr("nothing here")
                             : tr("token %1, id %2: %3")
                                   .arg(groupedText(g.prefix_tokens + index))
                                   .arg(g.ids[static_cast<std::size_t>(index)])
                                   .arg(label);
        };
        unit.tipA = tip(*pair.a, line.a, a.label);
        unit.tipB = tip(*pair.b, line.b, b.label);
        units.append(unit);
    }
    return units;
}

} // namespace flipscope
