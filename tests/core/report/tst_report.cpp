// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/environment_report.h"
#include "core/report/method.h"
#include "core/report/report.h"
#include "tests/core/analysis/made_traces.h"

#include <QtTest>

using namespace flipscope;

class TestReport : public QObject {
    Q_OBJECT

    static QString truncation(const Trace& baseline, const std::vector<TracePtr>& runs)
    {
        for (const MethodLine& line : method_of(baseline, runs, ""))
            if (line.label == "vocabulary truncation")
                return QString::fromStdString(line.value);
        return {};
    }

private slots:
    void json_is_utf8_whatever_the_names()
    {
        const std::string text = json_text({{"path", "/tmp/caf\xe9.h5"}, {"name", "café"}});
        QCOMPARE(QString::fromStdString(text),
                 QStringLiteral("{\n  \"path\": \"/tmp/caf�.h5\",\n  \"name\": \"café\"\n}\n"));
    }
    void names_are_told_apart()
    {
        const std::vector<std::string> taken{"fa2", "fa2 (2)", "triton"};
        QCOMPARE(distinct_name("fa2", taken), "fa2 (3)");
        QCOMPARE(distinct_name("triton", taken), "triton (2)");
        QCOMPARE(distinct_name("nvfp4", taken), "nvfp4");
    }
    void method_says_where_vocabularies_differ()
    {
        Trace baseline = made::trace("base", made::ids(4), {1});
        auto run = made::trace("run", made::ids(4), {1});
        baseline.probes.n_vocab = run.probes.n_vocab = 6;
        QCOMPARE(truncation(baseline, {std::make_shared<const Trace>(run)}), "none: full rows of 6 logits");
        run.probes.n_vocab = 9;
        QCOMPARE(truncation(baseline, {std::make_shared<const Trace>(run)}),
                 "none: full rows of 6 logits, 9 in run (the ids that both sides have are compared)");
    }

    void settings_have_their_stage_data()
    {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("stage");
        // The keys of the trace format, by hand; then keys of other writers, by their words.
        for (const auto& [stage, keys] : std::initializer_list<std::pair<const char*, QStringList>>{
                 {"tokenizer", {"tokenizer", "chat_template", "chat_template_sha256", "add_bos"}},
                 {"prefill",
                  {"attention_backend", "attention_backend_requested", "gdn_backend", "prefill_chunk", "batch",
                   "scoring", "attn_implementation"}},
                 {"weights",
                  {"weights", "weights_by_module", "activations", "excluded_modules", "gemm_kernels", "model",
                   "calibration_data", "quantization"}},
                 {"kv_cache", {"kv_cache_dtype", "prefix_caching", "cache_state"}},
                 {"parallelism", {"tensor_parallel", "nccl", "tp_size"}},
                 {"sampler",
                  {"sampler", "seed", "grammar", "speculative", "temperature", "values", "vocab_truncation"}},
                 {"detokenizer", {"tool_call_parser", "reasoning_parser", "detokenizer"}},
                 {"engine", {"engine", "engine_version", "gpu", "driver", "cuda", "cuda_graphs", "compile_cache"}},
                 {"other", {"notes", "boot", "command", "sampling_positions", "evaluation_text", "something"}}})
            for (const QString& key : keys)
                QTest::newRow(qPrintable(key)) << key << QString::fromLatin1(stage);
    }
    void settings_have_their_stage()
    {
        QFETCH(QString, key);
        QFETCH(QString, stage);
        const auto name = name_of(stage_of_setting(key.toStdString()));
        QCOMPARE(QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size())), stage);
    }

    void packages_have_their_stage()
    {
        for (const auto& [name, stage] :
             std::initializer_list<std::pair<const char*, Stage>>{{"tokenizers", Stage::Tokenizer},
                                                                  {"Jinja2", Stage::Tokenizer},
                                                                  {"flash_attn", Stage::Prefill},
                                                                  {"flash-attn-3", Stage::Prefill},
                                                                  {"flashinfer-python", Stage::Prefill},
                                                                  {"triton", Stage::Prefill},
                                                                  {"nvidia-cudnn-cu12", Stage::Prefill},
                                                                  {"nvidia-cublas-cu12", Stage::Weights},
                                                                  {"compressed.tensors", Stage::Weights},
                                                                  {"lmcache", Stage::Cache},
                                                                  {"nvidia-nccl-cu12", Stage::Parallel},
                                                                  {"ray", Stage::Parallel},
                                                                  {"xgrammar", Stage::Sampler},
                                                                  {"partial-json-parser", Stage::Detokenizer},
                                                                  {"torch", Stage::Engine},
                                                                  {"torchao", Stage::Weights},
                                                                  {"nvidia-cuda-runtime-cu12", Stage::Engine},
                                                                  {"llama_cpp_python", Stage::Engine},
                                                                  {"rayon", Stage::Other},
                                                                  {"requests", Stage::Other}})
            QVERIFY2(stage_of_package(name) == stage, name);
        QCOMPARE(parse_package("torch==2.13.0+cu129 #1a2b").version, "2.13.0+cu129 #1a2b");
        QCOMPARE(parse_package("vllm @ git+https://example.org/vllm@abc").name, "vllm");
        QCOMPARE(parse_package(" bare ").name, "bare");
    }

    void environments_differ_by_stage()
    {
        Trace a = made::trace("a", made::ids(4), {1}), b = made::trace("b", made::ids(4), {1});
        a.run = {{"attention_backend", "FLASHINFER"},
                 {"capture_config", "{1}"},
                 {"kv_cache_dtype", "auto"},
                 {"tensor_parallel", "1"}};
        b.run = {{"attention_backend", "FLASH_ATTN"},
                 {"capture_config", "{2}"},
                 {"kv_cache_dtype", "fp8"},
                 {"tensor_parallel", "1"}};
        a.tokens.chat_template_sha256 = "1111";
        a.packages = {"numpy==2.3.0", "flash_attn==2.8.1", "torch==2.12.0", "xformers==0.0.31"};
        b.packages = {"Flash.Attn==2.8.1", "numpy==2.3.0", "ray==2.50.0", "torch==2.13.0"};
        const auto trace = [](const Trace& t) { return std::make_shared<const Trace>(t); };
        const auto d = environment_difference({trace(a), trace(b)});
        QCOMPARE(d.n_settings, std::size_t(3));
        QCOMPARE(d.n_packages, std::size_t(3));
        QCOMPARE(counted(d), "3 settings and 3 packages");
        const auto json = environment_json(d, {"a", "b"});
        QCOMPARE(
            json.dump(),
            R"({"n_settings":3,"n_packages":3,"lists_packages":[true,true],"stages":[)"
            R"({"stage":"tokenizer","title":"Tokenizer and template","settings":{"chat_template_sha256":{"a":"1111","b":null}},"packages":{}},)"
            R"({"stage":"prefill","title":"Prefill and attention","settings":{"attention_backend":{"a":"FLASHINFER","b":"FLASH_ATTN"}},)"
            R"("packages":{"xformers":{"change":"removed","versions":{"a":"0.0.31","b":null}}}},)"
            R"({"stage":"kv_cache","title":"KV cache","settings":{"kv_cache_dtype":{"a":"auto","b":"fp8"}},"packages":{}},)"
            R"({"stage":"parallelism","title":"Parallelism and NCCL","settings":{},"packages":{"ray":{"change":"added","versions":{"a":null,"b":"2.50.0"}}}},)"
            R"({"stage":"engine","title":"Engine and machine","settings":{},"packages":{"torch":{"change":"version","versions":{"a":"2.12.0","b":"2.13.0"}}}}]})");
        QCOMPARE(environment_text(d),
                 "\n3 settings and 3 packages differ between A and B\n"
                 "  Tokenizer and template\n    chat_template_sha256\n      A  1111\n      B  not stated\n"
                 "  Prefill and attention\n    attention_backend\n      A  FLASHINFER\n      B  FLASH_ATTN\n"
                 "    - xformers 0.0.31  (only in A)\n"
                 "  KV cache\n    kv_cache_dtype\n      A  auto\n      B  fp8\n"
                 "  Parallelism and NCCL\n    + ray 2.50.0  (only in B)\n"
                 "  Engine and machine\n    ~ torch 2.12.0 -> 2.13.0\n");
        // One that lists nothing has not removed anything.
        Trace silent = made::trace("c", made::ids(4), {1});
        silent.run = a.run;
        silent.tokens.chat_template_sha256 = "1111";
        const auto none = environment_difference({trace(a), trace(silent)});
        QVERIFY(none.empty());
        QCOMPARE(packages_notice(none), "Packages are compared between the traces that list theirs; not all do.");
        const auto three = environment_difference({trace(silent), trace(a), trace(b)});
        QCOMPARE(three.stages[1].packages[0].values,
                 (std::vector<std::string>{"not stated", "0.0.31", "not installed"}));
        // info: one trace by stage.
        QVERIFY(
            environment_text(a).starts_with("  Prefill and attention\n    attention_backend           FLASHINFER\n"
                                            "    packages                    flash_attn==2.8.1, xformers==0.0.31\n"));
        QCOMPARE(environment_json(a)[0]["packages"].dump(), R"(["flash_attn==2.8.1","xformers==0.0.31"])");
    }
};

QTEST_GUILESS_MAIN(TestReport)
#include "tst_report.moc"
