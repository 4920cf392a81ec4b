// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/tool_call_model.h"

#include <QSortFilterProxyModel>

namespace flipscope {

/// Leaves out calls that no run breaks, if wished.
class ToolCallFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit ToolCallFilter(ToolCallModel* calls, QObject* parent = nullptr)
        : QSortFilterProxyModel(parent), m_calls(calls)
    {
        setSourceModel(calls);
    }
    void setBrokenOnly(bool on)
    {
        m_brokenOnly = on;
        invalidateRowsFilter();
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override
    {
        return !parent.isValid() && (!m_brokenOnly || m_calls->brokenLine(row));
    }

private:
    ToolCallModel* m_calls;
    bool m_brokenOnly = false;
};

} // namespace flipscope
