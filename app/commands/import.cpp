// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.h"
#include "app/commands/console.h"
#include "app/commands/hint_options.h"
#include "app/commands/option_checks.h"
#include "core/base/file.h"
#include "core/text/token_text.h"
#include "core/trace/convert.h"
#include "core/trace/merge.h"
#include "core/trace/open.h"

#include <memory>
#include <string>
#include <vector>

namespace flipscope {

namespace {

struct ImportOptions {
    std::vector<std::string> inputs;
    std::string out;
    int compression = 0;
    std::vector<std::string> settings; ///< KEY=VALUE
    std::shared_ptr<OpenHints> hints = std::make_shared<OpenHints>();
};

Result<Trace> read_inputs(const ImportOptions& options, const Job& job)
{
    const std::vector<std::filesystem::path> files(options.inputs.begin(), options.inputs.end());
    std::vector<TracePtr> parts;
    for (const OpenedTrace& part : open_traces(files, *options.hints, job)) {
        if (!part.trace)
            return tl::unexpected(part.trace.error());
        parts.push_back(*part.trace);
    }
    auto trace = merge_traces(parts);
    if (!trace)
        return trace;
    trace->producer = fmt::format("flipscope {}, imported from: {}", FLIPSCOPE_VERSION, parts.front()->format);
    return trace;
}

int run_import(ImportOptions& options)
{
    for (const std::string& setting : options.settings) {
        const std::size_t at = setting.find('=');
        options.hints->settings.emplace_back(setting.substr(0, at), setting.substr(at + 1));
    }
    const std::vector<std::filesystem::path> inputs(options.inputs.begin(), options.inputs.end());
    if (const auto ok = check_outputs(inputs, {options.out}); !ok)
        return ended(ok.error());
    const ConsoleJob console;
    const auto trace = read_inputs(options, console.job());
    if (!trace)
        return ended(trace.error());
    ConvertOptions how;
    how.compression = options.compression;
    if (const auto done = convert_trace(options.out, *trace, how, console.job()); !done)
        return ended(done.error());
    std::string text = fmt::format("{}: {} probes of {} tokens written.\n", visible(options.out), trace->probes.size(),
                                   trace->tokens.ids.size());
    for (const auto& finding : trace->findings)
        text += "  " + visible(finding.text) + '\n';
    const auto written = write_text("-", text);
    return written ? exit_done : ended(written.error());
}

} // namespace

void add_import(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<ImportOptions>();
    CLI::App* command = app.add_subcommand("import", "Write what another program recorded as a Flipscope trace");
    command->add_option("IN", options->inputs, "Files to read; several are parts of one run along one history")
        ->required()
        ->check(not_empty())
        ->type_name("");
    add_trace_output(*command, options->out, options->compression);
    command->add_option("--name", options->hints->run_name, "Name of the run")->check(not_empty())->type_name("NAME");
    command
        ->add_option("--set", options->settings,
                     "A setting of the run, as attention_backend=triton; may be given again")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return text.find('=') == std::string::npos || text.front() == '='
                           ? "KEY=VALUE is wanted, not \"" + text + "\""
                           : std::string();
            },
            ""))
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    add_hint_options(*command, options->hints);
    command->callback([options, &exit_code] { exit_code = run_import(*options); });
}

} // namespace flipscope
