// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compare.h"
#include "app/commands/commands.h"
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/base/file.h"
#include "core/report/compare_report.h"
#include "core/report/report.h"

#include <memory>
#include <string>

namespace flipscope {

namespace {

struct PairOptions : CompareOptions {
    std::string json, csv;
};

int ended(const Error& error)
{
    complain(error.message);
    return exit_code_of(error);
}

Result<void> write_reports(const ComparisonReport& report, const PairOptions& options)
{
    Result<void> written;
    if (!options.json.empty())
        written = write_text(options.json, json_text(comparison_json(report)));
    if (written && !options.csv.empty())
        written = write_text(options.csv, comparison_csv(report.comparison));
    // What is asked for on the standard output must not be mixed with the table.
    if (written && options.json != "-" && options.csv != "-")
        written = write_text("-", comparison_text(report));
    return written;
}

int run_compare(const PairOptions& options)
{
    if (const auto ok = check_outputs(options.inputs(), {options.json, options.csv}); !ok)
        return ended(ok.error());
    const ConsoleJob console;
    const auto compared = compare_runs(options, console.job());
    if (!compared)
        return ended(compared.error());
    if (!compared->problems.empty()) // a pair with one half is none, and the reason was named
        return exit_failed;
    const ComparedRun &a = compared->runs[0], &b = compared->runs[1];
    const RunComparison comparison =
        compare_sides(compared->baseline, {a.name, a.trace, a.table}, {b.name, b.trace, b.table});
    const ComparisonReport report{.comparison = comparison,
                                  .window_tokens = options.window,
                                  .engine = compared->engine,
                                  .engine_detail = compared->engine_detail,
                                  .notices = compared->notices};
    if (const auto written = write_reports(report, options); !written)
        return ended(written.error());
    return exit_done;
}

} // namespace

void add_compare(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<PairOptions>();
    CLI::App* command = app.add_subcommand(
        "compare",
        "Two runs side by side against one baseline: paired flips, differences with intervals, what got worse");
    add_pair_options(*command, *options);
    command->add_option("--json", options->json, "Write everything as JSON; - is the standard output")
        ->check(not_empty())
        ->type_name("FILE");
    command->add_option("--csv", options->csv, "Write a row per probe that both runs have")
        ->check(not_empty())
        ->type_name("FILE");
    command->callback([options, &exit_code] { exit_code = run_compare(*options); });
}

} // namespace flipscope
