// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open_hints.h"

#include <QDialog>
#include <QString>

#include <optional>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace flipscope {

class Session;

/// What a file does not say itself: which numbers are its rows, how they lie, where they stand in the history, what was
/// fed. The same hints as the command line's options, whose names stand in the tool tips.
class ReadingDialog : public QDialog {
    Q_OBJECT
public:
    struct About {
        int run = -1;    ///< a run that is open: its file is read again
        QString path;    ///< else a file that is to be opened
        QString why;     ///< sentence that made the dialog necessary; may be empty
        OpenHints hints; ///< to start from
    };
    ReadingDialog(Session* session, About about, QWidget* parent = nullptr);

    /// nullopt: a field makes no sense, and `problem` says which.
    std::optional<OpenHints> hints(QString* problem = nullptr) const;

private:
    QLineEdit* line(QFormLayout* form, const QString& label, const char* name, const QString& help);
    QLineEdit* file(QFormLayout* form, const QString& label, const char* name, const QString& help);
    QComboBox* choice(QFormLayout* form, const QString& label, const char* name, const QStringList& texts,
                      const QString& help);
    void fill(const OpenHints& hints);
    void update();
    void apply();

    Session* m_session;
    About m_about;
    QLineEdit *m_array, *m_vocabulary, *m_tokens, *m_positions, *m_first, *m_stride, *m_bos, *m_temperature;
    QComboBox *m_axes, *m_type, *m_shift, *m_scoring, *m_values;
    QLabel* m_problem;
    QPushButton* m_ok;
};

} // namespace flipscope
