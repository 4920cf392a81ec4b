// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

namespace flipscope {

/// What colours and marks of the token view mean, on one line.
class TokenLegend : public QWidget {
    Q_OBJECT
public:
    explicit TokenLegend(QWidget* parent = nullptr);
    /// `low`, `high` as text with digits, `title` with its unit. An empty map: no probe has a number.
    void setScale(const QString& title, const QString& map, const QString& low, const QString& high);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_title, m_map, m_low, m_high;
};

} // namespace flipscope
