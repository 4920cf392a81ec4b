// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QVector>

#include <cstdint>

namespace flipscope {

/// Where a person is: run > window > probe > token. -1 / empty = not that deep. A plain value.
struct Place {
    int run = -1;            ///< Session run id
    qint64 windowStart = -1; ///< first token position of the window
    qint64 probe = -1;       ///< position t of the probe (last token fed)
    qint64 token = -1;       ///< position of the token looked at (t + 1 for a probe's prediction)
    bool operator==(const Place&) const = default;

    enum class Depth { Top, Run, Window, Probe, Token };
    Depth depth() const;
};

/// The one selection that all views share, with history. Views call go(), never each other.
class DrilldownPath : public QObject {
    Q_OBJECT
public:
    explicit DrilldownPath(QObject* parent = nullptr);

    const Place& place() const { return m_history[m_index]; }
    void go(const Place& place); ///< forgets what was forward of here; no entry when nothing changes
    void up();                   ///< one level less deep: token > probe > window > run > top
    void back();
    void forward();
    bool canBack() const { return m_index > 0; }
    bool canForward() const { return m_index + 1 < m_history.size(); }
    void forgetRun(int run); ///< the run was closed: its places become the top, here and in the history
    void reset();            ///< to the top, with an empty history (other files were opened)

signals:
    void changed(const flipscope::Place& place);

private:
    QVector<Place> m_history{Place{}};
    qsizetype m_index = 0;
};

} // namespace flipscope
