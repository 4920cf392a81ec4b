// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/probe_filter.h"

#include <QRegularExpression>
#include <QStringList>

#include <cmath>
#include <limits>
#include <utility>

namespace flipscope {

namespace {

QString text(std::string_view s)
{
    return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}

const ProbeColumn* columnNamed(const QString& name)
{
    const std::string key = name.toLower().toStdString();
    return find_probe_column(key);
}

/// Columns whose name shares what was typed, else all of them.
QString columnHint(const QString& typed)
{
    QStringList all, near;
    for (const ProbeColumn& column : probe_columns()) {
        const QString name = text(column.name);
        all << name;
        if (name.contains(typed, Qt::CaseInsensitive))
            near << name;
    }
    return (near.isEmpty() ? all : near).join(QStringLiteral(", "));
}

/// "41376", "41,376", "8k"; nullopt when it is none or too large for a position.
std::optional<qint64> position(QString digits)
{
    const bool thousands = digits.endsWith(QLatin1Char('k'), Qt::CaseInsensitive);
    if (thousands)
        digits.chop(1);
    digits.remove(QLatin1Char(','));
    bool ok = false;
    const qint64 n = digits.toLongLong(&ok);
    if (!ok || n > std::numeric_limits<qint64>::max() / 1000)
        return std::nullopt;
    return thousands ? n * 1000 : n;
}

} // namespace

QString ProbeFilter::help()
{
    return QStringLiteral("All conditions must hold; a space stands between them:\n"
                          "flip  tied  invalid – marks\n"
                          "kl_pq>0.1  rank>=2  margin<1 – a column and a number (> >= < <= = !=)\n"
                          "41376  8000-16000  8k- – positions, both ends included\n"
                          "arp  \"201\" – text of the token fed, the next token or a top token\n"
                          "!flip – the opposite of a condition");
}

tl::expected<ProbeFilter::Condition, QString> ProbeFilter::comparison(const QString& name, const QString& op,
                                                                      const QString& number)
{
    Condition c;
    c.kind = Kind::Compare;
    c.column = columnNamed(name);
    if (!c.column)
        return tl::unexpected(QStringLiteral("There is no column “%1”: use %2.").arg(name, columnHint(name)));
    static const std::pair<QStringView, Op> ops[] = {
        {u">=", Op::GreaterEqual}, {u"≥", Op::GreaterEqual}, {u"<=", Op::LessEqual}, {u"≤", Op::LessEqual},
        {u"!=", Op::NotEqual},     {u"≠", Op::NotEqual},     {u"==", Op::Equal},     {u"=", Op::Equal},
        {u">", Op::Greater},       {u"<", Op::Less}};
    for (const auto& [sign, meaning] : ops) {
        if (op == sign) {
            c.op = meaning;
            break;
        }
    }
    QString plain = number;
    if (plain == QStringLiteral("∞"))
        plain = QStringLiteral("inf");
    bool ok = false;
    c.value = plain.toDouble(&ok);
    if (!ok || std::isnan(c.value)) {
        return tl::unexpected(number.isEmpty()
                                  ? QStringLiteral("“%1%2” needs a number after it, as in %1%20.1.").arg(name, op)
                                  : QStringLiteral("“%3” in “%1%2%3” is not a number.").arg(name, op, number));
    }
    return c;
}

tl::expected<ProbeFilter::Condition, QString> ProbeFilter::word(const QString& word)
{
    static const QRegularExpression range(QStringLiteral("^(\\d[\\d,]*k?)(?:-|–|\\.\\.)(\\d[\\d,]*k?)?$"),
                                          QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression single(QStringLiteral("^\\d[\\d,]*k?$"), QRegularExpression::CaseInsensitiveOption);
    Condition c;
    const auto asRange = range.match(word);
    if (asRange.hasMatch() || single.match(word).hasMatch()) {
        c.kind = Kind::Positions;
        const auto first = position(asRange.hasMatch() ? asRange.captured(1) : word);
        const bool open = asRange.hasMatch() && asRange.captured(2).isEmpty();
        const auto last = open                 ? std::optional(std::numeric_limits<qint64>::max())
                          : asRange.hasMatch() ? position(asRange.captured(2))
                                               : first;
        if (!first || !last)
            return tl::unexpected(QStringLiteral("“%1” is too large for a position.").arg(word));
        if (*last < *first)
            return tl::unexpected(QStringLiteral("The positions “%1” end before they start.").arg(word));
        c.first = *first;
        c.last = *last;
        return c;
    }
    if (word.compare(QLatin1String("invalid"), Qt::CaseInsensitive) == 0) {
        c.kind = Kind::Invalid;
        return c;
    }
    if (const ProbeColumn* column = columnNamed(word)) {
        if (column->kind != ProbeColumn::Kind::Boolean) {
            return tl::unexpected(
                QStringLiteral("“%1” needs a comparison, as in %1>0.1 (in quotes it is searched as text).").arg(word));
        }
        c.kind = Kind::Mark;
        c.column = column;
        return c;
    }
    c.kind = Kind::Text;
    c.text = word;
    return c;
}

tl::expected<ProbeFilter, QString> ProbeFilter::parse(const QString& line)
{
    static const QRegularExpression compare(
        QStringLiteral("\\G([A-Za-z][A-Za-z0-9_]*)\\s*(>=|<=|!=|==|≥|≤|≠|=|>|<)\\s*([^\\s\"]*)"));
    static const QRegularExpression plain(QStringLiteral("\\G[^\\s\"]+"));
    ProbeFilter filter;
    qsizetype i = 0;
    while (i < line.size()) {
        if (line[i].isSpace()) {
            ++i;
            continue;
        }
        bool negated = false;
        if (line[i] == QLatin1Char('!') && i + 1 < line.size() && !line[i + 1].isSpace()) {
            negated = true;
            ++i;
        }
        tl::expected<Condition, QString> condition = Condition{};
        if (line[i] == QLatin1Char('"')) {
            const qsizetype end = line.indexOf(QLatin1Char('"'), i + 1);
            if (end < 0)
                return tl::unexpected(QStringLiteral("The quote in “%1” is not closed.").arg(line.mid(i)));
            if (end == i + 1)
                return tl::unexpected(QStringLiteral("There is nothing between the quotes."));
            condition->text = line.mid(i + 1, end - i - 1);
            i = end + 1;
        } else if (const auto match = compare.match(line, i); match.hasMatch()) {
            condition = comparison(match.captured(1), match.captured(2), match.captured(3));
            i = match.capturedEnd();
        } else {
            const auto token = plain.match(line, i);
            condition = word(token.captured());
            i = token.capturedEnd();
        }
        if (!condition)
            return tl::unexpected(condition.error());
        condition->negated = negated;
        filter.m_conditions.push_back(*condition);
    }
    return filter;
}

bool ProbeFilter::holds(const Condition& condition, const ProbeMetrics& probe, const TextMatch& textMatch)
{
    switch (condition.kind) {
    case Kind::Mark:
        return condition.column->value(probe).value_or(0) != 0;
    case Kind::Invalid:
        return !probe.valid;
    case Kind::Positions:
        return probe.position >= condition.first && probe.position <= condition.last;
    case Kind::Text:
        return textMatch && textMatch(condition.text, probe);
    case Kind::Compare:
        break;
    }
    const std::optional<double> value = condition.column->value(probe);
    if (!value || std::isnan(*value))
        return false;
    switch (condition.op) {
    case Op::Greater:
        return *value > condition.value;
    case Op::GreaterEqual:
        return *value >= condition.value;
    case Op::Less:
        return *value < condition.value;
    case Op::LessEqual:
        return *value <= condition.value;
    case Op::Equal:
        return *value == condition.value;
    case Op::NotEqual:
        return *value != condition.value;
    }
    return false;
}

bool ProbeFilter::accepts(const ProbeMetrics& probe, const TextMatch& textMatch) const
{
    for (const Condition& condition : m_conditions) {
        if (condition.kind == Kind::Compare && condition.negated) {
            // No value: neither the condition nor its opposite holds.
            const auto value = condition.column->value(probe);
            if (!value || std::isnan(*value))
                return false;
        }
        if (holds(condition, probe, textMatch) == condition.negated)
            return false;
    }
    return true;
}

} // namespace flipscope
