// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/capture/capture_job.h"
#include "ui/capture/live_trace.h"
#include "ui/capture/model_list.h"

#include <QDialog>

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;

namespace flipscope {

class CaptureForm;

/// File → Capture: asks, starts, shows how far it is, and stops. The trace opens in the session while it is made. It
/// does not hold up the window, and a capture goes on when it is closed.
class CaptureDialog : public QDialog {
    Q_OBJECT
public:
    explicit CaptureDialog(Session* session, QWidget* parent = nullptr);

    CaptureJob* job() { return &m_job; }
    LiveTrace* live() { return &m_live; }
    CaptureForm* form() const { return m_form; }

private:
    void start();
    void askForModels();
    void tell(const QString& text, bool problem = false);
    void showProgress(const CaptureProgress& progress);
    void ended(CaptureJob::Outcome outcome, const QString& sentence);
    void updateButtons();

    CaptureJob m_job;
    LiveTrace m_live;
    ModelList m_models;
    CaptureForm* m_form;
    QProgressBar* m_bar;
    QLabel* m_status;
    QPlainTextEdit* m_log;
    QPushButton *m_start, *m_stop;
};

} // namespace flipscope
