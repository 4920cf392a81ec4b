// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QNetworkAccessManager>
#include <QObject>
#include <QString>
#include <QStringList>

class QNetworkReply;

namespace flipscope {

/// Asks a server for its models (/v1/models). One question at a time; a new one takes the place of the last.
class ModelList : public QObject {
    Q_OBJECT
public:
    explicit ModelList(QObject* parent = nullptr);

    /// `address`: http://HOST:PORT, with or without /v1 at its end. `key`: a bearer token, or empty.
    void ask(const QString& address, const QString& key);

    static constexpr int patience = 10'000; ///< ms

signals:
    void answered(const QStringList& models);
    void failed(const QString& sentence);

private:
    void finished(QNetworkReply* reply, bool keyGiven);

    QNetworkAccessManager m_network;
    QNetworkReply* m_reply = nullptr;
};

} // namespace flipscope
