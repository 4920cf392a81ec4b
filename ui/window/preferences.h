// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QPushButton;
class QSpinBox;

namespace flipscope {

class Session;

/// What a person chose for every window and every start.
namespace preferences {

qint64 firstWindow();  ///< tokens; 0 = chosen by the length of the history
QString colourMap();   ///< of heatmaps; one of colormapNames()
qint64 memoryLimit();  ///< MiB of the buffers of an analysis; 0 = none
QString cacheFolder(); ///< empty = the usual one
/// Hands memory limit and cache folder to the program. FLIPSCOPE_MEMORY and FLIPSCOPE_CACHE, where they are set, win.
void applyLimits();
/// Says to the engine what was chosen, through the variables that it looks at (FLIPSCOPE_ENGINE, CUDA_VISIBLE_DEVICES).
/// Those that are set already win. Once, before anything computes.
void applyEngine();

} // namespace preferences

/// Theme, first window size, colours, what computes with how much memory, and the cache. Everything acts at once, but
/// for what computes, which is chosen when the program starts.
class PreferencesDialog : public QDialog {
    Q_OBJECT
public:
    explicit PreferencesDialog(Session* session, QWidget* parent = nullptr);

private:
    void showCache();
    void clearCache();
    void chooseCache();
    QHBoxLayout* makeEngine();
    QHBoxLayout* makeCache();
    void fillView();
    void connectAll();
    void engineChosen();

    Session* m_session;
    QComboBox *m_theme, *m_window, *m_map, *m_engine;
    QSpinBox *m_gpu, *m_memory;
    QLabel *m_engineNote, *m_cache;
    QPushButton *m_clear, *m_changeCache, *m_usualCache;
};

} // namespace flipscope
