// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/preferences.h"

#include "core/analysis/cache.h"
#include "core/base/cache_folder.h"
#include "core/base/memory_limit.h"
#include "ui/charts/colormap.h"
#include "ui/models/number_text.h"
#include "ui/session/session.h"
#include "ui/window/theme.h"
#include "ui/window/view_controls.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>

#include <algorithm>

namespace flipscope {

namespace {

const QString windowKey = QStringLiteral("view/firstWindow");
const QString engineKey = QStringLiteral("engine/choice");
const QString gpuKey = QStringLiteral("engine/gpu");
constexpr int allGpus = -1;
const QString memoryKey = QStringLiteral("engine/memory");
const QString mapKey = QStringLiteral("view/colourMap");
const QString cacheKey = QStringLiteral("cache/folder");

QString textOf(const std::optional<TableCache>& cache)
{
    if (!cache)
        return PreferencesDialog::tr("none (FLIPSCOPE_NO_CACHE is set)");
    const QFileInfo folder(QString::fromStdString(cache->folder().string()));
    if (folder.exists() && !(folder.isDir() && folder.isWritable()))
        return PreferencesDialog::tr("%1 is no folder that can be written to: nothing is kept. Choose another one.")
            .arg(folder.filePath());
    return PreferencesDialog::tr("%1 in %2")
        .arg(QLocale().formattedDataSize(static_cast<qint64>(cache->size())), folder.filePath());
}

} // namespace

namespace preferences {

qint64 firstWindow()
{
    const qint64 stored = QSettings().value(windowKey, 0).toLongLong();
    return offeredWindowSizes().contains(stored) ? stored : 0;
}

QString colourMap()
{
    const QString stored = QSettings().value(mapKey).toString();
    return colormapNames().contains(stored) ? stored : ColourScale().map;
}

qint64 memoryLimit()
{
    return std::clamp<qint64>(QSettings().value(memoryKey, 0).toLongLong(), 0, 1 << 20);
}

QString cacheFolder()
{
    return QSettings().value(cacheKey).toString();
}

void applyLimits()
{
    if (qEnvironmentVariableIsEmpty("FLIPSCOPE_MEMORY"))
        set_memory_limit(memoryLimit() << 20);
    if (qEnvironmentVariableIsEmpty("FLIPSCOPE_CACHE"))
        set_cache_folder(cacheFolder().toStdString());
}

void applyEngine()
{
    const QSettings settings;
    const QString engine = settings.value(engineKey).toString();
    if (qEnvironmentVariableIsEmpty("FLIPSCOPE_ENGINE") && engine == QLatin1String("cpu"))
        qputenv("FLIPSCOPE_ENGINE", "cpu");
    const int gpu = settings.value(gpuKey, allGpus).toInt();
    if (qEnvironmentVariableIsEmpty("CUDA_VISIBLE_DEVICES") && gpu >= 0)
        qputenv("CUDA_VISIBLE_DEVICES", QByteArray::number(gpu));
}

} // namespace preferences

PreferencesDialog::PreferencesDialog(Session* session, QWidget* parent) : QDialog(parent), m_session(session)
{
    setObjectName(QStringLiteral("preferencesDialog"));
    setWindowTitle(tr("Preferences"));
    fillView();
    auto* engine = makeEngine();
    auto* cache = makeCache();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* form = new QFormLayout(this);
    form->addRow(tr("&Theme"), m_theme);
    form->addRow(tr("First &window size"), m_window);
    form->addRow(tr("&Colours of heatmaps"), m_map);
    auto* computes = new QLabel(tr("What com&putes"), this);
    computes->setBuddy(m_engine);
    form->addRow(computes, engine);
    form->addRow(QString(), m_engineNote);
    form->addRow(tr("&Memory for rows"), m_memory);
    form->addRow(tr("Cache"), m_cache);
    form->addRow(QString(), cache);
    form->addRow(buttons);
    connectAll();
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    m_gpu->setEnabled(m_engine->currentIndex() == 0);
    resize(560, 0);
    showCache();
}

void PreferencesDialog::fillView()
{
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
    m_window->setToolTip(
        tr("Tokens of context in one column when traces are opened; every window can be given another"));
    m_window->setCurrentIndex(std::max(0, m_window->findData(preferences::firstWindow())));

    m_map = new QComboBox(this);
    m_map->setObjectName(QStringLiteral("preferencesMap"));
    for (const QString& map : colormapNames())
        if (map != QLatin1String("vik")) // diverging: for differences
            m_map->addItem(map);
    m_map->setCurrentText(preferences::colourMap());
    m_map->setToolTip(tr("Each gets lighter from end to end, so that it reads in grey and for colour-blind eyes too"));
}

QHBoxLayout* PreferencesDialog::makeEngine()
{
    m_engine = new QComboBox(this);
    m_engine->setObjectName(QStringLiteral("preferencesEngine"));
    m_engine->setAccessibleName(tr("What computes"));
    m_engine->addItem(tr("The GPU where it works, else the CPU"), QStringLiteral("auto"));
    m_engine->addItem(tr("The CPU"), QStringLiteral("cpu"));
    m_engine->setCurrentIndex(std::max(0, m_engine->findData(QSettings().value(engineKey).toString())));
    m_engine->setToolTip(tr("The numbers are the same on both but for rounding; a GPU is faster on long traces"));
    m_gpu = new QSpinBox(this);
    m_gpu->setObjectName(QStringLiteral("preferencesGpu"));
    m_gpu->setRange(allGpus, 63);
    m_gpu->setSpecialValueText(tr("all GPUs"));
    m_gpu->setPrefix(tr("GPU "));
    m_gpu->setAccessibleName(tr("Number of the GPU"));
    m_gpu->setToolTip(tr("All GPUs share the work, or only this one, counted from 0 (CUDA_VISIBLE_DEVICES)"));
    m_gpu->setValue(QSettings().value(gpuKey, allGpus).toInt());
    m_engineNote =
        new QLabel(tr("Now: %1. A change acts from the next start on.")
                       .arg(m_session->engineText().isEmpty() ? tr("not known yet") : m_session->engineText()),
                   this);
    m_engineNote->setWordWrap(true);
    m_engineNote->setForegroundRole(QPalette::PlaceholderText);
    m_memory = new QSpinBox(this);
    m_memory->setObjectName(QStringLiteral("preferencesMemory"));
    m_memory->setRange(0, 1 << 20);
    m_memory->setSingleStep(64);
    m_memory->setKeyboardTracking(false); // 4096 is not first 4, then 40, then 409
    m_memory->setSpecialValueText(tr("no limit"));
    m_memory->setSuffix(tr(" MiB"));
    m_memory->setValue(static_cast<int>(preferences::memoryLimit()));
    m_memory->setToolTip(tr("Bounds the buffers that rows of logits are read into; with little room fewer threads read "
                            "and a GPU gets smaller blocks. The numbers are the same."));
    auto* engine = new QHBoxLayout;
    engine->addWidget(m_engine, 1);
    engine->addWidget(m_gpu);
    return engine;
}

QHBoxLayout* PreferencesDialog::makeCache()
{
    m_cache = new QLabel(this);
    m_cache->setObjectName(QStringLiteral("preferencesCache"));
    m_cache->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_cache->setWordWrap(true);
    const auto button = [this](const QString& text, const QString& name, const QString& tip) {
        auto* made = new QPushButton(text, this);
        made->setObjectName(name);
        made->setToolTip(tip);
        return made;
    };
    m_clear = button(tr("C&lear"), QStringLiteral("preferencesClear"),
                     tr("Removes what was computed; it is computed anew when it is needed"));
    m_changeCache = button(tr("Change &folder …"), QStringLiteral("preferencesCacheFolder"),
                           tr("Where computed metrics are kept; what lies in the present folder stays there"));
    m_usualCache = button(tr("&Usual folder"), QStringLiteral("preferencesCacheUsual"), tr("The folder of the system"));
    auto* cache = new QHBoxLayout;
    cache->addWidget(m_changeCache);
    cache->addWidget(m_usualCache);
    cache->addStretch();
    cache->addWidget(m_clear);
    return cache;
}

void PreferencesDialog::connectAll()
{
    connect(m_theme, &QComboBox::activated, this, [this] {
        const auto choice = static_cast<ThemeChoice>(m_theme->currentData().toInt());
        storeTheme(choice);
        applyTheme(choice);
    });
    connect(m_window, &QComboBox::activated, this, [this] {
        QSettings().setValue(windowKey, m_window->currentData());
        m_session->setFirstWindow(preferences::firstWindow());
    });
    connect(m_map, &QComboBox::activated, this, [this] {
        QSettings().setValue(mapKey, m_map->currentText());
        ColourScale scale = m_session->colourScale();
        scale.map = preferences::colourMap();
        m_session->setColourScale(scale);
    });
    connect(m_engine, &QComboBox::activated, this, &PreferencesDialog::engineChosen);
    connect(m_gpu, &QSpinBox::valueChanged, this, &PreferencesDialog::engineChosen);
    connect(m_memory, &QSpinBox::valueChanged, this, [](int mebibytes) {
        QSettings().setValue(memoryKey, mebibytes);
        preferences::applyLimits();
    });
    connect(m_clear, &QPushButton::clicked, this, &PreferencesDialog::clearCache);
    connect(m_changeCache, &QPushButton::clicked, this, &PreferencesDialog::chooseCache);
    connect(m_usualCache, &QPushButton::clicked, this, [this] {
        QSettings().remove(cacheKey);
        preferences::applyLimits();
        showCache();
    });
}

void PreferencesDialog::chooseCache()
{
    auto* dialog = new QFileDialog(this, tr("Folder of the cache"), preferences::cacheFolder());
    dialog->setObjectName(QStringLiteral("cacheFolderDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) {
        QSettings().setValue(cacheKey, folder);
        preferences::applyLimits();
        showCache();
    });
    dialog->open();
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
    m_changeCache->setEnabled(cache && qEnvironmentVariableIsEmpty("FLIPSCOPE_CACHE"));
    m_usualCache->setEnabled(m_changeCache->isEnabled() && !preferences::cacheFolder().isEmpty());
    m_cache->setText(textOf(cache));
    resize(width(), std::max(height(), layout()->totalHeightForWidth(width()))); // texts wrap
}

void PreferencesDialog::clearCache()
{
    if (const auto cache = TableCache::of_user())
        cache->clear();
    showCache();
}

} // namespace flipscope
