// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/window/figures.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace flipscope {

/// Asks what chart to write where, how large and in which colours; the file's suffix decides the format.
class ExportDialog : public QDialog {
    Q_OBJECT
public:
    explicit ExportDialog(Session* session, QWidget* parent = nullptr);

    /// One of the charts by the name that the command line has for it: "heatmap", "position", "compare" ...
    void choose(const QString& chart);

signals:
    void exported(const QString& path);

private:
    void chooseFile();
    void formatChosen();
    void chartChosen();
    Result<FigureSpec> spec() const;
    void update();
    void write();
    QString suffix() const;

    Session* m_session;
    QComboBox *m_chart, *m_format, *m_theme;
    QLineEdit* m_path;
    QSpinBox *m_width, *m_height, *m_dpi;
    QLabel *m_size, *m_problem;
    QPushButton* m_ok;
};

} // namespace flipscope
