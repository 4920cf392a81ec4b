// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/detail_reader.h"

#include <QMetaObject>

#include <utility>

namespace flipscope {

DetailReader::DetailReader(QObject* parent) : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
}

DetailReader::~DetailReader()
{
    cancel();
    m_pool.waitForDone();
}

void DetailReader::cancel()
{
    ++*m_latest;
    m_pool.clear();
}

void DetailReader::read(const QVector<Request>& requests, qint64 position, int k)
{
    cancel();
    const quint64 mine = m_latest->load();
    m_pool.start([this, requests, position, k, mine, latest = m_latest] {
        for (const Request& request : requests) {
            if (latest->load() != mine)
                return;
            auto detail = std::make_shared<const Result<ProbeDetail>>(
                probe_detail(*request.baseline, *request.trace, position, k));
            // The reader outlives its pool's work, and its pending calls are dropped with it.
            QMetaObject::invokeMethod(
                this,
                [this, run = request.run, detail = std::move(detail), mine] {
                    if (m_latest->load() == mine)
                        emit answered(run, detail);
                },
                Qt::QueuedConnection);
        }
    });
}

} // namespace flipscope
