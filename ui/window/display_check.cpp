// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/display_check.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonObject>
#include <QLibrary>
#include <QLibraryInfo>
#include <QPluginLoader>
#include <QRegularExpression>

#include <algorithm>
#include <dlfcn.h>

namespace flipscope {

namespace {

const char* const withoutWindow = "The command line works without one: flipscope --help.";

/// Connects to the X server as Qt would; true also where that cannot be tried.
bool xServerAnswers()
{
    void* xcb = dlopen("libxcb.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (xcb == nullptr)
        return true; // the plugin check names what is missing
    using Connect = void* (*)(const char*, int*);
    using HasError = int (*)(void*);
    using Disconnect = void (*)(void*);
    const auto connect = reinterpret_cast<Connect>(dlsym(xcb, "xcb_connect"));
    const auto hasError = reinterpret_cast<HasError>(dlsym(xcb, "xcb_connection_has_error"));
    const auto disconnect = reinterpret_cast<Disconnect>(dlsym(xcb, "xcb_disconnect"));
    bool answers = true;
    if (connect != nullptr && hasError != nullptr && disconnect != nullptr) {
        void* connection = connect(nullptr, nullptr);
        answers = hasError(connection) == 0;
        disconnect(connection);
    }
    dlclose(xcb);
    return answers;
}

/// The library that Qt's xcb plugin misses, or "".
QString missingLibrary()
{
    const QString plugin = QLibraryInfo::path(QLibraryInfo::PluginsPath) + QStringLiteral("/platforms/libqxcb.so");
    if (!QFileInfo::exists(plugin))
        return {}; // linked in, or found by another path
    void* loaded = dlopen(plugin.toLocal8Bit().constData(), RTLD_LAZY | RTLD_LOCAL);
    if (loaded != nullptr) {
        dlclose(loaded);
        return {};
    }
    const QString why = QString::fromLocal8Bit(dlerror());
    static const QRegularExpression name(QStringLiteral("^(\\S+\\.so[.0-9]*): cannot open"));
    const auto match = name.match(why);
    return match.hasMatch() ? match.captured(1) : QString();
}

/// The platforms that Qt has plugins for.
QStringList platforms()
{
    QStringList folders{QLibraryInfo::path(QLibraryInfo::PluginsPath) + QStringLiteral("/platforms")};
    for (const QString& folder : QCoreApplication::libraryPaths())
        folders << folder + QStringLiteral("/platforms");
    if (const QString own = qEnvironmentVariable("QT_QPA_PLATFORM_PLUGIN_PATH"); !own.isEmpty())
        folders << own.split(QDir::listSeparator());
    QStringList names;
    for (const QString& folder : folders)
        for (const QFileInfo& file : QDir(folder).entryInfoList(QDir::Files))
            if (QLibrary::isLibrary(file.fileName()))
                for (const QJsonValue& key : QPluginLoader(file.filePath())
                                                 .metaData()
                                                 .value(QLatin1String("MetaData"))
                                                 .toObject()
                                                 .value(QLatin1String("Keys"))
                                                 .toArray())
                    names << key.toString().toLower();
    names.sort();
    names.removeDuplicates();
    return names;
}

/// Whether any of the platforms asked for ("wayland;xcb", "vnc:size=800x600") is there; true where that is unknown.
bool platformIsThere(const QString& asked, const QStringList& there)
{
    const QStringList wanted = asked.split(QLatin1Char(';'));
    return there.isEmpty() || std::any_of(wanted.begin(), wanted.end(), [&](const QString& one) {
               return there.contains(one.section(QLatin1Char(':'), 0, 0).toLower());
           });
}

} // namespace

QString packageOfLibrary(const QString& library)
{
    static const QRegularExpression name(QStringLiteral("^(.+)\\.so\\.([0-9]+)"));
    const auto match = name.match(QFileInfo(library).fileName());
    if (!match.hasMatch())
        return library;
    const QString stem = match.captured(1).toLower();
    // Debian puts a dash between a digit at the end of the name and the version.
    const bool digit = stem.back().isDigit();
    return stem + (digit ? QStringLiteral("-") : QString()) + match.captured(2);
}

QString displayProblem()
{
    const QString platform = qEnvironmentVariable("QT_QPA_PLATFORM");
    if (const QStringList there = platforms(); !platform.isEmpty() && !platformIsThere(platform, there))
        return QStringLiteral("Qt has no window system \"%1\", which QT_QPA_PLATFORM asks for: take that out of the "
                              "environment, or choose one of %2.")
            .arg(platform, there.join(QLatin1String(", ")));
    if (!platform.isEmpty() && !platform.startsWith(QLatin1String("xcb")))
        return {}; // somebody knows what they want (offscreen, wayland, vnc ...)
    if (platform.isEmpty() && !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY"))
        return {};
    const QString tail = QString::fromLatin1(withoutWindow);
    if (qEnvironmentVariableIsEmpty("DISPLAY"))
        return QStringLiteral("There is no display to open the window on (DISPLAY and WAYLAND_DISPLAY are not set). %1")
            .arg(tail);
    if (const QString library = missingLibrary(); !library.isEmpty())
        return QStringLiteral("The window cannot be opened because %1 is missing; on Debian or Ubuntu, "
                              "\"apt-get install %2\" installs it. %3")
            .arg(library, packageOfLibrary(library), tail);
    if (!xServerAnswers())
        return QStringLiteral("The display %1 does not answer, or does not let this user in. %2")
            .arg(qEnvironmentVariable("DISPLAY"), tail);
    return {};
}

} // namespace flipscope
