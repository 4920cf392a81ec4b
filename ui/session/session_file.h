// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/session_file.h"
#include "ui/session/session.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <optional>

namespace flipscope {

/// The present state of a session as a file holds it.
SessionFile sessionFileOf(const Session& session);

/// Writes it; refuses to overwrite a trace that is open.
Result<void> saveSession(const Session& session, const QString& page, const QString& path);

/// Opens session files into a Session. Files that are not where they were are asked for through missing(): whoever
/// answers it calls lookIn() any number of times, and then proceed() or abandon().
class SessionOpener : public QObject {
    Q_OBJECT
public:
    explicit SessionOpener(Session* session, QObject* parent = nullptr);

    void open(const QString& path);
    /// Files that were not found, by name with the folder they were in.
    QStringList missingFiles() const;
    void lookIn(const QString& folder); ///< looks for all of them there; what is found is missing no more
    void proceed();                     ///< opens what was found, without the rest
    void abandon();                     ///< nothing happens
    bool active() const { return m_file.has_value(); }

signals:
    void missing();
    void failed(const flipscope::Error& error);
    void started(const QString& path, const QString& page); ///< files are being opened; `page` is to be shown
    void restored(const QString& path);                     ///< all of it is as it was

private:
    void locate();
    void apply();
    int idOf(int index) const; ///< session id of a file; -1 = none, or not open
    void applyRuns();
    Place placeOf(const SessionFile::Place& stored, int run) const;

    Session* m_session;
    QString m_path;
    std::optional<SessionFile> m_file;
    QStringList m_found; ///< parallel to files; empty = missing
    std::vector<std::filesystem::path> m_folders;
    std::vector<bool> m_applied;
    bool m_opening = false;
};

} // namespace flipscope
