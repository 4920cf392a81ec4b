// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/reading_dialog.h"

#include "ui/session/session.h"
#include "ui/window/theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include <array>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

constexpr std::array<LogitType, 4> types = {LogitType::BF16, LogitType::F16, LogitType::F32, LogitType::F64};
constexpr std::array<const char*, 3> scorings = {"", "prefill", "decode"};
constexpr std::array<const char*, 3> kinds = {"", "raw", "processed"};

template <class Number>
QString shown(const std::optional<Number>& value)
{
    return value ? QString::number(*value) : QString();
}

/// A whole number from `least` to `most`, or nothing. False where there is something else.
template <class Number>
bool read(const QLineEdit* field, qint64 least, qint64 most, std::optional<Number>& value)
{
    value.reset();
    const QString text = field->text().trimmed();
    if (text.isEmpty())
        return true;
    bool ok = false;
    const qint64 number = text.toLongLong(&ok);
    if (!ok || number < least || number > most)
        return false;
    value = static_cast<Number>(number);
    return true;
}

} // namespace

ReadingDialog::ReadingDialog(Session* session, About about, QWidget* parent)
    : QDialog(parent), m_session(session), m_about(std::move(about))
{
    setObjectName(QStringLiteral("readingDialog"));
    const SessionRun* run = m_session->run(m_about.run);
    if (run != nullptr)
        m_about.path = QString::fromStdString(run->trace->path.string());
    setWindowTitle(tr("How to read %1").arg(QFileInfo(m_about.path).fileName()));
    auto* form = new QFormLayout(this);
    auto* why = new QLabel(m_about.why.isEmpty() ? tr("What the file does not say itself. What it says is not asked.")
                                                 : m_about.why,
                           this);
    why->setObjectName(QStringLiteral("readingWhy"));
    why->setWordWrap(true);
    why->setTextFormat(Qt::PlainText);
    form->addRow(why);
    m_array = line(form, tr("&Array or tensor"), "array",
                   tr("Name of the one with the rows, or what the names of one per row begin with (--array)"));
    m_axes = choice(form, tr("A&xes"), "axes",
                    {QString(), QStringLiteral("pv"), QStringLiteral("vp"), QStringLiteral("1pv"),
                     QStringLiteral("1vp"), QStringLiteral("p1v")},
                    tr("A letter for each dimension: p probes, v vocabulary, 1 a single entry (--axes)"));
    m_axes->setEditable(true);
    m_type = choice(form, tr("Typ&e of elements"), "type",
                    {tr("As the file states"), QStringLiteral("bfloat16"), QStringLiteral("float16"),
                     QStringLiteral("float32"), QStringLiteral("float64")},
                    tr("Of two raw bytes: what they are (--dtype)"));
    m_vocabulary =
        line(form, tr("&Ids that count"), "vocabulary", tr("Columns behind them are padding and left out (--vocab)"));
    m_tokens = file(form, tr("Tokens of the &history"), "tokens",
                    tr("A .npy of integers, a JSON list, numbers in text, or another trace (--tokens)"));
    m_stride = line(form, tr("&Stride"), "stride", tr("Tokens from row to row (--stride)"));
    m_first =
        line(form, tr("&First position"), "first", tr("Of the first row; without it, the stride less one (--first)"));
    m_positions = file(form, tr("Or a file of &positions"), "positions",
                       tr("With a position for each row, in the forms of the tokens (--positions)"));
    m_bos = line(form, tr("&BOS of each chunk"), "bos",
                 tr("The id that llama.cpp fed in place of the first token of each chunk (--bos)"));
    m_shift = choice(
        form, tr("First to&ken"), "shift",
        {tr("As recorded"), tr("Left out: positions count one less"), tr("One in front: positions count one more")},
        tr("For a history with a doubled or a missing BOS (--shift-bos)"));
    m_scoring =
        choice(form, tr("S&coring"), "scoring", {tr("Not said"), QStringLiteral("prefill"), QStringLiteral("decode")},
               tr("How the rows came about (--scoring)"));
    m_values =
        choice(form, tr("Va&lues"), "values", {tr("Not said"), QStringLiteral("raw"), QStringLiteral("processed")},
               tr("What the rows are (--values)"));
    m_temperature = line(form, tr("Temperat&ure"), "temperature", tr("What they were divided by (--temperature)"));
    m_problem = new QLabel(this);
    m_problem->setObjectName(QStringLiteral("readingProblem"));
    m_problem->setWordWrap(true);
    QPalette red = m_problem->palette();
    red.setColor(QPalette::WindowText, errorColor());
    m_problem->setPalette(red);
    form->addRow(m_problem);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_ok = buttons->button(QDialogButtonBox::Ok);
    m_ok->setText(run != nullptr ? tr("Read again") : tr("Open"));
    form->addRow(buttons);
    resize(560, sizeHint().height());
    fill(m_about.hints);
    connect(buttons, &QDialogButtonBox::accepted, this, &ReadingDialog::apply);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    for (QLineEdit* field : findChildren<QLineEdit*>())
        connect(field, &QLineEdit::textChanged, this, &ReadingDialog::update);
    update();
}

QLineEdit* ReadingDialog::line(QFormLayout* form, const QString& label, const char* name, const QString& help)
{
    auto* field = new QLineEdit(this);
    field->setObjectName(QString::fromLatin1(name));
    field->setToolTip(help);
    form->addRow(label, field);
    return field;
}

QLineEdit* ReadingDialog::file(QFormLayout* form, const QString& label, const char* name, const QString& help)
{
    auto* field = new QLineEdit(this);
    field->setObjectName(QString::fromLatin1(name));
    field->setToolTip(help);
    auto* browse = new QToolButton(this);
    browse->setText(QStringLiteral("…"));
    browse->setAccessibleName(tr("Choose a file"));
    browse->setToolTip(tr("Choose the file"));
    auto* row = new QHBoxLayout;
    row->addWidget(field, 1);
    row->addWidget(browse);
    auto* title = new QLabel(label, this);
    title->setBuddy(field);
    form->addRow(title, row);
    connect(browse, &QToolButton::clicked, this, [this, field, title] {
        auto* dialog =
            new QFileDialog(this, title->text().remove(QLatin1Char('&')),
                            QFileInfo(field->text().isEmpty() ? m_about.path : field->text()).absolutePath());
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, field, &QLineEdit::setText);
        dialog->open();
    });
    return field;
}

QComboBox* ReadingDialog::choice(QFormLayout* form, const QString& label, const char* name, const QStringList& texts,
                                 const QString& help)
{
    auto* box = new QComboBox(this);
    box->setObjectName(QString::fromLatin1(name));
    box->setToolTip(help);
    box->addItems(texts);
    form->addRow(label, box);
    return box;
}

void ReadingDialog::fill(const OpenHints& hints)
{
    m_array->setText(QString::fromStdString(hints.array));
    m_axes->setCurrentText(QString::fromStdString(hints.axes));
    for (std::size_t i = 0; i < types.size(); ++i)
        if (hints.type == types[i])
            m_type->setCurrentIndex(static_cast<int>(i) + 1);
    m_vocabulary->setText(shown(hints.vocabulary));
    m_tokens->setText(QString::fromStdString(hints.tokens.string()));
    m_positions->setText(QString::fromStdString(hints.positions.string()));
    m_first->setText(shown(hints.first));
    m_stride->setText(shown(hints.stride));
    m_bos->setText(shown(hints.bos));
    m_shift->setCurrentIndex(hints.shift < 0 ? 1 : hints.shift > 0 ? 2 : 0);
    m_scoring->setCurrentText(hints.scoring.empty() ? m_scoring->itemText(0) : QString::fromStdString(hints.scoring));
    m_values->setCurrentText(hints.values.empty() ? m_values->itemText(0) : QString::fromStdString(hints.values));
    m_temperature->setText(shown(hints.temperature));
}

std::optional<OpenHints> ReadingDialog::hints(QString* problem) const
{
    OpenHints hints = m_about.hints; // name and settings stay
    const qint64 most = std::numeric_limits<qint64>::max();
    QString wrong;
    const auto refuse = [&wrong](const QString& sentence) { wrong = wrong.isEmpty() ? sentence : wrong; };
    hints.array = m_array->text().trimmed().toStdString();
    hints.axes = m_axes->currentText().trimmed().toStdString();
    if (hints.axes.find_first_not_of("pv1") != std::string::npos)
        refuse(tr("Axes are letters: p for probes, v for the vocabulary, 1 for a single entry."));
    const int type = m_type->currentIndex();
    hints.type = type > 0 ? std::optional(types[static_cast<std::size_t>(type) - 1]) : std::nullopt;
    if (!read(m_vocabulary, 1, most, hints.vocabulary))
        refuse(tr("Ids that count: a whole number from 1 on."));
    if (!read(m_stride, 1, most, hints.stride))
        refuse(tr("The stride is a whole number from 1 on."));
    if (!read(m_first, 0, most, hints.first))
        refuse(tr("The first position is a whole number from 0 on."));
    if (!read(m_bos, 0, std::numeric_limits<std::int32_t>::max(), hints.bos))
        refuse(tr("The BOS is the number of a token."));
    hints.tokens = m_tokens->text().trimmed().toStdString();
    hints.positions = m_positions->text().trimmed().toStdString();
    if (!hints.positions.empty() && (hints.stride || hints.first))
        refuse(tr("Either a file of positions or a stride, not both."));
    constexpr std::array<int, 3> shifts = {0, -1, 1};
    hints.shift = shifts[static_cast<std::size_t>(m_shift->currentIndex())];
    hints.scoring = scorings[static_cast<std::size_t>(m_scoring->currentIndex())];
    hints.values = kinds[static_cast<std::size_t>(m_values->currentIndex())];
    hints.temperature.reset();
    if (const QString text = m_temperature->text().trimmed(); !text.isEmpty()) {
        bool ok = false;
        const double value = text.toDouble(&ok);
        if (ok && std::isfinite(value) && value > 0)
            hints.temperature = value;
        else
            refuse(tr("The temperature is a number above 0."));
    }
    if (problem != nullptr)
        *problem = wrong;
    return wrong.isEmpty() ? std::optional(hints) : std::nullopt;
}

void ReadingDialog::update()
{
    QString problem;
    (void)hints(&problem);
    m_problem->setText(problem);
    m_ok->setEnabled(problem.isEmpty());
}

void ReadingDialog::apply()
{
    const auto wanted = hints();
    if (!wanted)
        return;
    accept();
    if (m_session->run(m_about.run) != nullptr)
        m_session->setHints(m_about.run, *wanted);
    else
        m_session->openWith(m_about.path, *wanted);
}

} // namespace flipscope
