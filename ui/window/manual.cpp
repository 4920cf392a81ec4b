// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/manual.h"

#include <QCoreApplication>
#include <QDesktopServices>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileInfo>
#include <QImage>
#include <QPushButton>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

namespace flipscope {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("flipscope::Manual", text);
}

/// Pictures of whole windows are shown as wide as the page.
class Browser : public QTextBrowser {
public:
    using QTextBrowser::QTextBrowser;

protected:
    QVariant loadResource(int type, const QUrl& name) override
    {
        const QVariant resource = QTextBrowser::loadResource(type, name);
        if (type != QTextDocument::ImageResource)
            return resource;
        QImage image = resource.value<QImage>();
        if (image.isNull())
            image.loadFromData(resource.toByteArray());
        const int room = viewport()->width() - 24;
        return image.isNull() || image.width() <= room ? QVariant(image)
                                                       : QVariant(image.scaledToWidth(room, Qt::SmoothTransformation));
    }
};

} // namespace

QString manualFolder()
{
    const QString beside = QCoreApplication::applicationDirPath() + QStringLiteral("/../share/doc/flipscope/manual");
    for (const QString& folder : {beside, QStringLiteral(FLIPSCOPE_MANUAL_DIR)})
        if (QFileInfo::exists(folder + QStringLiteral("/index.md")))
            return QDir::cleanPath(folder);
    return {};
}

bool showManualPage(QWidget* parent, const QString& page)
{
    const QString folder = manualFolder();
    if (folder.isEmpty() || !QFileInfo::exists(folder + QLatin1Char('/') + page))
        return false;
    auto* dialog = parent->findChild<QDialog*>(QStringLiteral("manualPages"), Qt::FindDirectChildrenOnly);
    if (dialog == nullptr) {
        dialog = new QDialog(parent);
        dialog->setObjectName(QStringLiteral("manualPages"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->resize(860, 720);
        auto* text = new Browser(dialog);
        text->setObjectName(QStringLiteral("manualText"));
        text->setAccessibleName(tr("Manual"));
        text->setOpenExternalLinks(true);
        auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
        auto* index = buttons->addButton(tr("&Contents"), QDialogButtonBox::ActionRole);
        auto* back = buttons->addButton(tr("&Back"), QDialogButtonBox::ActionRole);
        index->setToolTip(tr("All pages of the manual"));
        back->setToolTip(tr("The page that was read before"));
        back->setEnabled(false);
        QObject::connect(text, &QTextBrowser::backwardAvailable, back, &QPushButton::setEnabled);
        QObject::connect(back, &QPushButton::clicked, text, &QTextBrowser::backward);
        QObject::connect(index, &QPushButton::clicked, text, [text, folder] {
            text->setSource(QUrl::fromLocalFile(folder + QStringLiteral("/index.md")));
        });
        QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
        auto* layout = new QVBoxLayout(dialog);
        layout->addWidget(text);
        layout->addWidget(buttons);
        QObject::connect(text, &QTextBrowser::sourceChanged, dialog, [dialog](const QUrl& source) {
            dialog->setWindowTitle(tr("Flipscope: %1").arg(source.fileName()));
        });
        dialog->show();
    }
    dialog->findChild<QTextBrowser*>(QStringLiteral("manualText"))
        ->setSource(QUrl::fromLocalFile(folder + QLatin1Char('/') + page), QTextDocument::MarkdownResource);
    dialog->raise();
    dialog->activateWindow();
    return true;
}

} // namespace flipscope
