// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/capture/capture_job.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLineEdit;
class QPlainTextEdit;
class QSpinBox;
class QTabWidget;

namespace flipscope {

/// What a capture is asked for: a server or an engine of this machine, prompt, probes, file. Everything but a typed key
/// and a typed prompt is remembered for the next time.
class CaptureForm : public QWidget {
    Q_OBJECT
public:
    explicit CaptureForm(QWidget* parent = nullptr);

    CaptureOrder order() const;
    QString address() const;
    QString key() const;                       ///< typed, else that of the variable
    void setModels(const QStringList& models); ///< keeps the chosen one where the server has it
    void remember() const;

signals:
    void modelsWanted();

private:
    QWidget* makeServer();
    QWidget* makeEngine();
    void makePrompt(QFormLayout* form);
    void makeProbes(QFormLayout* form);
    void engineChosen();
    void restore();
    QLineEdit* line(const QString& name, const QString& accessible, const QString& help, const QString& hint = {});
    QWidget* withBrowse(QLineEdit* edit, const QString& title, bool save);

    QTabWidget* m_source;
    QLineEdit *m_address, *m_key, *m_variable, *m_topK;
    QComboBox* m_model;
    QComboBox *m_engine, *m_kv;
    QLineEdit *m_weights, *m_interpreter, *m_more;
    QLineEdit* m_promptFile;
    QPlainTextEdit* m_promptText;
    QSpinBox *m_stride, *m_continuations;
    QCheckBox* m_repeat;
    QLineEdit* m_out;
};

} // namespace flipscope
