// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QVector>
#include <QWidget>

class QLabel;
class QToolButton;

namespace flipscope {

/// "baseline › run › window 8k–16k › probe 9,440 › token 9,441": where one is, each part a way back up; back and
/// forward before it. Long names lose their middle where the room is short.
class BreadcrumbBar : public QWidget {
    Q_OBJECT
public:
    explicit BreadcrumbBar(Session* session, QWidget* parent = nullptr);

    /// The parts in full, outermost first.
    QStringList parts() const;
    /// The button of a part, for tests.
    QToolButton* button(int part) const { return m_crumbs.value(part).button; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Crumb {
        QString text;
        Place place;
        QString shortText = {}; ///< without its word, for narrow bars; empty for a name
        QToolButton* button = nullptr;
        QLabel* separator = nullptr; ///< before the button; null for the first
    };
    void rebuild();
    void fit();
    QVector<int> fittingWidths(const QStringList& texts, int room, bool namesOnly) const;
    QVector<Crumb> crumbs() const;
    QString columnWords(qint64 start) const;
    int buttonPadding() const;

    Session* m_session;
    QToolButton* m_back;
    QToolButton* m_forward;
    QVector<Crumb> m_crumbs;
};

} // namespace flipscope
