// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/hint_options.h"

#include "app/commands/option_checks.h"

#include <cmath>
#include <limits>
#include <string>

namespace flipscope {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

std::string parse_type(const std::string& name, std::optional<LogitType>& type)
{
    for (const LogitType t : {LogitType::BF16, LogitType::F16, LogitType::F32, LogitType::F64})
        if (name == name_of(t))
            type = t;
    return type ? "" : "bfloat16, float16, float32 or float64 is wanted, not \"" + name + "\"";
}

} // namespace

void add_hint_options(CLI::App& command, const std::shared_ptr<OpenHints>& hints)
{
    const auto text = [&](const char* name, std::string& to, const char* help, const char* type) {
        return command.add_option(name, to, help)->check(not_empty())->type_name(type);
    };
    const auto path = [&](const char* name, std::filesystem::path OpenHints::*to, const char* help) {
        command
            .add_option_function<std::string>(
                name, [hints, to](const std::string& value) { (*hints).*to = value; }, help)
            ->check(not_empty())
            ->type_name("FILE");
    };
    const auto number = [&](const char* name, std::int64_t least, std::optional<std::int64_t> OpenHints::*to,
                            const char* help) {
        command
            .add_option_function<std::int64_t>(
                name, [hints, to](const std::int64_t& value) { (*hints).*to = value; }, help)
            ->transform(whole_number(least, most))
            ->type_name("N");
    };
    path("--tokens", &OpenHints::tokens, "Token ids of the history: a .npy, a JSON list, text, or another trace");
    path("--positions", &OpenHints::positions, "A file with the position of each row, in the same forms");
    number("--first", 0, &OpenHints::first, "Position of the first row");
    number("--stride", 1, &OpenHints::stride, "Tokens from row to row; the first is then at N - 1 unless --first says");
    text("--array", hints->array,
         "Name of the array or tensor with the rows, or what the names of one per row begin with", "NAME");
    text("--axes", hints->axes, "A letter for each dimension: p probes, v vocabulary, 1 a single entry", "LETTERS");
    command
        .add_option_function<std::string>(
            "--dtype", [hints](const std::string& name) { parse_type(name, hints->type); },
            "Type of elements that the file leaves open: two raw bytes may be bfloat16")
        ->check(CLI::Validator(
            [](const std::string& name) {
                std::optional<LogitType> type;
                return parse_type(name, type);
            },
            ""))
        ->type_name("TYPE");
    number("--vocab", 1, &OpenHints::vocabulary,
           "Ids that count: columns of full rows behind them are padding, and left out");
    command
        .add_option_function<std::int32_t>(
            "--bos", [hints](const std::int32_t& id) { hints->bos = id; },
            "Id that llama.cpp fed in place of the first token of each chunk")
        ->transform(whole_number(0, std::numeric_limits<std::int32_t>::max()))
        ->type_name("ID");
    text("--scoring", hints->scoring, "How the rows came about", "prefill|decode")
        ->check(CLI::IsMember({"prefill", "decode"}));
    text("--values", hints->values, "What the rows are", "raw|processed")->check(CLI::IsMember({"raw", "processed"}));
    command
        .add_option_function<double>(
            "--temperature", [hints](const double& t) { hints->temperature = t; }, "What the logits were divided by")
        ->check(CLI::PositiveNumber)
        ->type_name("T");
}

} // namespace flipscope
