// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/capture/model_list.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QUrl>

#include <utility>

namespace flipscope {

namespace {

QUrl modelsUrl(const QString& address)
{
    QString text = address.trimmed();
    if (!text.contains(QLatin1String("://")))
        text.prepend(QStringLiteral("http://"));
    while (text.endsWith(QLatin1Char('/')))
        text.chop(1);
    if (text.endsWith(QLatin1String("/v1")))
        text.chop(3);
    const QUrl url(text + QStringLiteral("/v1/models"), QUrl::StrictMode);
    const bool web = url.scheme() == QLatin1String("http") || url.scheme() == QLatin1String("https");
    return web && !url.host().isEmpty() ? url : QUrl();
}

/// Without a name or a password that may stand in the address.
QString shown(const QUrl& url)
{
    return url.toString(QUrl::RemoveUserInfo | QUrl::RemovePath | QUrl::RemoveQuery | QUrl::RemoveFragment);
}

} // namespace

ModelList::ModelList(QObject* parent) : QObject(parent) {}

void ModelList::ask(const QString& address, const QString& key)
{
    if (QNetworkReply* before = std::exchange(m_reply, nullptr)) {
        before->disconnect(this);
        before->abort();
        before->deleteLater();
    }
    const QUrl url = modelsUrl(address);
    if (!url.isValid()) {
        emit failed(tr("Write the server's address as http://HOST:PORT."));
        return;
    }
    QNetworkRequest request(url);
    request.setTransferTimeout(patience);
    // A key goes to the server that it is for, and to no other.
    request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::SameOriginRedirectPolicy);
    if (!key.isEmpty())
        request.setRawHeader("Authorization", "Bearer " + key.toUtf8());
    m_reply = m_network.get(request);
    connect(m_reply, &QNetworkReply::finished, this,
            [this, reply = m_reply, keyGiven = !key.isEmpty()] { finished(reply, keyGiven); });
}

void ModelList::finished(QNetworkReply* reply, bool keyGiven)
{
    m_reply = nullptr;
    reply->deleteLater();
    const QString server = shown(reply->url());
    const int status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (status == 401 || status == 403) {
        emit failed(keyGiven ? tr("%1 refuses the key: HTTP %2.").arg(server).arg(status)
                             : tr("%1 wants a key: HTTP %2.").arg(server).arg(status));
        return;
    }
    if (status >= 400) {
        emit failed(tr("%1/v1/models answers HTTP %2: is it an OpenAI-compatible server?").arg(server).arg(status));
        return;
    }
    switch (reply->error()) {
    case QNetworkReply::NoError:
        break;
    case QNetworkReply::ConnectionRefusedError:
        emit failed(tr("No server answers at %1: is it running, and is the port right?").arg(server));
        return;
    case QNetworkReply::HostNotFoundError:
        emit failed(tr("%1: there is no host of that name.").arg(server));
        return;
    case QNetworkReply::OperationCanceledError:
    case QNetworkReply::TimeoutError:
        emit failed(tr("%1 did not answer within %2 s.").arg(server).arg(patience / 1000));
        return;
    default:
        emit failed(tr("%1 cannot be asked for its models: %2.").arg(server, reply->errorString()));
        return;
    }
    const QJsonArray listed = QJsonDocument::fromJson(reply->readAll())[QLatin1String("data")].toArray();
    QStringList models;
    for (const auto& model : listed)
        if (const QString id = model[QLatin1String("id")].toString(); !id.isEmpty())
            models << id;
    if (models.isEmpty())
        emit failed(tr("%1/v1/models lists no model.").arg(server));
    else
        emit answered(models);
}

} // namespace flipscope
