// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/probe_detail.h"

#include <QObject>
#include <QThreadPool>
#include <QVector>

#include <atomic>
#include <functional>
#include <memory>

namespace flipscope {

/// Reads probe details off the GUI thread, one after the other. A new request makes all earlier ones void: their
/// answers never come. Answers come on the thread that asked, through its event loop.
class DetailReader : public QObject {
    Q_OBJECT
public:
    struct Request {
        int run = -1; ///< given back with the answer
        TracePtr baseline, trace;
    };

    explicit DetailReader(QObject* parent = nullptr);
    ~DetailReader() override; ///< waits for the row being read

    /// Reads the same position of several runs, in this order.
    void read(const QVector<Request>& requests, qint64 position, int k);
    void cancel(); ///< no answer comes any more

    using Answer = std::shared_ptr<const Result<ProbeDetail>>;

signals:
    void answered(int run, const flipscope::DetailReader::Answer& detail);
    /// From the reading thread; `ticket` tells which request it belongs to.
    void rowRead(quint64 ticket, int run, const flipscope::DetailReader::Answer& detail, QPrivateSignal);

private:
    QThreadPool m_pool;
    std::shared_ptr<std::atomic<quint64>> m_latest = std::make_shared<std::atomic<quint64>>(0);
};

} // namespace flipscope
