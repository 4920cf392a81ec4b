// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/capture/capture_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTabWidget>

namespace flipscope {

namespace {

struct LocalEngine {
    const char* name;
    const char* kv; ///< types of its KV cache, the usual one first
};

constexpr LocalEngine localEngines[] = {
    {"llamacpp", "f16,bf16,q8_0,q5_1,q5_0,q4_1,q4_0,iq4_nl"},
    {"transformers", "as-is,int8,int4,quanto-int4,hqq-int8"},
    {"vllm", "auto,fp8,fp8_e4m3,fp8_e5m2"},
    {"simulated", ""},
};

const QString keyVariable = QStringLiteral("FLIPSCOPE_API_KEY");

/// "capture/address": the form's fields by their names, without "capture".
QString settingOf(const QObject* field)
{
    const QString name = field->objectName().mid(7);
    return QStringLiteral("capture/") + name.left(1).toLower() + name.mid(1);
}

QSpinBox* spin(int low, int high, int value, const QString& name, const QString& accessible, const QString& help,
               QWidget* parent)
{
    auto* box = new QSpinBox(parent);
    box->setRange(low, high);
    box->setValue(value);
    box->setObjectName(name);
    box->setAccessibleName(accessible);
    box->setToolTip(help);
    box->setSuffix(CaptureForm::tr(" tokens"));
    return box;
}

} // namespace

CaptureForm::CaptureForm(QWidget* parent) : QWidget(parent)
{
    m_source = new QTabWidget(this);
    m_source->setObjectName(QStringLiteral("captureSource"));
    m_source->setAccessibleName(tr("Where the trace comes from"));
    m_source->addTab(makeServer(), tr("From a &server"));
    m_source->addTab(makeEngine(), tr("Run a local &engine"));
    m_source->setTabToolTip(0,
                            tr("A server that runs already and speaks the OpenAI API: vLLM, llama-server, SGLang …"));
    m_source->setTabToolTip(1, tr("An engine as a Python package of this machine, started for this capture"));
    auto* form = new QFormLayout(this);
    form->setContentsMargins(0, 0, 0, 0);
    form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
    form->addRow(m_source);
    makePrompt(form);
    makeProbes(form);
    connect(m_engine, &QComboBox::currentIndexChanged, this, &CaptureForm::engineChosen);
    engineChosen();
    restore();
}

QLineEdit* CaptureForm::line(const QString& name, const QString& accessible, const QString& help, const QString& hint)
{
    auto* edit = new QLineEdit(this);
    edit->setObjectName(name);
    edit->setAccessibleName(accessible);
    edit->setToolTip(help);
    edit->setPlaceholderText(hint);
    return edit;
}

QWidget* CaptureForm::withBrowse(QLineEdit* edit, const QString& title, bool save)
{
    auto* both = new QWidget(this);
    auto* browse = new QPushButton(tr("Browse …"), both);
    browse->setAccessibleName(tr("Browse: %1").arg(title));
    browse->setToolTip(save ? tr("Choose folder and name of the file to write") : tr("Choose the file"));
    browse->setAutoDefault(false);
    auto* layout = new QHBoxLayout(both);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(edit, 1);
    layout->addWidget(browse);
    both->setFocusProxy(edit);
    connect(browse, &QPushButton::clicked, this, [this, edit, title, save] {
        auto* dialog = new QFileDialog(this, title, QFileInfo(edit->text()).absolutePath());
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setAcceptMode(save ? QFileDialog::AcceptSave : QFileDialog::AcceptOpen);
        dialog->setFileMode(save ? QFileDialog::AnyFile : QFileDialog::ExistingFile);
        if (save) {
            dialog->setDefaultSuffix(QStringLiteral("h5"));
            dialog->setOption(QFileDialog::DontConfirmOverwrite); // no capture writes over a file: it says so
        }
        connect(dialog, &QFileDialog::fileSelected, edit, &QLineEdit::setText);
        dialog->open();
    });
    return both;
}

QWidget* CaptureForm::makeServer()
{
    auto* page = new QWidget(m_source);
    m_address = line(QStringLiteral("captureAddress"), tr("Address of the server"),
                     tr("http://HOST:PORT, with or without /v1 at its end"), QStringLiteral("http://localhost:8000"));
    m_key = line(QStringLiteral("captureKey"), tr("Key of the server"),
                 tr("Given to the capture by its environment; stored nowhere, and on no command line"),
                 tr("that of the variable"));
    m_key->setEchoMode(QLineEdit::Password);
    m_variable = line(QStringLiteral("captureKeyVariable"), tr("Environment variable with the key"),
                      tr("Name of the environment variable that holds the key, where none is typed"), keyVariable);
    m_model = new QComboBox(page);
    m_model->setObjectName(QStringLiteral("captureModel"));
    m_model->setAccessibleName(tr("Model of the server"));
    m_model->setToolTip(tr("The name that the server has for the model; List models fetches them"));
    m_model->setEditable(true);
    m_model->setInsertPolicy(QComboBox::NoInsert);
    m_model->lineEdit()->setPlaceholderText(tr("the first that the server lists"));
    auto* fetch = new QPushButton(tr("&List models"), page);
    fetch->setObjectName(QStringLiteral("captureFetch"));
    fetch->setToolTip(tr("Asks the server which models it has"));
    fetch->setAutoDefault(false);
    m_topK =
        line(QStringLiteral("captureTopK"), tr("Ids of each probe"),
             tr("How many of the most likely tokens are kept at each probe; full keeps the whole vocabulary, where "
                "the server gives it"),
             tr("20; a number, or full"));
    auto* keys = new QHBoxLayout;
    keys->addWidget(m_key, 1);
    keys->addWidget(m_variable, 1);
    auto* models = new QHBoxLayout;
    models->addWidget(m_model, 1);
    models->addWidget(fetch);
    auto* form = new QFormLayout(page);
    form->addRow(tr("&Address"), m_address);
    form->addRow(tr("Key, or its variable"), keys);
    form->addRow(tr("Model"), models);
    form->addRow(tr("&Ids of each probe"), m_topK);
    connect(fetch, &QPushButton::clicked, this, &CaptureForm::modelsWanted);
    return page;
}

QWidget* CaptureForm::makeEngine()
{
    auto* page = new QWidget(m_source);
    m_engine = new QComboBox(page);
    m_engine->setObjectName(QStringLiteral("captureEngine"));
    m_engine->setAccessibleName(tr("Engine"));
    m_engine->setToolTip(tr("What runs the model; simulated needs no model and shows how a capture goes"));
    for (const LocalEngine& engine : localEngines)
        m_engine->addItem(QString::fromLatin1(engine.name));
    m_weights = line(QStringLiteral("captureWeights"), tr("Weights: a file, a folder or a name"),
                     tr("A .gguf file for llamacpp; a folder or the name of a model for transformers and vllm"));
    m_kv = new QComboBox(page);
    m_kv->setObjectName(QStringLiteral("captureKv"));
    m_kv->setAccessibleName(tr("Type of the KV cache"));
    m_kv->setToolTip(tr("How keys and values are stored: fewer bits are smaller, and move the logits"));
    m_kv->setEditable(true);
    m_interpreter = line(QStringLiteral("captureInterpreter"), tr("Python interpreter"),
                         tr("The Python, 3.10 or newer, that has numpy, h5py and the engine"),
                         QString::fromStdString(capture_interpreter({})));
    m_more = line(QStringLiteral("captureMore"), tr("More options of the engine"),
                  tr("Options of flipscope-capture as on its command line; the manual lists them by engine"),
                  QStringLiteral("--batch 256 --threads 4"));
    auto* form = new QFormLayout(page);
    form->addRow(tr("E&ngine"), m_engine);
    form->addRow(tr("&Weights"), withBrowse(m_weights, tr("Weights"), false));
    form->addRow(tr("&KV cache"), m_kv);
    form->addRow(tr("&More options"), m_more);
    return page;
}

void CaptureForm::makePrompt(QFormLayout* form)
{
    m_promptFile = line(QStringLiteral("capturePromptFile"), tr("File with the prompt"),
                        tr("What all runs are fed. A trace gives its own history, so that both can be compared"),
                        tr("text, chat messages (.json), token ids, or a trace"));
    m_promptText = new QPlainTextEdit(this);
    m_promptText->setObjectName(QStringLiteral("capturePromptText"));
    m_promptText->setAccessibleName(tr("Text of the prompt"));
    m_promptText->setToolTip(tr("The prompt itself, where no file is named"));
    m_promptText->setPlaceholderText(tr("or the text itself, chat messages as JSON, a list of ids"));
    m_promptText->setTabChangesFocus(true);
    m_promptText->setMaximumHeight(m_promptText->fontMetrics().height() * 4);
    form->addRow(tr("&Prompt"), withBrowse(m_promptFile, tr("Prompt"), false));
    form->addRow(QString(), m_promptText);
    // One of the two counts, and it is seen which.
    connect(m_promptFile, &QLineEdit::textChanged, this,
            [this](const QString& text) { m_promptText->setEnabled(text.trimmed().isEmpty()); });
}

void CaptureForm::makeProbes(QFormLayout* form)
{
    m_stride = spin(1, 1'000'000, 32, QStringLiteral("captureStride"), tr("Distance of the probes"),
                    tr("Logits are kept at every so many tokens: less is finer, and a larger file"), this);
    m_continuations =
        spin(0, 1'000'000, 0, QStringLiteral("captureContinuations"), tr("Tokens of each continuation"),
             tr("How far the model writes on by itself before each turn of the assistant; tool calls need it"), this);
    m_continuations->setSpecialValueText(tr("none"));
    m_repeat = new QCheckBox(tr("Repeat, and compare &bit for bit"), this);
    m_repeat->setObjectName(QStringLiteral("captureRepeat"));
    m_repeat->setToolTip(tr("Runs everything twice, and says whether the engine gives the same logits again"));
    m_out =
        line(QStringLiteral("captureOut"), tr("Trace to write"),
             tr("The file of the trace (.h5). It opens here while it grows; a capture that was stopped goes on in it"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_stride);
    row->addWidget(m_repeat);
    row->addStretch();
    form->addRow(tr("Probe every"), row);
    form->addRow(tr("&Continuations"), m_continuations);
    form->addRow(tr("Trace &to write"), withBrowse(m_out, tr("Trace to write"), true));
    form->addRow(tr("P&ython"), withBrowse(m_interpreter, tr("Python interpreter"), false));
}

void CaptureForm::engineChosen()
{
    const LocalEngine& engine = localEngines[std::max(0, m_engine->currentIndex())];
    const QStringList types = QString::fromLatin1(engine.kv).split(QLatin1Char(','), Qt::SkipEmptyParts);
    m_kv->clear();
    m_kv->addItems(types);
    m_kv->setEnabled(!types.isEmpty());
    m_weights->setEnabled(!types.isEmpty()); // simulated: no model
}

QString CaptureForm::address() const
{
    return m_address->text().trimmed();
}

QString CaptureForm::key() const
{
    if (!m_key->text().isEmpty())
        return m_key->text();
    const QString variable = m_variable->text().trimmed();
    return qEnvironmentVariable(qPrintable(variable.isEmpty() ? keyVariable : variable));
}

void CaptureForm::setModels(const QStringList& models)
{
    const QString chosen = m_model->currentText();
    m_model->clear();
    m_model->addItems(models);
    if (models.contains(chosen))
        m_model->setCurrentText(chosen);
}

CaptureOrder CaptureForm::order() const
{
    CaptureOrder order;
    CaptureRequest& request = order.request;
    const auto text = [](const QLineEdit* edit) { return edit->text().trimmed().toStdString(); };
    if (m_source->currentIndex() == 0) {
        request.engine = "server";
        request.url = text(m_address);
        request.model = m_model->currentText().trimmed().toStdString();
        request.top_k = text(m_topK);
        request.key_env = text(m_variable);
        order.key = m_key->text();
    } else {
        request.engine = m_engine->currentText().toStdString();
        if (m_weights->isEnabled())
            request.model = text(m_weights);
        if (const QString kv = m_kv->currentText().trimmed(); m_kv->isEnabled() && !kv.isEmpty())
            request.more.push_back("--kv=" + kv.toStdString());
        for (const QString& word : QProcess::splitCommand(m_more->text()))
            request.more.push_back(word.toStdString());
    }
    request.prompt = text(m_promptFile);
    order.promptText = m_promptText->toPlainText();
    request.out = text(m_out);
    request.stride = m_stride->value();
    request.continuations = m_continuations->value();
    if (m_repeat->isChecked())
        request.more.emplace_back("--repeat");
    order.interpreter = m_interpreter->text().trimmed();
    return order;
}

void CaptureForm::remember() const
{
    QSettings settings;
    for (const QLineEdit* edit :
         {m_address, m_variable, m_topK, m_weights, m_interpreter, m_more, m_promptFile, m_out}) // and not the key
        settings.setValue(settingOf(edit), edit->text());
    settings.setValue(settingOf(m_model), m_model->currentText());
    settings.setValue(settingOf(m_engine), m_engine->currentText());
    settings.setValue(settingOf(m_kv), m_kv->currentText());
    settings.setValue(settingOf(m_source), m_source->currentIndex());
    settings.setValue(settingOf(m_stride), m_stride->value());
    settings.setValue(settingOf(m_continuations), m_continuations->value());
    settings.setValue(settingOf(m_repeat), m_repeat->isChecked());
}

void CaptureForm::restore()
{
    const QSettings settings;
    for (QLineEdit* edit : {m_address, m_variable, m_topK, m_weights, m_interpreter, m_more, m_promptFile, m_out})
        edit->setText(settings.value(settingOf(edit), edit->text()).toString());
    if (m_out->text().isEmpty())
        m_out->setText(QDir::home().filePath(QStringLiteral("capture.h5")));
    m_engine->setCurrentText(settings.value(settingOf(m_engine), m_engine->currentText()).toString());
    m_model->setCurrentText(settings.value(settingOf(m_model)).toString());
    m_kv->setCurrentText(settings.value(settingOf(m_kv), m_kv->currentText()).toString());
    m_source->setCurrentIndex(settings.value(settingOf(m_source), 0).toInt());
    m_stride->setValue(settings.value(settingOf(m_stride), m_stride->value()).toInt());
    m_continuations->setValue(settings.value(settingOf(m_continuations), 0).toInt());
    m_repeat->setChecked(settings.value(settingOf(m_repeat), false).toBool());
}

} // namespace flipscope
