// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/branch_facts.h"

#include "core/text/token_text.h"
#include "ui/models/number_text.h"

#include <QCoreApplication>

#include <cmath>

namespace flipscope {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("flipscope::BranchFacts", text);
}

QString view(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString code(std::string_view bytes)
{
    QString text = QString::fromStdString(visible(bytes.substr(0, 2000)));
    if (text.size() > 400)
        text = text.left(400) + QStringLiteral("…");
    return QStringLiteral("<code>%1</code>").arg(text.toHtmlEscaped());
}

QString value(const std::optional<std::string>& text)
{
    return text ? code(*text) : tr("nothing");
}

QString paragraph(const QString& html)
{
    return QStringLiteral("<p style='margin:4px 0'>%1</p>").arg(html);
}

QString probability(double p, double atMost)
{
    if (!std::isnan(p))
        return probabilityText(p);
    return std::isnan(atMost) ? tr("not stored") : tr("at most %1").arg(probabilityText(atMost));
}

QString tokenOf(const BranchSide& side)
{
    return side.id < 0 ? tr("its end") : QStringLiteral("%1 (%2)").arg(code(side.text)).arg(side.id);
}

QString placeOf(const Divergence& d)
{
    if (d.inside() == Inside::Prose)
        return tr("in prose");
    if (d.inside() == Inside::Delimiter)
        return tr("in a delimiter");
    const QString word = view(inside_word(d.inside()));
    return d.path().empty() ? tr("in the %1").arg(word) : tr("in the %1 of %2").arg(word, code(d.path()));
}

QString marginOf(const BranchSide& side)
{
    return std::isnan(side.margin) ? tr("not stored") : realText(side.margin);
}

QString headline(const QString& runName, const CallRow& row)
{
    QString text = QStringLiteral("<b>%1 %2</b> · %3")
                       .arg(view(outcome_symbol(row.outcome)), view(outcome_word(row.outcome)), code(row.name));
    if (row.outcome == Outcome::OtherTool)
        text += QStringLiteral(" → ") + code(row.run_name);
    if (!row.path.empty())
        text +=
            QStringLiteral(" · %1: %2 → <b>%3</b>").arg(code(row.path), value(row.baseline_value), value(row.value));
    return text + QStringLiteral(" · ") + runName.toHtmlEscaped();
}

QString partingOf(const Divergence& d)
{
    QString html = paragraph(tr("They part at token <b>%1</b>, %2: the baseline wrote %3, the run %4.")
                                 .arg(groupedText(d.position), placeOf(d), tokenOf(d.baseline), tokenOf(d.run)));
    if (d.fed)
        html += paragraph(tr("They part in what was fed, not in what a model wrote."));
    const bool lists = !d.baseline.top_ids.empty() || !d.run.top_ids.empty();
    if (lists && d.baseline.id >= 0 && d.run.id >= 0)
        html += paragraph(
            tr("Probability of the baseline's token: baseline %1, run %2; of the run's token: baseline %3, "
               "run %4.")
                .arg(probability(d.baseline.p_baseline_id, d.baseline.p_unlisted),
                     probability(d.run.p_baseline_id, d.run.p_unlisted),
                     probability(d.baseline.p_id, d.baseline.p_unlisted), probability(d.run.p_id, d.run.p_unlisted)));
    if (lists) {
        const QString verdict = d.tied()       ? tr("a <b>tie</b>")
                                : d.one_step() ? tr("<b>one step</b> of the logits' type apart")
                                : std::isnan(d.baseline.margin) || std::isnan(d.run.margin) ? QString()
                                                                                            : tr("no tie");
        html += paragraph(tr("Margin in nats: baseline %1, run %2%3.")
                              .arg(marginOf(d.baseline), marginOf(d.run),
                                   verdict.isEmpty() ? QString() : QStringLiteral(" – ") + verdict));
    }
    return html;
}

QString forcedOf(const RunCalls& calls, const CallRow& row, const ForcedCalls& forced)
{
    // The call of the forced history that this continuation was started before.
    for (const ForcedCall& call : forced.calls) {
        if (call.start < row.prefix_tokens || !call.complete)
            continue;
        if (call.start > row.start_position + 64)
            break;
        QString text = tr("Forced history, whole call at token %1: probability %2 in the baseline, %3 in the run")
                           .arg(groupedText(call.start), probabilityText(std::exp(call.logprob_p)),
                                probabilityText(std::exp(call.logprob_q)));
        if (call.weakest_q) {
            const ForcedProbe& weakest = call.probes[*call.weakest_q];
            const auto token = static_cast<std::size_t>(weakest.position + 1);
            text +=
                tr("; weakest token %1 at %2 (%3; baseline %4)")
                    .arg(code(calls.baseline->history.token(token)), groupedText(weakest.position + 1),
                         probabilityText(std::exp(weakest.logprob_q)), probabilityText(std::exp(weakest.logprob_p)));
        }
        return paragraph(text + QLatin1Char('.'));
    }
    return {};
}

QString settingsOf(const RunCalls& calls, Outcome outcome)
{
    QString html;
    for (const SettingNote& setting : settings_for(calls, outcome))
        html += paragraph(setting.baseline == setting.run
                              ? QStringLiteral("%1: %2").arg(code(setting.key), code(setting.run))
                              : tr("%1: %2 in the baseline, %3 in the run")
                                    .arg(code(setting.key), code(setting.baseline), code(setting.run)));
    return html;
}

} // namespace

QString branchFacts(const QString& runName, const RunCalls& calls, std::size_t index, const ForcedCalls& forced)
{
    const CallRow& row = calls.rows[index];
    const auto& continuation = calls.continuations[static_cast<std::size_t>(row.continuation)];
    QString html = paragraph(headline(runName, row));
    html += continuation.divergence ? partingOf(*continuation.divergence)
                                    : paragraph(tr("Both continuations are the same, token for token."));
    if (!row.note.empty())
        html += paragraph(QString::fromStdString(row.note).toHtmlEscaped());
    if (row.parser_disagrees)
        html += paragraph(QString::fromStdString(visible(row.parser_note)).toHtmlEscaped());
    if (row.recovers)
        html += paragraph(*row.recovers ? tr("Later calls <b>come back</b> to the baseline's.")
                                        : tr("Later calls <b>do not come back</b> to the baseline's."));
    html += forcedOf(calls, row, forced);
    if (row.broken())
        html += settingsOf(calls, row.outcome);
    return html;
}

} // namespace flipscope
