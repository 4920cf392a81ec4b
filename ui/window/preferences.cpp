// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/preferences.h"

#include "core/analysis/cache.h"
#include "ui/models/number_text.h"
#include "ui/session/session.h"
#include "ui/window/theme.h"
#include "ui/window/view_controls.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>

namespace flipscope {

namespace {

const QString windowKey = QStringLiteral("view/firstWindow");
const QString engineKey = QStringLiteral("engine/choice");
const QString gpuKey = QStringLiteral("engine/gpu");

} // namespace

namespace preferences {

qint64 firstWindow()
{
    const qint64 stored = QSettings().value(windowKey, 0).toLongLong();
    return offeredWindowSizes().contains(stored) ? stored : 0;
}

void applyEngine()
{
    const QSettings settings;
    const QString engine = settings.value(engineKey).toString();
    if (qEnvironmentVariableIsEmpty("FLIPSCOPE_ENGINE") && engine == QLatin1String("cpu"))
        qputenv("FLIPSCOPE_ENGINE", "cpu");
    const int gpu = settings.value(gpuKey, 0).toInt();
    if (qEnvironmentVariableIsEmpty("CUDA_VISIBLE_DEVICES") && gpu > 0)
        qputenv("CUDA_VISIBLE_DEVICES", QByteArray::number(gpu));
}

} // namespace preferences

PreferencesDialog::PreferencesDialog(Session* session, QWidget* parent) : QDialog(parent), m_session(session)
{
    setObjectName(QStringLiteral("preferencesDialog"));
    setWindowTitle(tr("Preferences"));
    m_theme = new QComboBox(this);
    m_theme->setObjectName(QStringLiteral("preferencesTheme"));
    m_theme->addItem(tr("As the system"), static_cast<int>(ThemeChoice::System));
    m_theme->addItem(tr("Light"), static_cast<int>(ThemeChoice::Light));
    m_theme->addItem(tr("Dark"), static_cast<int>(ThemeChoice::Dark));
    m_theme->addItem(tr("High contrast"), static_cast<int>(ThemeChoice::HighContrast));
    m_theme->setCurrentIndex(m_theme->findData(static_cast<int>(storedTheme())));
    m_theme->setToolTip(tr("Colours of runs and of heatmaps can be told apart by colour-blind eyes in all of them"));

    m_window = new QComboBox(this);
    m_window->setObjectName(QStringLiteral("preferencesWindow"));
    m_window->addItem(tr("Chosen by the length of the history"), 0);
    for (const qint64 size : offeredWindowSizes())
        m_window->addItem(tr("%1 tokens").arg(groupedText(size)), size);
    m_window->setCurrentIndex(std::max(0, m_window->findData(preferences::firstWindow())));

    m_engine = new QComboBox(this);
    m_engine->setObjectName(QStringLiteral("preferencesEngine"));
    m_engine->addItem(tr("The GPU where it works, else the CPU"), QStringLiteral("auto"));
    m_engine->addItem(tr("The CPU"), QStringLiteral("cpu"));
    m_engine->setCurrentIndex(std::max(0, m_engine->findData(QSettings().value(engineKey).toString())));
    m_gpu = new QSpinBox(this);
    m_gpu->setObjectName(QStringLiteral("preferencesGpu"));
    m_gpu->setRange(0, 63);
    m_gpu->setPrefix(tr("GPU "));
    m_gpu->setAccessibleName(tr("Number of the GPU"));
    m_gpu->setValue(QSettings().value(gpuKey, 0).toInt());
    m_engineNote = new QLabel(tr("Now: %1. A change acts from the next start on.")
                                  .arg(session->engineText().isEmpty() ? tr("not known yet") : session->engineText()),
                              this);
    m_engineNote->setWordWrap(true);
    m_engineNote->setForegroundRole(QPalette::PlaceholderText);
    auto* engine = new QHBoxLayout;
    engine->addWidget(m_engine, 1);
    engine->addWidget(m_gpu);

    m_cache = new QLabel(this);
    m_cache->setObjectName(QStringLiteral("preferencesCache"));
    m_cache->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_cache->setWordWrap(true);
    m_clear = new QPushButton(tr("&Clear"), this);
    m_clear->setObjectName(QStringLiteral("preferencesClear"));
    m_clear->setToolTip(tr("Removes what was computed; it is computed anew when it is needed"));
    auto* cache = new QHBoxLayout;
    cache->addWidget(m_cache, 1);
    cache->addWidget(m_clear);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* form = new QFormLayout(this);
    form->addRow(tr("&Theme"), m_theme);
    form->addRow(tr("First &window size"), m_window);
    form->addRow(tr("What com&putes"), engine);
    form->addRow(QString(), m_engineNote);
    form->addRow(tr("Cache"), cache);
    form->addRow(buttons);
    resize(520, sizeHint().height());

    connect(m_theme, &QComboBox::activated, this, [this] {
        const auto choice = static_cast<ThemeChoice>(m_theme->currentData().toInt());
        storeTheme(choice);
        applyTheme(choice);
    });
    connect(m_window, &QComboBox::activated, this, [this] {
        QSettings().setValue(windowKey, m_window->currentData());
        m_session->setFirstWindow(preferences::firstWindow());
    });
    connect(m_engine, &QComboBox::activated, this, &PreferencesDialog::engineChosen);
    connect(m_gpu, &QSpinBox::valueChanged, this, &PreferencesDialog::engineChosen);
    connect(m_clear, &QPushButton::clicked, this, &PreferencesDialog::clearCache);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    m_gpu->setEnabled(m_engine->currentIndex() == 0);
    showCache();
}

void PreferencesDialog::engineChosen()
{
    QSettings().setValue(engineKey, m_engine->currentData());
    QSettings().setValue(gpuKey, m_gpu->value());
    m_gpu->setEnabled(m_engine->currentIndex() == 0);
}

void PreferencesDialog::showCache()
{
    const auto cache = TableCache::of_user();
    m_clear->setEnabled(cache && cache->size() > 0);
    m_cache->setText(cache ? tr("%1 in %2")
                                 .arg(QLocale().formattedDataSize(static_cast<qint64>(cache->size())),
                                      QString::fromStdString(cache->folder().string()))
                           : tr("none (FLIPSCOPE_NO_CACHE is set)"));
}

void PreferencesDialog::clearCache()
{
    if (const auto cache = TableCache::of_user())
        cache->clear();
    showCache();
}

} // namespace flipscope
