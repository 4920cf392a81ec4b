// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QString>
#include <QVector>

#include <functional>

class QPainter;
class QWidget;

namespace flipscope {

class Session;

/// A page of the window's centre, chosen by its tab or by Ctrl+1 … Ctrl+9. All pages show the same session and talk to
/// each other through it alone. To add one: a file with a function that returns its PageKind, and a line in
/// pageKinds().
struct PageKind {
    QString name; ///< never translated; becomes the widget's object name
    QString title;
    QIcon icon;
    std::function<QWidget*(Session*, QWidget* parent)> make; ///< called when the page is first looked at
    QString help = {};                                       ///< what it shows, in a sentence: the tool tip of its tab
};

/// All pages, in the order of their tabs; the first is the overview.
QVector<PageKind> pageKinds();

/// An icon of lines that has the colour of the palette's text whenever it is painted. `paint` fills a square of 16
/// × 16.
QIcon lineIcon(std::function<void(QPainter&)> paint);

// One function a page:
PageKind overviewPage();
PageKind comparePage();
PageKind toolCallsPage();

} // namespace flipscope
