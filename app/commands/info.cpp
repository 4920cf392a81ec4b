// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.h"
#include "app/commands/console.h"
#include "app/commands/hint_options.h"
#include "core/base/file.h"
#include "core/report/report.h"
#include "core/trace/open.h"

#include <memory>
#include <string>

namespace flipscope {

namespace {

struct InfoOptions {
    std::string file;
    bool json = false;
    std::shared_ptr<OpenHints> hints = std::make_shared<OpenHints>();
};

Result<std::string> describe(const InfoOptions& options, const Job& job)
{
    if (is_kld_log(options.file)) {
        const auto log = open_kld_log(options.file);
        if (!log)
            return tl::unexpected(log.error());
        return options.json ? json_text(kld_log_json(*log)) : kld_log_text(*log);
    }
    const auto trace = open_trace(options.file, *options.hints, job);
    if (!trace)
        return tl::unexpected(trace.error());
    return options.json ? json_text(info_json(**trace)) : info_text(**trace);
}

int run_info(const InfoOptions& options)
{
    const ConsoleJob console;
    const auto described = describe(options, console.job());
    if (!described) {
        complain(described.error().message);
        return exit_code_of(described.error());
    }
    const std::string& text = *described;
    if (const auto written = write_text("-", text); !written) {
        complain(written.error().message);
        return exit_failed;
    }
    return exit_done;
}

} // namespace

void add_info(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<InfoOptions>();
    CLI::App* command = app.add_subcommand("info", "What is in a trace, and what can be computed from it");
    command->add_option("FILE", options->file, "The trace")->required()->type_name("");
    command->add_flag("--json", options->json, "Print JSON");
    add_hint_options(*command, options->hints);
    command->callback([options, &exit_code] { exit_code = run_info(*options); });
}

} // namespace flipscope
