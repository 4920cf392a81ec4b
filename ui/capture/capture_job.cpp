// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/capture/capture_job.h"

#include "ui/models/number_text.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcessEnvironment>

#include <cmath>
#include <csignal>
#include <sys/types.h>
#include <utility>

namespace flipscope {

namespace {

/// Carries a typed key to the process: nobody else's environment has it.
const char* const typedKey = "FLIPSCOPE_TYPED_KEY";

constexpr int patience = 10'000; // ms for the process to close its file when the window goes

QString timeText(double seconds)
{
    const qint64 s = std::llround(seconds);
    if (s < 90)
        return CaptureJob::tr("%1 s").arg(s);
    if (s < 5400)
        return CaptureJob::tr("%1 min").arg((s + 30) / 60);
    return CaptureJob::tr("%1 h %2 min").arg(s / 3600).arg(s % 3600 / 60);
}

} // namespace

QString progressText(const CaptureProgress& progress)
{
    QString text =
        CaptureJob::tr("%1 of %2 %3").arg(groupedText(progress.done), groupedText(progress.total), progress.phase);
    if (progress.rate > 0)
        text += CaptureJob::tr(", %1 a second").arg(QString::number(progress.rate, 'g', 3));
    if (progress.secondsLeft >= 0 && progress.done < progress.total)
        text += CaptureJob::tr(", %1 left").arg(timeText(progress.secondsLeft));
    return text;
}

CaptureJob::CaptureJob(QObject* parent) : QObject(parent)
{
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &CaptureJob::readEvents);
    connect(&m_process, &QProcess::readyReadStandardError, this, &CaptureJob::readLog);
    connect(&m_process, &QProcess::errorOccurred, this, &CaptureJob::processFailed);
    connect(&m_process, &QProcess::finished, this, &CaptureJob::processEnded);
}

CaptureJob::~CaptureJob()
{
    m_process.disconnect(this);
    if (!isRunning())
        return;
    if (!m_stopping)
        ::kill(static_cast<pid_t>(m_process.processId()), SIGINT);
    if (!m_process.waitForFinished(patience)) {
        m_process.kill(); // what was flushed can be read all the same
        m_process.waitForFinished();
    }
}

Result<QString> CaptureJob::writePrompt(const QString& text)
{
    m_promptFolder = std::make_unique<QTemporaryDir>();
    const QByteArray bytes = text.toUtf8();
    // Chat messages and ids are JSON, and known by the suffix.
    const QJsonDocument json = QJsonDocument::fromJson(bytes);
    QFile file(m_promptFolder->filePath(json.isNull() ? QStringLiteral("prompt.txt") : QStringLiteral("prompt.json")));
    if (!m_promptFolder->isValid() || !file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        return fail(ErrorKind::Unreadable, "The prompt cannot be written to {}: {}.", file.fileName().toStdString(),
                    file.errorString().toStdString());
    return file.fileName();
}

Result<void> CaptureJob::start(const CaptureOrder& order)
{
    if (isRunning())
        return fail(ErrorKind::Usage, "A capture is running already.");
    CaptureRequest request = order.request;
    if (request.prompt.empty() && !order.promptText.trimmed().isEmpty()) {
        const auto file = writePrompt(order.promptText);
        if (!file)
            return tl::unexpected(file.error());
        request.prompt = file->toStdString();
    }
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (!order.key.isEmpty()) {
        environment.insert(QString::fromLatin1(typedKey), order.key);
        request.key_env = typedKey;
    }
    const auto path = capture_python_path(environment.value(QStringLiteral("PYTHONPATH")).toStdString());
    if (!path)
        return tl::unexpected(path.error());
    environment.insert(QStringLiteral("PYTHONPATH"), QString::fromStdString(*path));
    // Python would keep notes back until it has enough of them.
    environment.insert(QStringLiteral("PYTHONUNBUFFERED"), QStringLiteral("1"));
    const auto arguments = capture_arguments(request, true);
    if (!arguments)
        return tl::unexpected(arguments.error());
    QStringList words;
    for (const std::string& argument : *arguments)
        words << QString::fromStdString(argument);
    m_out = QFileInfo(QString::fromStdString(request.out)).absoluteFilePath();
    m_partial = m_out + QStringLiteral(".partial");
    m_interpreter = QString::fromStdString(capture_interpreter(order.interpreter.toStdString()));
    m_done = m_stopping = false;
    m_logRest.clear();
    m_lastNote.clear();
    m_error.clear();
    m_lastLine.clear();
    m_process.setProcessEnvironment(environment);
    m_process.setStandardInputFile(QProcess::nullDevice());
    // Whoever started this program in the background may have had SIGINT ignored, and that is inherited.
    m_process.setChildProcessModifier([] { std::signal(SIGINT, SIG_DFL); });
    m_process.start(m_interpreter, words);
    return {};
}

void CaptureJob::stop()
{
    if (!isRunning())
        return;
    if (m_stopping || m_process.processId() <= 0) {
        m_process.kill();
        return;
    }
    m_stopping = true;
    ::kill(static_cast<pid_t>(m_process.processId()), SIGINT);
}

void CaptureJob::readEvents()
{
    while (m_process.canReadLine()) {
        const QByteArray line = m_process.readLine().trimmed();
        const QJsonDocument json = QJsonDocument::fromJson(line);
        if (json.isObject() && json.object().contains(QLatin1String("event")))
            take(json.object());
        else
            log(line); // an engine that prints
    }
}

void CaptureJob::take(const QJsonObject& event)
{
    const QString kind = event[QLatin1String("event")].toString();
    const auto number = [&](const char* key) { return static_cast<qint64>(event[QLatin1String(key)].toDouble()); };
    if (kind == QLatin1String("start")) {
        emit planned(number("tokens"), number("probes") + number("dense"), number("bytes"));
    } else if (kind == QLatin1String("progress")) {
        const QJsonValue left = event[QLatin1String("seconds_left")];
        emit progressed({event[QLatin1String("phase")].toString(), number("done"), number("total"),
                         event[QLatin1String("rate")].toDouble(), left.isDouble() ? left.toDouble() : -1});
    } else if (kind == QLatin1String("error")) {
        m_error = event[QLatin1String("message")].toString();
    } else if (kind == QLatin1String("done")) {
        m_done = true;
    } else {
        m_lastNote = event[QLatin1String("message")].toString();
        if (!m_lastNote.isEmpty())
            emit logged(m_lastNote);
    }
}

void CaptureJob::readLog()
{
    m_logRest += m_process.readAllStandardError();
    qsizetype start = 0;
    // Progress bars of engines end their lines with a carriage return.
    for (qsizetype i = 0; i < m_logRest.size(); ++i)
        if (m_logRest[i] == '\n' || m_logRest[i] == '\r') {
            log(m_logRest.mid(start, i - start));
            start = i + 1;
        }
    m_logRest.remove(0, start);
}

void CaptureJob::log(const QByteArray& line)
{
    const QString text = QString::fromUtf8(line).trimmed();
    if (text.isEmpty())
        return;
    m_lastLine = text;
    if (text != m_error) // that is the last word, and said at the end
        emit logged(text);
}

void CaptureJob::processFailed(QProcess::ProcessError error)
{
    if (error != QProcess::FailedToStart)
        return;
    const QString reason = m_process.errorString().section(QStringLiteral(": "), -1); // "execvp: No such file ..."
    emit ended(Outcome::Failed,
               QString::fromStdString(no_interpreter(m_interpreter.toStdString(), reason.toStdString())));
}

void CaptureJob::processEnded(int code, QProcess::ExitStatus status)
{
    readEvents();
    readLog();
    log(std::exchange(m_logRest, {}));
    m_promptFolder.reset();
    if (status == QProcess::NormalExit && code == 0 && m_done) {
        emit ended(Outcome::Done, m_lastNote);
    } else if (m_stopping || (status == QProcess::NormalExit && code == 130)) {
        const bool there = QFileInfo::exists(m_partial);
        emit ended(Outcome::Stopped,
                   there ? tr("Stopped. What was captured is in %1; the same capture goes on from there.")
                               .arg(QFileInfo(m_partial).fileName())
                         : tr("Stopped before anything was captured."));
    } else if (status == QProcess::CrashExit) {
        emit ended(Outcome::Failed, tr("The process ended by itself (signal %1). %2").arg(code).arg(m_lastLine));
    } else {
        const QString reason = !m_error.isEmpty() ? m_error : m_lastLine;
        emit ended(Outcome::Failed, reason.isEmpty() ? tr("The capture ended with code %1.").arg(code) : reason);
    }
}

} // namespace flipscope
