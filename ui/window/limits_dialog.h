// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QDialog>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace flipscope {

/// Ends of the colour scale: found from the cells on the screen, or fixed (so that two pictures can be compared).
class LimitsDialog : public QDialog {
    Q_OBJECT
public:
    explicit LimitsDialog(Session* session, QWidget* parent = nullptr);

private:
    void update();
    void apply();
    std::optional<ColourScale> scale() const; ///< nullopt: the fields make no sense

    Session* m_session;
    bool m_share; ///< the fields are in per cent
    QCheckBox* m_automatic;
    QLineEdit *m_low, *m_high;
    QLabel* m_problem;
    QPushButton* m_ok;
};

} // namespace flipscope
