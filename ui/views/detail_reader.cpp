// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/detail_reader.h"

#include "ui/session/guarded.h"

namespace flipscope {

DetailReader::DetailReader(QObject* parent) : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
    connect(
        this, &DetailReader::rowRead, this,
        [this](quint64 ticket, int run, const Answer& detail) {
            if (m_latest->load() == ticket)
                emit answered(run, detail);
        },
        Qt::QueuedConnection);
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
            auto detail =
                guarded<ProbeDetail>([&] { return probe_detail(*request.baseline, *request.trace, position, k); });
            emit rowRead(mine, request.run, std::make_shared<const Result<ProbeDetail>>(std::move(detail)),
                         QPrivateSignal());
        }
    });
}

} // namespace flipscope
