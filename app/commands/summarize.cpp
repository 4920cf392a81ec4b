// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.h"
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/analysis/summary.h"
#include "core/base/file.h"
#include "core/trace/writer.h"

#include <memory>
#include <string>

namespace flipscope {

namespace {

struct SummarizeOptions : CompareOptions {
    std::string out;
};

int run_summarize(const SummarizeOptions& options)
{
    if (const auto ok = check_outputs(options.inputs(), {options.out}); !ok)
        return ended(ok.error());
    const ConsoleJob console;
    const auto compared = compare_runs(options, console.job());
    if (!compared)
        return ended(compared.error());
    if (!compared->any()) // each reason was named
        return exit_failed;
    std::vector<SummarisedRun> runs;
    for (const ComparedRun& run : compared->runs)
        if (run.table)
            runs.push_back({run.name, run.trace, run.table});
    auto summary = summarise(compared->baseline, runs, console.job());
    if (!summary)
        return ended(summary.error());
    if (const auto written = write_trace(options.out, *summary); !written)
        return ended(written.error());
    const auto stamp = stamp_of(options.out);
    const double megabytes = stamp ? static_cast<double>(stamp->size) / 1e6 : 0;
    const std::string said =
        fmt::format("{}: {} and {} run{} against it, {:.2f} MB.\n", options.out, compared->baseline->run_name,
                    runs.size(), runs.size() == 1 ? "" : "s", megabytes);
    if (const auto written = write_text("-", said); !written)
        return ended(written.error());
    return compared->problems.empty() ? exit_done : exit_failed;
}

} // namespace

void add_summarize(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<SummarizeOptions>();
    CLI::App* command = app.add_subcommand(
        "summarize", "Write a small file to pass on: every probe's numbers and likeliest tokens, without the logits");
    add_compare_options(*command, *options);
    command->add_option("-o,--out", options->out, "The summary to write, as OUT.h5")
        ->required()
        ->check(not_empty())
        ->type_name("FILE");
    command->callback([options, &exit_code] { exit_code = run_summarize(*options); });
}

} // namespace flipscope
