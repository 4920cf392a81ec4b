// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/print/ask_printer.h"

#include <QCoreApplication>
#include <QPrintDialog>
#include <QPrinter>

#include <memory>
#include <utility>

namespace flipscope {

void askPrinter(QWidget* parent, const QString& title, std::function<void(QPagedPaintDevice&)> paint)
{
    auto printer = std::make_shared<QPrinter>(QPrinter::HighResolution);
    printer->setDocName(title);
    printer->setCreator(QStringLiteral("Flipscope"));
    printer->setPageOrientation(QPageLayout::Landscape);
    auto* dialog = new QPrintDialog(printer.get(), parent);
    dialog->setObjectName(QStringLiteral("printDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(QCoreApplication::translate("flipscope::Print", "Print figure"));
    dialog->setOptions(QAbstractPrintDialog::PrintToFile); // one page: nothing to choose pages of
    QObject::connect(dialog, qOverload<QPrinter*>(&QPrintDialog::accepted), dialog,
                     [printer, paint = std::move(paint)](QPrinter*) { paint(*printer); });
    // The printer has to outlive the dialog, whose way of closing is Qt's.
    QObject::connect(dialog, &QObject::destroyed, [printer] {});
    dialog->open();
}

} // namespace flipscope
