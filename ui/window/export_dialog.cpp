// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/export_dialog.h"

#include "ui/window/drawn_figures.h"
#include "ui/window/theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QStandardPaths>

#include <algorithm>

namespace flipscope {

namespace {

const QString folderKey = QStringLiteral("export/folder");

QSpinBox* spin(int low, int high, int value, const QString& suffix, const QString& name, QWidget* parent)
{
    auto* box = new QSpinBox(parent);
    box->setRange(low, high);
    box->setValue(value);
    box->setSuffix(suffix);
    box->setObjectName(name);
    return box;
}

QString startFolder()
{
    QString stored = QSettings().value(folderKey).toString();
    if (!stored.isEmpty() && QFileInfo(stored).isDir())
        return stored;
    const QString pictures = QStandardPaths::writableLocation(QStandardPaths::PicturesLocation);
    return QFileInfo(pictures).isDir() ? pictures : QDir::homePath();
}

} // namespace

ExportDialog::ExportDialog(Session* session, QWidget* parent) : QDialog(parent), m_session(session)
{
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(tr("Export figure"));
    m_chart = new QComboBox(this);
    m_chart->setObjectName(QStringLiteral("exportChart"));
    m_chart->addItem(tr("Heatmap"), QStringLiteral("heatmap"));
    m_chart->addItem(tr("Flips per window, lines"), QStringLiteral("flips"));
    m_chart->addItem(tr("KL per window, lines"), QStringLiteral("kl"));
    m_chart->addItem(tr("KL by position"), QStringLiteral("position"));
    m_chart->addItem(tr("Distribution of KL"), QStringLiteral("distribution"));
    m_chart->addItem(tr("Margin against KL"), QStringLiteral("margin"));
    m_chart->addItem(tr("Agreement with position"), QStringLiteral("agreement"));
    // These need more than a run: what cannot be drawn now says why.
    const std::pair<QString, DrawnFigure> drawn[] = {{tr("Two runs compared"), DrawnFigure::Compare},
                                                     {tr("Top tokens at the probe"), DrawnFigure::Probe},
                                                     {tr("Tokens in two columns"), DrawnFigure::Tokens}};
    for (const auto& [text, figure] : drawn) {
        m_chart->addItem(text, nameOf(figure));
        const QString why = whyNoFigure(*session, figure);
        qobject_cast<QStandardItemModel*>(m_chart->model())->item(m_chart->count() - 1)->setEnabled(why.isEmpty());
        m_chart->setItemData(m_chart->count() - 1, why, Qt::ToolTipRole);
    }
    m_chart->setToolTip(tr("What is drawn, as the window shows it now; the command line knows it as --chart"));
    m_format = new QComboBox(this);
    m_format->setObjectName(QStringLiteral("exportFormat"));
    m_format->addItem(tr("PNG picture"), QStringLiteral("png"));
    m_format->addItem(tr("SVG, text stays text"), QStringLiteral("svg"));
    m_format->addItem(tr("PDF, vector"), QStringLiteral("pdf"));
    m_format->addItem(tr("CSV, the numbers"), QStringLiteral("csv"));
    m_format->setToolTip(
        tr("PNG for slides and the web, SVG and PDF for paper at any size, CSV for the numbers alone"));
    m_path = new QLineEdit(QDir(startFolder()).filePath(QStringLiteral("flipscope-heatmap.png")), this);
    m_path->setObjectName(QStringLiteral("exportPath"));
    m_path->setAccessibleName(tr("File to write"));
    m_path->setToolTip(tr("File to write; its suffix chooses the format"));
    m_path->setMinimumWidth(320);
    auto* browse = new QPushButton(tr("&Browse …"), this);
    browse->setToolTip(tr("Choose folder and name of the file to write"));
    m_width = spin(200, 10000, 1200, tr(" px"), QStringLiteral("exportWidth"), this);
    m_height = spin(150, 10000, 700, tr(" px"), QStringLiteral("exportHeight"), this);
    m_dpi = spin(48, 1200, 192, tr(" dpi"), QStringLiteral("exportDpi"), this);
    m_width->setAccessibleName(tr("Width in pixels at 96 to the inch"));
    m_height->setAccessibleName(tr("Height in pixels at 96 to the inch"));
    m_width->setToolTip(tr("Width of the figure; 96 pixels are an inch on paper"));
    m_height->setToolTip(tr("Height of the figure, caption included; 96 pixels are an inch on paper"));
    m_dpi->setToolTip(tr("Of a PNG: more dots for the same size on paper"));
    m_theme = new QComboBox(this);
    m_theme->setToolTip(tr("Colours of paper and letters; the colours of the values are the same in both"));
    m_theme->setObjectName(QStringLiteral("exportTheme"));
    m_theme->addItem(tr("Light, for paper"), static_cast<int>(ChartStyle::Theme::Light));
    m_theme->addItem(tr("Dark"), static_cast<int>(ChartStyle::Theme::Dark));
    m_size = new QLabel(this);
    m_size->setObjectName(QStringLiteral("exportSize"));
    m_size->setForegroundRole(QPalette::PlaceholderText);
    m_problem = new QLabel(this);
    m_problem->setObjectName(QStringLiteral("exportProblem"));
    m_problem->setWordWrap(true);
    QPalette red = m_problem->palette();
    red.setColor(QPalette::WindowText, errorColor());
    m_problem->setPalette(red);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
    m_ok = buttons->button(QDialogButtonBox::Save);

    auto* file = new QHBoxLayout;
    file->addWidget(m_path, 1);
    file->addWidget(browse);
    auto* size = new QHBoxLayout;
    size->addWidget(m_width);
    size->addWidget(new QLabel(QStringLiteral("×"), this));
    size->addWidget(m_height);
    size->addStretch();
    auto* form = new QFormLayout(this);
    form->addRow(tr("&Chart"), m_chart);
    form->addRow(tr("&Format"), m_format);
    form->addRow(tr("File"), file);
    form->addRow(tr("Size"), size);
    form->addRow(tr("&Resolution"), m_dpi);
    form->addRow(tr("&Theme"), m_theme);
    form->addRow(QString(), m_size);
    form->addRow(m_problem);
    form->addRow(buttons);

    connect(browse, &QPushButton::clicked, this, &ExportDialog::chooseFile);
    connect(m_format, &QComboBox::activated, this, &ExportDialog::formatChosen);
    connect(m_chart, &QComboBox::activated, this, &ExportDialog::chartChosen);
    for (QSpinBox* box : {m_width, m_height, m_dpi})
        connect(box, &QSpinBox::valueChanged, this, &ExportDialog::update);
    connect(m_path, &QLineEdit::textChanged, this, &ExportDialog::update);
    connect(buttons, &QDialogButtonBox::accepted, this, &ExportDialog::write);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    update();
}

void ExportDialog::choose(const QString& chart)
{
    const int index = m_chart->findData(chart);
    if (index < 0)
        return;
    m_chart->setCurrentIndex(index);
    chartChosen();
}

/// The file is named after the chart, and is at least as high as the chart needs.
void ExportDialog::chartChosen()
{
    const QFileInfo old(m_path->text());
    if (old.completeBaseName().startsWith(QLatin1String("flipscope-")))
        m_path->setText(
            old.dir().filePath(QStringLiteral("flipscope-%1.%2").arg(m_chart->currentData().toString(), suffix())));
    if (const auto chosen = spec(); chosen)
        m_height->setValue(std::max(m_height->value(), figureMinimumHeight(*chosen)));
}

Result<FigureSpec> ExportDialog::spec() const
{
    const auto theme = static_cast<ChartStyle::Theme>(m_theme->currentData().toInt());
    const QString name = m_chart->currentData().toString();
    for (const DrawnFigure figure : {DrawnFigure::Compare, DrawnFigure::Probe, DrawnFigure::Tokens})
        if (name == nameOf(figure)) {
            auto drawn = figureOf(*m_session, figure, theme);
            if (drawn)
                drawn->size = {m_width->value(), m_height->value()};
            return drawn;
        }
    const auto named =
        std::ranges::find(figureCharts(), name.toStdString(), &std::pair<std::string, FigureSpec::Chart>::first);
    FigureSpec spec =
        figureOf(*m_session, named == figureCharts().end() ? FigureSpec::Chart::Heatmap : named->second, theme);
    spec.size = {m_width->value(), m_height->value()};
    return spec;
}

QString ExportDialog::suffix() const
{
    return QFileInfo(m_path->text()).suffix().toLower();
}

void ExportDialog::chooseFile()
{
    const QString chosen = QFileDialog::getSaveFileName(
        this, tr("Export figure"), m_path->text(), tr("Figures and numbers (*.png *.svg *.pdf *.csv);;All files (*)"),
        nullptr, QFileDialog::DontConfirmOverwrite);
    if (!chosen.isEmpty())
        m_path->setText(chosen);
}

void ExportDialog::formatChosen()
{
    const QFileInfo old(m_path->text());
    m_path->setText(old.dir().filePath(old.completeBaseName() + QLatin1Char('.') + m_format->currentData().toString()));
}

void ExportDialog::update()
{
    const int known = m_format->findData(suffix());
    if (known >= 0)
        m_format->setCurrentIndex(known);
    const bool png = suffix() == QLatin1String("png"), csv = suffix() == QLatin1String("csv");
    m_dpi->setEnabled(png);
    for (QWidget* widget :
         {static_cast<QWidget*>(m_width), static_cast<QWidget*>(m_height), static_cast<QWidget*>(m_theme)})
        widget->setEnabled(!csv);
    const auto millimetres = [](int pixels) { return qRound(pixels * 25.4 / 96); };
    QString size = tr("%1 × %2 mm on paper").arg(millimetres(m_width->value())).arg(millimetres(m_height->value()));
    if (png)
        size += tr(", %1 × %2 pixels")
                    .arg(qRound(m_width->value() * m_dpi->value() / 96.0))
                    .arg(qRound(m_height->value() * m_dpi->value() / 96.0));
    m_size->setText(csv ? tr("the numbers, one line for each mark") : size);
    QString problem;
    if (known < 0)
        problem = tr("The file's name has to end in .png, .svg, .pdf or .csv.");
    m_problem->setText(problem);
    m_ok->setEnabled(problem.isEmpty());
}

void ExportDialog::write()
{
    QString path = m_path->text();
    if (QDir::isRelativePath(path))
        path = QDir(startFolder()).filePath(path);
    if (const auto ok = m_session->checkOutput(path); !ok) {
        m_problem->setText(QString::fromStdString(ok.error().message));
        return;
    }
    if (QFileInfo::exists(path) &&
        QMessageBox::question(this, tr("Export figure"),
                              tr("%1 is there already. Replace it?").arg(QFileInfo(path).fileName())) !=
            QMessageBox::Yes)
        return;
    auto figure = spec();
    if (!figure) {
        m_problem->setText(QString::fromStdString(figure.error().message));
        return;
    }
    figure->dpi = m_dpi->value();
    if (const auto written = exportFigure(*figure, path); !written) {
        m_problem->setText(QString::fromStdString(written.error().message));
        return;
    }
    QSettings().setValue(folderKey, QFileInfo(path).absolutePath());
    emit exported(path);
    accept();
}

} // namespace flipscope
