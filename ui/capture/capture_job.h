// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture/capture_command.h"

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>

#include <memory>

class QJsonObject;

namespace flipscope {

/// What a person asks for in the window.
struct CaptureOrder {
    CaptureRequest request;
    QString interpreter; ///< empty: FLIPSCOPE_PYTHON, else python3
    QString key;         ///< of a server, typed; given to the process by its environment and kept nowhere
    QString promptText;  ///< in place of request.prompt: text, or chat messages or ids as JSON
};

struct CaptureProgress {
    QString phase; ///< "probes", "continuations", "control"
    qint64 done = 0, total = 0;
    double rate = 0;         ///< a second; 0 = not known yet
    double secondsLeft = -1; ///< -1 = not known yet
};

/// "1,234 of 3,125 probes, 12 a second, 2 min left"
QString progressText(const CaptureProgress& progress);

/// One run of flipscope-capture as a process: started, followed line by line, stopped cleanly. Lives on the GUI thread.
class CaptureJob : public QObject {
    Q_OBJECT
public:
    enum class Outcome { Done, Stopped, Failed };

    explicit CaptureJob(QObject* parent = nullptr);
    ~CaptureJob() override; ///< stops the process and waits for it to close its file

    Result<void> start(const CaptureOrder& order);
    bool isRunning() const { return m_process.state() != QProcess::NotRunning; }
    /// The process closes its file and ends; what is there can be gone on from. A second call ends it at once.
    void stop();
    qint64 processId() const { return m_process.processId(); }
    bool isStopping() const { return m_stopping; }
    const QString& out() const { return m_out; }         ///< the trace that is being made, absolute
    const QString& partial() const { return m_partial; } ///< its name until it is complete

signals:
    void planned(qint64 tokens, qint64 probes, qint64 bytes); ///< the file is there, without rows
    void progressed(const CaptureProgress& progress);
    void logged(const QString& line);
    void ended(CaptureJob::Outcome outcome, const QString& sentence);

private:
    Result<QString> writePrompt(const QString& text);
    void readEvents();
    void readLog();
    void take(const QJsonObject& event);
    void log(const QByteArray& line);
    void processFailed(QProcess::ProcessError error);
    void processEnded(int code, QProcess::ExitStatus status);

    QProcess m_process;
    std::unique_ptr<QTemporaryDir> m_promptFolder;
    QString m_out, m_partial, m_interpreter;
    QByteArray m_logRest;
    QString m_lastNote, m_error, m_lastLine;
    bool m_done = false, m_stopping = false;
};

} // namespace flipscope
