// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/breadcrumb_bar.h"

#include "ui/models/number_text.h"
#include "ui/views/selection.h"

#include <QEvent>
#include <QLabel>
#include <QToolButton>

#include <algorithm>
#include <numeric>

namespace flipscope {

namespace {

constexpr int spacing = 2;

} // namespace

BreadcrumbBar::BreadcrumbBar(Session* session, QWidget* parent)
    : QWidget(parent), m_session(session), m_back(new QToolButton(this)), m_forward(new QToolButton(this))
{
    setObjectName(QStringLiteral("breadcrumbs"));
    setAccessibleName(tr("Where you are"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    const auto arrow = [](QToolButton* button, Qt::ArrowType type, const QString& name, const QString& tip) {
        button->setArrowType(type);
        button->setAutoRaise(true);
        button->setAccessibleName(name);
        button->setToolTip(tip);
        button->setFocusPolicy(Qt::TabFocus);
    };
    m_back->setObjectName(QStringLiteral("back"));
    m_forward->setObjectName(QStringLiteral("forward"));
    arrow(m_back, Qt::LeftArrow, tr("Back"), tr("Back to where you were (Alt+Left)"));
    arrow(m_forward, Qt::RightArrow, tr("Forward"), tr("Forward again (Alt+Right)"));
    connect(m_back, &QToolButton::clicked, this, [this] { m_session->path().back(); });
    connect(m_forward, &QToolButton::clicked, this, [this] { m_session->path().forward(); });
    connect(&m_session->path(), &DrilldownPath::changed, this, &BreadcrumbBar::rebuild);
    connect(m_session, &Session::runsChanged, this, &BreadcrumbBar::rebuild);
    connect(m_session, &Session::viewChanged, this, &BreadcrumbBar::rebuild);
    rebuild();
}

/// "window %1", or what the piece is.
QString BreadcrumbBar::columnWords(qint64 start) const
{
    const auto& pieces = m_session->pieces();
    const auto piece = std::ranges::find(pieces, start, &Piece::start);
    if (piece == pieces.end())
        return tr("window %1");
    if (m_session->partition() == Partition::Turns)
        return QString::fromStdString(piece->label) + QStringLiteral(" %1");
    return (piece->kind.empty()
                ? tr("no segment")
                : QString::fromStdString(visible(piece->kind)).replace(QLatin1Char('_'), QLatin1Char(' '))) +
           QStringLiteral(" %1");
}

QVector<BreadcrumbBar::Crumb> BreadcrumbBar::crumbs() const
{
    QVector<Crumb> all;
    const SessionRun* base = m_session->baseline();
    if (!base)
        return all;
    Place place;
    all.push_back({base->name, place});
    const Place& now = m_session->path().place();
    const SessionRun* run = m_session->run(now.run);
    if (!run)
        return all;
    place.run = now.run;
    all.push_back({run->name, place});
    if (now.windowStart >= 0) {
        const auto [start, end] = windowRange(*m_session, now.windowStart);
        place.windowStart = now.windowStart;
        all.push_back({columnWords(now.windowStart).arg(rangeText(start, end)), place, rangeText(start, end)});
    }
    if (now.probe >= 0) {
        place.probe = now.probe;
        all.push_back({tr("probe %1").arg(groupedText(now.probe)), place, groupedText(now.probe)});
    }
    if (now.token >= 0) {
        place.token = now.token;
        all.push_back({tr("token %1").arg(groupedText(now.token)), place, groupedText(now.token)});
    }
    return all;
}

void BreadcrumbBar::rebuild()
{
    // Focus stays on the part that has it, as far as that part is still there.
    int focused = -1;
    for (int i = 0; i < m_crumbs.size(); ++i) {
        if (m_crumbs[i].button->hasFocus())
            focused = i;
    }
    QVector<Crumb> next = crumbs();
    // Buttons are used again: one of them may be what was just clicked.
    for (int i = 0; i < next.size(); ++i) {
        if (i < m_crumbs.size()) {
            next[i].button = m_crumbs[i].button;
            next[i].separator = m_crumbs[i].separator;
            continue;
        }
        auto* button = new QToolButton(this);
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::TabFocus);
        connect(button, &QToolButton::clicked, this, [this, i] {
            if (i < m_crumbs.size())
                m_session->path().go(m_crumbs[i].place);
        });
        next[i].button = button;
        if (i > 0) {
            next[i].separator = new QLabel(QStringLiteral("›"), this);
            next[i].separator->setAlignment(Qt::AlignCenter);
        }
    }
    for (qsizetype i = next.size(); i < m_crumbs.size(); ++i) {
        m_crumbs[i].button->hide();
        m_crumbs[i].button->deleteLater();
        if (m_crumbs[i].separator) {
            m_crumbs[i].separator->hide();
            m_crumbs[i].separator->deleteLater();
        }
    }
    m_crumbs = next;
    for (int i = 0; i < m_crumbs.size(); ++i) {
        const Crumb& crumb = m_crumbs[i];
        QFont font = this->font();
        font.setBold(i + 1 == m_crumbs.size());
        crumb.button->setFont(font);
        crumb.button->setToolTip(i == 0 ? tr("%1 (baseline): all runs").arg(crumb.text) : crumb.text);
        crumb.button->setAccessibleName(i == 0   ? tr("baseline %1").arg(crumb.text)
                                        : i == 1 ? tr("run %1").arg(crumb.text)
                                                 : crumb.text);
        crumb.button->show();
        if (crumb.separator)
            crumb.separator->show();
    }
    if (focused >= m_crumbs.size() && !m_crumbs.isEmpty())
        m_crumbs.back().button->setFocus();
    m_back->setEnabled(m_session->path().canBack());
    m_forward->setEnabled(m_session->path().canForward());
    fit();
    updateGeometry();
}

int BreadcrumbBar::buttonPadding() const
{
    return 2 * fontMetrics().averageCharWidth();
}

/// Widths in which the texts fit into `room`: the longest gives first, down to the width of the second longest, and so
/// on. `namesOnly`: only names give, and keep eight characters. Empty = they do not fit.
QVector<int> BreadcrumbBar::fittingWidths(const QStringList& texts, int room, bool namesOnly) const
{
    QVector<int> widths, least;
    for (qsizetype i = 0; i < texts.size(); ++i) {
        const QFontMetrics metrics(m_crumbs[i].button->font());
        widths << metrics.horizontalAdvance(texts[i]) + 1;
        const int name = std::min(widths.back(), 8 * metrics.averageCharWidth());
        least << (!namesOnly ? 1 : m_crumbs[i].shortText.isEmpty() ? name : widths.back());
    }
    int excess = std::accumulate(widths.begin(), widths.end(), 0) - room;
    while (excess > 0) {
        int longest = -1;
        for (int i = 0; i < widths.size(); ++i) {
            if (widths[i] > least[i] && (longest < 0 || widths[i] > widths[longest]))
                longest = i;
        }
        if (longest < 0)
            return {};
        int second = least[longest];
        for (int i = 0; i < widths.size(); ++i) {
            if (i != longest && widths[i] > least[i])
                second = std::max(second, widths[i]);
        }
        const int give = std::clamp(widths[longest] - second, 1, excess);
        widths[longest] -= give;
        excess -= give;
    }
    return widths;
}

void BreadcrumbBar::fit()
{
    const int height = this->height();
    const int arrow = m_back->sizeHint().width();
    m_back->setGeometry(0, 0, arrow, height);
    m_forward->setGeometry(arrow, 0, arrow, height);
    int x = 2 * arrow + 2 * spacing;
    if (m_crumbs.isEmpty())
        return;

    const int padding = buttonPadding();
    const int separator = fontMetrics().horizontalAdvance(QStringLiteral("›")) + 2 * spacing;
    const auto count = static_cast<int>(m_crumbs.size());
    const int room = std::max(0, width() - x - (count - 1) * separator - count * padding);
    QStringList texts = parts();
    QVector<int> widths = fittingWidths(texts, room, true);
    if (widths.isEmpty()) {
        for (int i = 0; i < count; ++i) {
            if (!m_crumbs[i].shortText.isEmpty())
                texts[i] = m_crumbs[i].shortText;
        }
        widths = fittingWidths(texts, room, true);
    }
    if (widths.isEmpty())
        widths = fittingWidths(texts, room, false);
    if (widths.isEmpty())
        widths.fill(1, count);
    for (int i = 0; i < count; ++i) {
        const Crumb& crumb = m_crumbs[i];
        if (crumb.separator) {
            crumb.separator->setGeometry(x, 0, separator, height);
            x += separator;
        }
        QString shown = QFontMetrics(crumb.button->font()).elidedText(texts[i], Qt::ElideMiddle, widths[i]);
        crumb.button->setText(shown.replace(QLatin1Char('&'), QLatin1String("&&")));
        crumb.button->setGeometry(x, 0, widths[i] + padding, height);
        x += widths[i] + padding;
    }
}

QStringList BreadcrumbBar::parts() const
{
    QStringList all;
    for (const Crumb& crumb : m_crumbs)
        all << crumb.text;
    return all;
}

QSize BreadcrumbBar::sizeHint() const
{
    int width = 2 * m_back->sizeHint().width();
    for (const Crumb& crumb : m_crumbs)
        width += QFontMetrics(crumb.button->font()).horizontalAdvance(crumb.text) + buttonPadding() + 12;
    return {width, m_back->sizeHint().height() + 2};
}

QSize BreadcrumbBar::minimumSizeHint() const
{
    return {4 * m_back->sizeHint().width(), m_back->sizeHint().height() + 2};
}

void BreadcrumbBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fit();
}

void BreadcrumbBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        rebuild();
}

} // namespace flipscope
