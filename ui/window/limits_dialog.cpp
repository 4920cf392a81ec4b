// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/limits_dialog.h"

#include "ui/window/theme.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include <algorithm>
#include <cmath>

namespace flipscope {

LimitsDialog::LimitsDialog(Session* session, QWidget* parent)
    : QDialog(parent), m_session(session), m_share(session->metric().share)
{
    setObjectName(QStringLiteral("limitsDialog"));
    setWindowTitle(tr("Ends of the colour scale"));
    const QString unit = m_share ? QStringLiteral("%") : QString::fromStdString(session->metric().unit);
    m_automatic = new QCheckBox(tr("&From the cells on the screen"), this);
    m_automatic->setToolTip(tr("The lowest and the highest value on the screen are the ends, and move with it"));
    m_low = new QLineEdit(this);
    m_low->setToolTip(tr("This value and all below it have the first colour of the scale"));
    m_high = new QLineEdit(this);
    m_high->setToolTip(tr("This value and all above it have the last colour of the scale"));
    m_problem = new QLabel(this);
    m_problem->setWordWrap(true);
    QPalette red = m_problem->palette();
    red.setColor(QPalette::WindowText, errorColor());
    m_problem->setPalette(red);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_ok = buttons->button(QDialogButtonBox::Ok);

    auto* form = new QFormLayout(this);
    form->addRow(new QLabel(QString::fromStdString(session->metric().title), this));
    form->addRow(m_automatic);
    const auto withUnit = [&](const QString& text) {
        return unit.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, unit);
    };
    form->addRow(withUnit(tr("&Low end")), m_low);
    form->addRow(withUnit(tr("&High end")), m_high);
    form->addRow(m_problem);
    form->addRow(buttons);

    // Shown first: what is on the screen now, so that fixing it is one click.
    const ColourScale& now = session->colourScale();
    double low = now.low, high = now.high;
    if (now.automatic) {
        low = std::numeric_limits<double>::infinity();
        high = -low;
        for (const HeatmapRow& row : session->heatmap().rows)
            for (const HeatmapCell& cell : row.cells)
                if (cell.state == HeatmapCell::State::Value) {
                    low = std::min(low, cell.value);
                    high = std::max(high, cell.value);
                }
        if (!(low < high)) {
            low = 0;
            high = 1;
        }
    }
    const double factor = m_share ? 100 : 1;
    m_low->setText(QString::number(low * factor, 'g', 6));
    m_high->setText(QString::number(high * factor, 'g', 6));
    m_automatic->setChecked(now.automatic);

    connect(m_automatic, &QCheckBox::toggled, this, &LimitsDialog::update);
    connect(m_low, &QLineEdit::textChanged, this, &LimitsDialog::update);
    connect(m_high, &QLineEdit::textChanged, this, &LimitsDialog::update);
    connect(buttons, &QDialogButtonBox::accepted, this, &LimitsDialog::apply);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    update();
}

std::optional<ColourScale> LimitsDialog::scale() const
{
    ColourScale scale = m_session->colourScale();
    scale.automatic = m_automatic->isChecked();
    if (scale.automatic)
        return scale;
    bool lowOk = false, highOk = false;
    const double factor = m_share ? 0.01 : 1;
    scale.low = m_low->text().toDouble(&lowOk) * factor;
    scale.high = m_high->text().toDouble(&highOk) * factor;
    if (!lowOk || !highOk || !std::isfinite(scale.low) || !std::isfinite(scale.high) || !(scale.low < scale.high))
        return {};
    return scale;
}

void LimitsDialog::update()
{
    const auto wanted = scale();
    m_low->setEnabled(!m_automatic->isChecked());
    m_high->setEnabled(!m_automatic->isChecked());
    QString problem;
    if (!wanted)
        problem = tr("Two numbers are needed, the low end below the high end.");
    else if (!wanted->automatic && wanted->kind == ColourScale::Kind::Log && wanted->low <= 0)
        problem = tr("A logarithmic scale starts above 0.");
    m_problem->setText(problem);
    m_ok->setEnabled(problem.isEmpty());
}

void LimitsDialog::apply()
{
    if (const auto wanted = scale())
        m_session->setColourScale(*wanted);
    accept();
}

} // namespace flipscope
