// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace flipscope {

class Session;

/// What a person chose for every window and every start.
namespace preferences {

qint64 firstWindow(); ///< tokens; 0 = chosen by the length of the history
/// Says to the engine what was chosen, through the variables that it looks at (FLIPSCOPE_ENGINE, CUDA_VISIBLE_DEVICES).
/// Those that are set already win. Once, before anything computes.
void applyEngine();

} // namespace preferences

/// Theme, first window size, what computes, and the cache. Everything acts at once, but for what computes, which is
/// chosen when the program starts.
class PreferencesDialog : public QDialog {
    Q_OBJECT
public:
    explicit PreferencesDialog(Session* session, QWidget* parent = nullptr);

private:
    void showCache();
    void clearCache();
    void engineChosen();

    Session* m_session;
    QComboBox *m_theme, *m_window, *m_engine;
    QSpinBox* m_gpu;
    QLabel *m_engineNote, *m_cache;
    QPushButton* m_clear;
};

} // namespace flipscope
