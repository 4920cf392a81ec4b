// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"

#include <QString>
#include <QVector>

#include <functional>
#include <tl/expected.hpp>

namespace flipscope {

// clang-format off
/// The filter line over probes. Conditions are separated by spaces and must all hold:
///   flip  tied  invalid           a mark (any yes/no column); invalid = a NaN or nothing but −inf in either row
///   kl_pq>0.1  rank>=2  margin<1  a column against a number: > >= < <= = != (spaces around it are fine; inf is a number)
///   41376  8000-16000  8k-16k     one position, or positions from..to, both included; 8k- has no end
///   arp  "201"  " arp"            text: in the token fed, the history's next token or either top token, ignoring case
///   !flip  !"arp"  !8k-16k        the opposite
/// A word that is no mark is text; quotes make anything text. A probe without the value in question never passes a
/// comparison.
// clang-format on
class ProbeFilter {
public:
    /// The reason is one sentence that quotes the part that is wrong.
    static tl::expected<ProbeFilter, QString> parse(const QString& line);
    static QString help(); ///< the grammar, for a tooltip

    bool isEmpty() const { return m_conditions.isEmpty(); }

    /// Does `text` appear in the tokens of this probe?
    using TextMatch = std::function<bool(const QString& text, const ProbeMetrics& probe)>;
    bool accepts(const ProbeMetrics& probe, const TextMatch& textMatch) const;

private:
    enum class Kind { Mark, Invalid, Compare, Positions, Text };
    enum class Op { Greater, GreaterEqual, Less, LessEqual, Equal, NotEqual };
    struct Condition {
        Kind kind = Kind::Text;
        bool negated = false;
        const ProbeColumn* column = nullptr; // Mark, Compare
        Op op = Op::Equal;
        double value = 0;           // Compare
        qint64 first = 0, last = 0; // Positions, both included
        QString text;
    };
    static bool holds(const Condition& condition, const ProbeMetrics& probe, const TextMatch& textMatch);
    static tl::expected<Condition, QString> comparison(const QString& name, const QString& op, const QString& number);
    static tl::expected<Condition, QString> word(const QString& word);

    QVector<Condition> m_conditions;
};

} // namespace flipscope
