// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/environment.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace flipscope {

namespace {

struct Known {
    std::string_view name;
    Stage stage;
};

/// Keys whose words would lead astray, and those without any.
constexpr Known known_settings[] = {
    {"activations", Stage::Weights},
    {"batch", Stage::Prefill},
    {"boot", Stage::Other},
    {"calibration_data", Stage::Weights},
    {"capture_config", Stage::Other},
    {"command", Stage::Other},
    {"compile_cache", Stage::Engine},
    {"container", Stage::Engine},
    {"context_length", Stage::Prefill},
    {"cpu", Stage::Engine},
    {"cuda", Stage::Engine},
    {"cuda_graphs", Stage::Engine},
    {"driver", Stage::Engine},
    {"environment", Stage::Engine},
    {"evaluation_text", Stage::Other},
    {"excluded_modules", Stage::Weights},
    {"gpu", Stage::Engine},
    {"launch_log", Stage::Other},
    {"model", Stage::Weights},
    {"model_revision", Stage::Weights},
    {"notes", Stage::Other},
    {"os", Stage::Engine},
    {"prompt_sha256", Stage::Tokenizer},
    {"python", Stage::Engine},
    {"reference_checkpoint", Stage::Weights},
    {"sampling_positions", Stage::Other},
    {"scoring", Stage::Prefill},
    {"server", Stage::Engine},
    {"threads", Stage::Engine},
    {"token_ids_sha256", Stage::Tokenizer},
    {"values", Stage::Sampler},
    {"vocab_truncation", Stage::Sampler},
};

/// Words in a key, the telling ones first: "kv_cache_dtype" is of the cache, "tool_call_parser" of the parser.
constexpr Known setting_words[] = {
    {"detoken", Stage::Detokenizer}, {"parser", Stage::Detokenizer},  {"reasoning", Stage::Detokenizer},
    {"tokeniz", Stage::Tokenizer},   {"template", Stage::Tokenizer},  {"bos", Stage::Tokenizer},
    {"kv_", Stage::Cache},           {"cach", Stage::Cache},          {"prefix", Stage::Cache},
    {"parallel", Stage::Parallel},   {"nccl", Stage::Parallel},       {"tp_", Stage::Parallel},
    {"pp_size", Stage::Parallel},    {"ep_size", Stage::Parallel},    {"all_reduce", Stage::Parallel},
    {"allreduce", Stage::Parallel},  {"world_size", Stage::Parallel}, {"attn", Stage::Prefill},
    {"attention", Stage::Prefill},   {"prefill", Stage::Prefill},     {"chunk", Stage::Prefill},
    {"gdn", Stage::Prefill},         {"mamba", Stage::Prefill},       {"rope", Stage::Prefill},
    {"weight", Stage::Weights},      {"quant", Stage::Weights},       {"gemm", Stage::Weights},
    {"matmul", Stage::Weights},      {"moe", Stage::Weights},         {"dtype", Stage::Weights},
    {"sampl", Stage::Sampler},       {"temperature", Stage::Sampler}, {"top_", Stage::Sampler},
    {"min_p", Stage::Sampler},       {"seed", Stage::Sampler},        {"grammar", Stage::Sampler},
    {"specul", Stage::Sampler},      {"penalt", Stage::Sampler},      {"engine", Stage::Engine},
    {"version", Stage::Engine},
};

/// Distributions of Python by the beginning of their normalized name.
constexpr Known known_packages[] = {
    {"tokenizers", Stage::Tokenizer},
    {"sentencepiece", Stage::Tokenizer},
    {"tiktoken", Stage::Tokenizer},
    {"mistral-common", Stage::Tokenizer},
    {"jinja2", Stage::Tokenizer},
    {"minja", Stage::Tokenizer},
    {"flash-attn", Stage::Prefill},
    {"flash-linear-attention", Stage::Prefill},
    {"flashinfer", Stage::Prefill},
    {"xformers", Stage::Prefill},
    {"sageattention", Stage::Prefill},
    {"causal-conv1d", Stage::Prefill},
    {"mamba-ssm", Stage::Prefill},
    {"fla-core", Stage::Prefill},
    {"triton", Stage::Prefill},
    {"pytorch-triton", Stage::Prefill},
    {"nvidia-cudnn", Stage::Prefill},
    {"sgl-kernel", Stage::Prefill},
    {"nvidia-cublas", Stage::Weights},
    {"nvidia-cutlass", Stage::Weights},
    {"nvidia-modelopt", Stage::Weights},
    {"deep-gemm", Stage::Weights},
    {"bitsandbytes", Stage::Weights},
    {"auto-gptq", Stage::Weights},
    {"gptqmodel", Stage::Weights},
    {"autoawq", Stage::Weights},
    {"compressed-tensors", Stage::Weights},
    {"llmcompressor", Stage::Weights},
    {"optimum", Stage::Weights},
    {"torchao", Stage::Weights},
    {"hqq", Stage::Weights},
    {"fbgemm", Stage::Weights},
    {"transformer-engine", Stage::Weights},
    {"safetensors", Stage::Weights},
    {"gguf", Stage::Weights},
    {"accelerate", Stage::Weights},
    {"lmcache", Stage::Cache},
    {"nvidia-nccl", Stage::Parallel},
    {"nvidia-nvshmem", Stage::Parallel},
    {"nixl", Stage::Parallel},
    {"mooncake", Stage::Parallel},
    {"deep-ep", Stage::Parallel},
    {"deepspeed", Stage::Parallel},
    {"mpi4py", Stage::Parallel},
    {"ray", Stage::Parallel},
    {"xgrammar", Stage::Sampler},
    {"outlines", Stage::Sampler},
    {"llguidance", Stage::Sampler},
    {"lm-format-enforcer", Stage::Sampler},
    {"guidance", Stage::Sampler},
    {"openai-harmony", Stage::Detokenizer},
    {"partial-json-parser", Stage::Detokenizer},
    {"json-repair", Stage::Detokenizer},
    {"torch", Stage::Engine},
    {"vllm", Stage::Engine},
    {"sglang", Stage::Engine},
    {"tensorrt", Stage::Engine},
    {"transformers", Stage::Engine},
    {"xllamacpp", Stage::Engine},
    {"llama-cpp", Stage::Engine},
    {"ik-llama-cpp", Stage::Engine},
    {"exllamav", Stage::Engine},
    {"mlx", Stage::Engine},
    {"onnxruntime", Stage::Engine},
    {"jax", Stage::Engine},
    {"nvidia-", Stage::Engine},
    {"cuda-", Stage::Engine},
    {"numpy", Stage::Engine},
};

const std::string not_stated = "not stated", not_installed = "not installed";

/// As pip compares names: small letters, and any run of -, _ and . the same.
std::string normalized(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        const bool dash = c == '-' || c == '_' || c == '.';
        if (!dash)
            out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        else if (!out.empty() && out.back() != '-')
            out += '-';
    }
    return out;
}

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Normalized name: the package. One that is listed twice has both versions.
std::map<std::string, Package> packages_of(const Trace& trace)
{
    std::map<std::string, Package> found;
    for (const std::string& entry : trace.packages) {
        Package package = parse_package(entry);
        if (package.name.empty())
            continue;
        const auto [place, fresh] = found.try_emplace(normalized(package.name), package);
        if (!fresh && place->second.version != package.version)
            place->second.version += ", " + package.version;
    }
    return found;
}

PackageDifference::Change change_of(const std::vector<std::optional<std::string>>& listed)
{
    std::set<std::string> versions;
    for (const auto& version : listed)
        if (version)
            versions.insert(*version);
    if (versions.size() > 1)
        return PackageDifference::Change::Version;
    return listed.front() ? PackageDifference::Change::Removed : PackageDifference::Change::Added;
}

std::vector<PackageDifference> differing_packages(const std::vector<TracePtr>& traces)
{
    std::vector<std::map<std::string, Package>> lists;
    std::map<std::string, std::string> names; // as the first trace spells it
    for (const auto& trace : traces) {
        lists.push_back(packages_of(*trace));
        for (const auto& [key, package] : lists.back())
            names.try_emplace(key, package.name);
    }
    std::vector<PackageDifference> differences;
    for (const auto& [key, name] : names) {
        PackageDifference difference{name, {}, {}};
        std::vector<std::optional<std::string>> listed; // of the traces that list theirs
        for (const auto& list : lists) {
            const auto place = list.find(key);
            const bool there = place != list.end();
            if (!list.empty())
                listed.push_back(there ? std::optional(place->second.version) : std::nullopt);
            difference.values.push_back(list.empty()                    ? not_stated
                                        : !there                        ? not_installed
                                        : place->second.version.empty() ? std::string("without a version")
                                                                        : place->second.version);
        }
        if (std::ranges::all_of(listed, [&](const auto& version) { return version == listed.front(); }))
            continue;
        difference.change = change_of(listed);
        differences.push_back(std::move(difference));
    }
    return differences;
}

/// What the history says of how it was made; kept beside it, not among the settings.
void compare_history(const std::vector<TracePtr>& traces, std::string_view key, std::string TokenHistory::*field,
                     std::vector<SettingDifference>& differences)
{
    SettingDifference difference{std::string(key), {}};
    for (const auto& trace : traces) {
        const std::string& value = trace->tokens.*field;
        difference.values.push_back(value.empty() ? not_stated : value);
    }
    if (std::ranges::any_of(difference.values, [&](const auto& v) { return v != difference.values.front(); }))
        differences.push_back(std::move(difference));
}

std::vector<SettingDifference> all_settings(const std::vector<TracePtr>& traces)
{
    std::vector<SettingDifference> differences;
    compare_history(traces, "tokenizer", &TokenHistory::tokenizer, differences);
    compare_history(traces, "chat_template_sha256", &TokenHistory::chat_template_sha256, differences);
    std::vector<SettingDifference> run = differing_settings(traces);
    for (auto& difference : run)
        if (std::ranges::find(differences, difference.key, &SettingDifference::key) == differences.end())
            differences.push_back(std::move(difference));
    return differences;
}

} // namespace

std::string_view name_of(Stage stage)
{
    constexpr std::array names{"tokenizer", "prefill",     "weights", "kv_cache", "parallelism",
                               "sampler",   "detokenizer", "engine",  "other"};
    return names[static_cast<std::size_t>(stage)];
}

std::string_view title_of(Stage stage)
{
    constexpr std::array titles{"Tokenizer and template",
                                "Prefill and attention",
                                "Weights and GEMM",
                                "KV cache",
                                "Parallelism and NCCL",
                                "Sampler",
                                "Detokenizer and parser",
                                "Engine and machine",
                                "Other"};
    return titles[static_cast<std::size_t>(stage)];
}

std::string_view name_of(PackageDifference::Change change)
{
    constexpr std::array names{"added", "removed", "version"};
    return names[static_cast<std::size_t>(change)];
}

Stage stage_of_setting(std::string_view key)
{
    for (const Known& known : known_settings)
        if (known.name == key)
            return known.stage;
    for (const Known& word : setting_words)
        if (key.find(word.name) != std::string_view::npos)
            return word.stage;
    return Stage::Other;
}

Stage stage_of_package(std::string_view name)
{
    const std::string normal = normalized(name);
    // The longest beginning that fits: flash-attn-3 is flash-attn, but raytune-x is not ray.
    const Known* best = nullptr;
    for (const Known& known : known_packages) {
        if (!normal.starts_with(known.name))
            continue;
        const char next = normal.size() > known.name.size() ? normal[known.name.size()] : '-';
        const bool ends = known.name.ends_with('-') || next == '-' || (next >= '0' && next <= '9');
        if (ends && (best == nullptr || known.name.size() > best->name.size()))
            best = &known;
    }
    return best != nullptr ? best->stage : Stage::Other;
}

Package parse_package(std::string_view entry)
{
    for (const std::string_view mark : {"===", "==", " @ "})
        if (const auto at = entry.find(mark); at != std::string_view::npos)
            return {std::string(trimmed(entry.substr(0, at))), std::string(trimmed(entry.substr(at + mark.size())))};
    return {std::string(trimmed(entry)), {}};
}

EnvironmentDifference environment_difference(const std::vector<TracePtr>& traces)
{
    EnvironmentDifference result;
    for (const auto& trace : traces)
        result.lists_packages.push_back(!trace->packages.empty());
    const auto settings = all_settings(traces);
    const auto packages = differing_packages(traces);
    result.n_settings = settings.size();
    result.n_packages = packages.size();
    for (const Stage stage : all_stages) {
        StageDifference here{stage, {}, {}};
        std::ranges::copy_if(settings, std::back_inserter(here.settings),
                             [&](const SettingDifference& s) { return stage_of_setting(s.key) == stage; });
        std::ranges::copy_if(packages, std::back_inserter(here.packages),
                             [&](const PackageDifference& p) { return stage_of_package(p.name) == stage; });
        if (!here.settings.empty() || !here.packages.empty())
            result.stages.push_back(std::move(here));
    }
    return result;
}

std::vector<StageEnvironment> environment_of_stages(const Trace& trace)
{
    std::vector<StageEnvironment> stages;
    for (const Stage stage : all_stages) {
        StageEnvironment here{stage, {}, {}};
        for (const auto& setting : trace.run)
            if (stage_of_setting(setting.first) == stage)
                here.settings.push_back(setting);
        for (const std::string& entry : trace.packages)
            if (stage_of_package(parse_package(entry).name) == stage)
                here.packages.push_back(entry);
        if (!here.settings.empty() || !here.packages.empty())
            stages.push_back(std::move(here));
    }
    return stages;
}

} // namespace flipscope
