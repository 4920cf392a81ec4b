// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/method.h"
#include "core/trace/trace.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flipscope {

/// Where a setting or a package acts, in the order in which a token passes through; then what acts everywhere, and what
/// cannot change a number or is not known.
enum class Stage { Tokenizer, Prefill, Weights, Cache, Parallel, Sampler, Detokenizer, Engine, Other };
inline constexpr std::array all_stages{Stage::Tokenizer,   Stage::Prefill,  Stage::Weights,
                                       Stage::Cache,       Stage::Parallel, Stage::Sampler,
                                       Stage::Detokenizer, Stage::Engine,   Stage::Other};

std::string_view name_of(Stage stage);  ///< "kv_cache": a key in JSON
std::string_view title_of(Stage stage); ///< "KV cache", for a person

/// By the key of /run; one that is not known is placed by the words in it.
Stage stage_of_setting(std::string_view key);
/// By the name of the distribution, in any spelling that pip takes for the same.
Stage stage_of_package(std::string_view name);

/// One entry of `/run/packages`: "name==version", perhaps with " #sha", or "name @ url".
struct Package {
    std::string name, version; ///< version may hold the sha or the address; "" = not stated
};
Package parse_package(std::string_view entry);

/// A package that is not the same in all traces that list theirs.
struct PackageDifference {
    enum class Change { Added, Removed, Version }; ///< seen from the first trace that lists its packages
    std::string name;
    std::vector<std::string> values; ///< per trace: the version, "not installed", or "not stated" where none are listed
    Change change = Change::Version;
};
std::string_view name_of(PackageDifference::Change change); ///< "added", "removed", "version"

struct StageDifference {
    Stage stage = Stage::Other;
    std::vector<SettingDifference> settings;
    std::vector<PackageDifference> packages; ///< by name
};

/// In what the runs differ: the settings of differing_settings(), the tokenizers and the packages, by stage.
struct EnvironmentDifference {
    std::vector<StageDifference> stages; ///< in order, without those where nothing differs
    std::size_t n_settings = 0, n_packages = 0;
    std::vector<bool> lists_packages; ///< per trace

    bool empty() const { return stages.empty(); }
};
EnvironmentDifference environment_difference(const std::vector<TracePtr>& traces);

/// What one trace states, by stage; stages without anything are left out.
struct StageEnvironment {
    Stage stage = Stage::Other;
    std::vector<std::pair<std::string, std::string>> settings;
    std::vector<std::string> packages; ///< entries as listed, by name
};
std::vector<StageEnvironment> environment_of_stages(const Trace& trace);

} // namespace flipscope
