// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPointer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>

namespace flipscope::test {

/// A model server on loopback in the test's own event loop: two models, and for each prompt a list of log-probabilities
/// whose best id is the number of tokens modulo 64.
class ScriptedServer : public QTcpServer {
public:
    QByteArray key;         ///< empty: everybody may ask
    int delay = 0;          ///< ms before a completion is answered
    int failFrom = 1 << 30; ///< completions from this one on get HTTP 500
    int completions = 0;

    ScriptedServer()
    {
        listen(QHostAddress::LocalHost);
        connect(this, &QTcpServer::newConnection, this, [this] {
            while (QTcpSocket* socket = nextPendingConnection()) {
                connect(socket, &QTcpSocket::readyRead, this, [this, socket] { read(socket); });
                connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
            }
        });
    }
    QString url() const { return QStringLiteral("http://127.0.0.1:%1").arg(serverPort()); }

private:
    void read(QTcpSocket* socket)
    {
        QByteArray data = socket->property("rest").toByteArray() + socket->readAll();
        const qsizetype head = data.indexOf("\r\n\r\n");
        const QByteArray lower = data.left(head).toLower();
        const qsizetype at = lower.indexOf("content-length:");
        const qsizetype length =
            at < 0 ? 0 : lower.mid(at + 15, lower.indexOf('\r', at) - at - 15).trimmed().toLongLong();
        if (head < 0 || data.size() < head + 4 + length) {
            socket->setProperty("rest", data);
            return;
        }
        socket->setProperty("rest", QByteArray());
        const bool allowed = key.isEmpty() || data.left(head).contains("Bearer " + key);
        const QByteArray path = data.split(' ').value(1);
        answer(socket, allowed, path, QJsonDocument::fromJson(data.mid(head + 4)).object());
    }
    void answer(QTcpSocket* socket, bool allowed, const QByteArray& path, const QJsonObject& body)
    {
        if (!allowed)
            return send(socket, 401, {{"error", QJsonObject{{"message", "Incorrect API key"}}}});
        if (path == "/v1/models")
            return send(socket, 200,
                        {{"data", QJsonArray{QJsonObject{{"id", "first"}}, QJsonObject{{"id", "second"}}}}});
        if (path != "/v1/completions")
            return send(socket, 404, {{"detail", "Not Found"}});
        if (++completions >= failFrom)
            return send(socket, 500, {{"error", QJsonObject{{"message", "out of memory"}}}});
        const qsizetype n = body["prompt"].toArray().size();
        QJsonArray list;
        for (int j = 0; j < 5; ++j)
            list.append(QJsonObject{{"token", QString::number(j)},
                                    {"id", static_cast<qint64>((n + j) % 64)},
                                    {"logprob", -1.0 - j - static_cast<double>(n) / 1e4},
                                    {"bytes", QJsonArray{65}}});
        QJsonObject token = list[0].toObject();
        token["top_logprobs"] = list;
        const QJsonObject choice{{"logprobs", QJsonObject{{"content", QJsonArray{token}}}},
                                 {"finish_reason", "length"}};
        QTimer::singleShot(delay, this, [this, guarded = QPointer<QTcpSocket>(socket), choice] {
            if (guarded)
                send(guarded, 200, {{"choices", QJsonArray{choice}}});
        });
    }
    static void send(QTcpSocket* socket, int status, const QJsonObject& json)
    {
        const QByteArray data = QJsonDocument(json).toJson(QJsonDocument::Compact);
        socket->write("HTTP/1.1 " + QByteArray::number(status) +
                      " x\r\nContent-Type: application/json\r\nContent-Length: " + QByteArray::number(data.size()) +
                      "\r\n\r\n" + data);
    }
};

} // namespace flipscope::test
