// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/capture/capture_dialog.h"

#include "ui/capture/capture_form.h"
#include "ui/models/number_text.h"
#include "ui/window/theme.h"

#include <QDialogButtonBox>
#include <QFileInfo>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

namespace flipscope {

CaptureDialog::CaptureDialog(Session* session, QWidget* parent) : QDialog(parent), m_live(session)
{
    setObjectName(QStringLiteral("captureDialog"));
    setWindowTitle(tr("Capture a trace"));
    m_form = new CaptureForm(this);
    m_bar = new QProgressBar(this);
    m_bar->setObjectName(QStringLiteral("captureProgress"));
    m_bar->setAccessibleName(tr("Progress of the capture"));
    m_bar->setTextVisible(false);
    m_status = new QLabel(this);
    m_status->setObjectName(QStringLiteral("captureStatus"));
    m_status->setWordWrap(true);
    m_status->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_log = new QPlainTextEdit(this);
    m_log->setObjectName(QStringLiteral("captureLog"));
    m_log->setAccessibleName(tr("What the capture says"));
    m_log->setReadOnly(true);
    m_log->setMaximumBlockCount(5000); // engines talk a lot
    m_log->setTabChangesFocus(true);
    m_log->setMinimumHeight(m_log->fontMetrics().height() * 5);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_start = buttons->addButton(tr("&Start"), QDialogButtonBox::ActionRole);
    m_start->setObjectName(QStringLiteral("captureStart"));
    m_start->setToolTip(tr("Starts the capture as it is filled in; the trace opens here as it grows"));
    m_start->setDefault(true);
    m_stop = buttons->addButton(tr("St&op"), QDialogButtonBox::ActionRole);
    m_stop->setObjectName(QStringLiteral("captureStop"));
    m_stop->setToolTip(
        tr("Closes the file in order; the same capture goes on from there. Pressed again, ends it at once"));
    m_stop->setAutoDefault(false);

    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_form);
    layout->addWidget(m_bar);
    layout->addWidget(m_status);
    layout->addWidget(m_log, 1);
    layout->addWidget(buttons);
    resize(620, 720);

    connect(m_start, &QPushButton::clicked, this, &CaptureDialog::start);
    connect(m_stop, &QPushButton::clicked, this, [this] {
        m_job.stop();
        if (m_job.isRunning())
            tell(tr("Stopping: the file is being closed …"));
        updateButtons();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::hide);
    connect(m_form, &CaptureForm::modelsWanted, this, &CaptureDialog::askForModels);
    connect(&m_models, &ModelList::answered, this, [this](const QStringList& models) {
        m_form->setModels(models);
        tell(tr("The server has %1.").arg(counted(models.size(), tr("model"), tr("models"))));
    });
    connect(&m_models, &ModelList::failed, this, [this](const QString& sentence) { tell(sentence, true); });
    connect(&m_job, &CaptureJob::planned, this, [this](qint64 tokens, qint64 probes) {
        tell(tr("%1 tokens, %2 probes").arg(groupedText(tokens), groupedText(probes)));
        m_live.begin(m_job.partial(), m_job.out());
    });
    connect(&m_job, &CaptureJob::progressed, this, &CaptureDialog::showProgress);
    connect(&m_job, &CaptureJob::logged, m_log, &QPlainTextEdit::appendPlainText);
    connect(&m_job, &CaptureJob::ended, this, &CaptureDialog::ended);
    tell(tr("Say what is captured, and from where; then press Start."));
    updateButtons();
}

void CaptureDialog::tell(const QString& text, bool problem)
{
    QPalette palette = m_form->palette();
    if (problem)
        palette.setColor(QPalette::WindowText, errorColor());
    m_status->setPalette(palette);
    m_status->setText(text);
}

void CaptureDialog::askForModels()
{
    tell(tr("Asking the server …"));
    m_models.ask(m_form->address(), m_form->key());
}

void CaptureDialog::start()
{
    m_log->clear();
    const auto started = m_job.start(m_form->order());
    if (!started) {
        tell(QString::fromStdString(started.error().message), true);
        return;
    }
    m_form->remember();
    if (!m_job.isRunning()) // it could not even start, and that was said
        return;
    m_bar->setRange(0, 0);
    tell(tr("Starting …"));
    updateButtons();
}

void CaptureDialog::showProgress(const CaptureProgress& progress)
{
    // A bar counts in ints; thousands are fine enough.
    m_bar->setRange(0, 1000);
    m_bar->setValue(progress.total > 0 ? static_cast<int>(1000 * progress.done / progress.total) : 0);
    if (!m_job.isStopping())
        tell(progressText(progress));
    if (progress.phase == QLatin1String("probes") && progress.done > 0)
        m_live.grown();
}

void CaptureDialog::ended(CaptureJob::Outcome outcome, const QString& sentence)
{
    m_live.end();
    m_bar->setRange(0, 1000);
    m_bar->setValue(outcome == CaptureJob::Outcome::Done ? 1000 : m_bar->value());
    tell(sentence, outcome == CaptureJob::Outcome::Failed);
    updateButtons();
}

void CaptureDialog::updateButtons()
{
    const bool running = m_job.isRunning();
    m_form->setEnabled(!running);
    m_start->setEnabled(!running);
    m_stop->setEnabled(running);
    m_stop->setText(m_job.isStopping() && running ? tr("St&op at once") : tr("St&op"));
}

} // namespace flipscope
