// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/locate_dialog.h"

#include "ui/models/number_text.h"
#include "ui/session/session_file.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

namespace flipscope {

LocateDialog::LocateDialog(SessionOpener* opener, QWidget* parent) : QDialog(parent), m_opener(opener)
{
    setObjectName(QStringLiteral("locateDialog"));
    setWindowTitle(tr("Traces that are not where they were"));
    m_words = new QLabel(this);
    m_words->setWordWrap(true);
    m_list = new QListWidget(this);
    m_list->setObjectName(QStringLiteral("missingFiles"));
    m_list->setAccessibleName(tr("Missing traces"));
    m_list->setSelectionMode(QAbstractItemView::NoSelection);
    m_words->setBuddy(m_list);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    auto* look = buttons->addButton(tr("&Look in a folder …"), QDialogButtonBox::ActionRole);
    look->setObjectName(QStringLiteral("lookInFolder"));
    look->setToolTip(tr("Choose a folder to look in; files are known by their names"));
    look->setDefault(true);
    m_without = buttons->addButton(tr("Open &without them"), QDialogButtonBox::AcceptRole);
    m_without->setObjectName(QStringLiteral("openWithout"));
    m_without->setToolTip(tr("Open what was found, and leave these out of the session"));
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_words);
    layout->addWidget(m_list, 1);
    layout->addWidget(buttons);
    resize(560, 300);
    connect(look, &QPushButton::clicked, this, &LocateDialog::chooseFolder);
    connect(buttons, &QDialogButtonBox::accepted, this, &LocateDialog::goOn);
    connect(buttons, &QDialogButtonBox::rejected, this, &LocateDialog::reject);
    refresh();
}

void LocateDialog::refresh()
{
    const QStringList missing = m_opener->missingFiles();
    m_words->setText(
        tr("%1 of the session not found. Where are they now?").arg(counted(missing.size(), tr("trace"), tr("traces"))));
    m_list->clear();
    m_list->addItems(missing);
}

void LocateDialog::chooseFolder()
{
    auto* dialog = new QFileDialog(this, tr("Look for the traces in"),
                                   QFileInfo(m_opener->missingFiles().value(0)).absolutePath());
    dialog->setObjectName(QStringLiteral("lookInDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, &LocateDialog::lookIn);
    dialog->open();
}

void LocateDialog::lookIn(const QString& folder)
{
    m_opener->lookIn(folder);
    if (m_opener->missingFiles().isEmpty())
        goOn();
    else
        refresh();
}

void LocateDialog::goOn()
{
    accept();
    m_opener->proceed();
}

void LocateDialog::reject()
{
    m_opener->abandon();
    QDialog::reject();
}

} // namespace flipscope
