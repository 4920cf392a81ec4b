// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/help.h"

#include "core/analysis/cache.h"
#include "core/trace/open.h"
#include "ui/session/session.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QMessageBox>
#include <QPushButton>
#include <QScreen>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace flipscope {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("flipscope::Help", text);
}

struct Key {
    const char *keys, *what;
};

constexpr Key allKeys[] = {
    {"Ctrl+O", "open traces"},
    {"Ctrl+Shift+O", "open all traces of a folder"},
    {"Ctrl+1 … Ctrl+9", "the pages of the window"},
    {"T", "the next broken tool call, from anywhere"},
    {"Alt+1 … Alt+9", "open what was open before"},
    {"Ctrl+S, Ctrl+Shift+S", "save the session, save it under another name"},
    {"Ctrl+N", "another window"},
    {"Ctrl+D", "bookmark the position that is looked at"},
    {"F5", "read the files again and compute what changed"},
    {"Esc", "stop what is being computed"},
    {"Ctrl+Shift+W", "close all traces"},
    {"Arrow keys", "move over the cells of the heatmap"},
    {"Enter", "go down: run, worst window, worst probe, token (anywhere: Ctrl+Enter)"},
    {"Backspace", "go up again"},
    {"Alt+Left, Alt+Right", "back and forward through what was looked at"},
    {"N, P", "next and previous flip (Tokens), disagreement (texts of Compare)"},
    {"Ctrl+F, F3, Shift+F3", "find text, next and previous match (Tokens)"},
    {"Ctrl+G", "go to a token position (Tokens)"},
    {"Ctrl+B", "make the current run the baseline (Runs)"},
    {"Ctrl+H", "hide or show the current run (Runs)"},
    {"F2", "rename the current run (Runs)"},
    {"Alt+Up, Alt+Down", "move the current run (Runs)"},
    {"Delete", "remove the current run from the list (Runs)"},
    {"Ctrl+C", "copy the selected rows or the cell as text"},
    {"Ctrl+Shift+C", "copy the heatmap as a figure"},
    {"Ctrl+Shift+E", "export a figure"},
    {"Ctrl+P", "print what is looked at: the heatmap, or the comparison"},
    {"Ctrl+Shift+P", "all commands, found by typing"},
    {"Ctrl+,", "preferences"},
    {"F1", "the manual's page about the view that is looked at"},
    {"Ctrl+F1", "this page"},
};

QString manualHtml()
{
    QString html = QStringLiteral("<h2>%1</h2><table cellspacing='6'>").arg(tr("Keys"));
    for (const Key& key : allKeys)
        html += QStringLiteral("<tr><td><b>%1</b></td><td>%2</td></tr>")
                    .arg(QString::fromUtf8(key.keys), QString::fromUtf8(key.what));
    html += QStringLiteral("</table><h2>%1</h2><p>%2</p><table cellspacing='6'>")
                .arg(tr("Numbers of a window"),
                     tr("P is the baseline's next-token distribution at a probe, Q the run's. Logarithms are natural: "
                        "divergences are in nats. A window counts the probes whose last token fed lies in it."));
    const auto row = [&](const QString& name, const QString& what) {
        html +=
            QStringLiteral("<tr><td><b>%1</b></td><td>%2</td></tr>").arg(name.toHtmlEscaped(), what.toHtmlEscaped());
    };
    for (const WindowMetric& metric : window_metrics())
        row(QString::fromStdString(metric.title), QString::fromStdString(metric.description));
    html += QStringLiteral("</table><h2>%1</h2><table cellspacing='6'>").arg(tr("Numbers of a probe"));
    const auto view = [](std::string_view text) {
        return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
    };
    for (const ProbeColumn& column : probe_columns())
        row(view(column.title), view(column.description));
    return html + QStringLiteral("</table>");
}

} // namespace

void showManual(QWidget* parent)
{
    auto* dialog = new QDialog(parent);
    dialog->setObjectName(QStringLiteral("manual"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Flipscope: keys and numbers"));
    auto* text = new QTextBrowser(dialog);
    text->setAccessibleName(tr("Keys and numbers"));
    text->setHtml(manualHtml());
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(text);
    layout->addWidget(buttons);
    dialog->resize(680, 640);
    dialog->show();
}

void showAbout(QWidget* parent, const Session& session)
{
    QString engine = session.engineText();
    if (engine.isEmpty())
        engine = tr("not known yet");
    QString text = QStringLiteral("<h2>Flipscope %1</h2><p>%2</p><p><b>%3</b> %4</p>")
                       .arg(QStringLiteral(FLIPSCOPE_VERSION), tr("Shows where copies of a language model part ways."),
                            tr("Computing with:"), engine.toHtmlEscaped());
    const auto cache = TableCache::of_user();
    const QScreen* screen = parent->screen();
    const QString diagnostics =
        QStringLiteral(
            "Flipscope %1, metrics version %2\nQt %3, Platform %4, scale %5\nHDF5 %6\nEngine: %7\nCache: %8\n")
            .arg(QStringLiteral(FLIPSCOPE_VERSION))
            .arg(metrics_version)
            .arg(QLatin1String(qVersion()), QGuiApplication::platformName())
            .arg(screen->devicePixelRatio())
            .arg(QString::fromStdString(hdf5_version()), engine,
                 cache ? QString::fromStdString(cache->folder().string()) : tr("none"));
    text += QStringLiteral("<p>%1</p><p>%2</p>")
                .arg(tr("Qt %1, metrics version %2").arg(QLatin1String(qVersion())).arg(metrics_version),
                     tr("Free software under the GNU General Public License, version 3 or later; without warranty."));
    auto* box = new QMessageBox(parent);
    box->setObjectName(QStringLiteral("about"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setWindowTitle(tr("About Flipscope"));
    box->setTextFormat(Qt::RichText);
    box->setText(text);
    box->setInformativeText(
        tr("Charts are lettered in Inter (SIL Open Font License); colour maps are by Fabio Crameri and others "
           "(licences beside them). Uses Qt and Qt Charts (GPL 3), HDF5, fmt, nlohmann-json, CLI11, Highway, xxHash, "
           "tl::expected, zlib, libzip, zstd."));
    box->setIconPixmap(parent->windowIcon().pixmap(64));
    box->setDetailedText(diagnostics);
    for (QAbstractButton* details : box->buttons())
        details->setToolTip(tr("Versions, engine and cache folder, for a report"));
    auto* copy = box->addButton(tr("Copy &diagnostics"), QMessageBox::ActionRole);
    copy->setToolTip(tr("Puts versions, engine and cache folder on the clipboard, for a report"));
    QObject::connect(copy, &QAbstractButton::clicked, box,
                     [diagnostics] { QApplication::clipboard()->setText(diagnostics); });
    box->addButton(QMessageBox::Close);
    box->open();
}

} // namespace flipscope
