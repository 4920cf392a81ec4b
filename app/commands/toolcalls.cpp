// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/toolcalls.h"
#include "app/commands/commands.h"
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/analysis/analysis.h"
#include "core/base/file.h"
#include "core/report/report.h"
#include "core/trace/open.h"

#include <memory>
#include <string>
#include <vector>

namespace flipscope {

namespace {

struct ToolCallsOptions {
    std::string baseline;
    std::vector<std::string> runs;
    std::string json, dialect = "auto";

    std::vector<std::filesystem::path> inputs() const
    {
        std::vector<std::filesystem::path> all(runs.begin(), runs.end());
        all.emplace_back(baseline);
        return all;
    }
};

/// All traces that open, the baseline first. An error where that cannot be opened, or it was stopped.
Result<std::vector<TracePtr>> open_all(const ToolCallsOptions& options, const Job& job, ToolCallsReport& report)
{
    const Result<TracePtr> baseline = open_trace(options.baseline, job);
    if (!baseline)
        return fail(baseline.error().kind, "{}", naming_file(options.baseline, baseline.error()));
    const std::vector<std::filesystem::path> files(options.runs.begin(), options.runs.end());
    const std::vector<OpenedTrace> opened = open_traces(files, {}, job);
    std::vector<TracePtr> traces{*baseline};
    for (std::size_t i = 0; i < options.runs.size(); ++i) {
        const std::string& file = options.runs[i];
        const Result<TracePtr>& trace = opened[i].trace;
        if (trace) {
            traces.push_back(*trace);
            continue;
        }
        if (trace.error().kind == ErrorKind::Cancelled)
            return tl::unexpected(trace.error());
        report.problems.push_back({trace.error().kind, naming_file(file, trace.error())});
        complain(report.problems.back().message);
    }
    return traces;
}

/// The forced history's part; what goes wrong there leaves the rest as it is. False = stopped.
bool add_forced(ToolCallsRun& run, Engine& engine, const Job& job)
{
    auto forced = compute_forced_calls(*run.calls->baseline, run.calls->run->trace, engine, job);
    if (forced)
        run.forced = std::move(*forced);
    else if (forced.error().kind == ErrorKind::Cancelled)
        return false;
    else
        run.forced_problem = forced.error().message;
    return true;
}

Result<void> compare_all(const std::vector<TracePtr>& traces, const Dialect* dialect, const Job& job,
                         ToolCallsReport& report)
{
    const auto choice = parse_engine("auto");
    if (!choice)
        return tl::unexpected(choice.error());
    auto selection = make_engine({*choice, 0});
    if (!selection)
        return tl::unexpected(selection.error());
    if (!selection->notice.empty())
        report.notices.push_back(selection->notice);
    report.texts = TokenTexts(traces);
    report.baseline = read_calls(traces.front(), report.texts, dialect);
    std::vector<std::string> names;
    for (std::size_t i = 1; i < traces.size(); ++i) {
        if (job.cancelled())
            return cancelled();
        const auto calls = read_calls(traces[i], report.texts, dialect ? dialect : report.baseline->dialect);
        const auto compared = compare_calls(report.baseline, calls);
        if (!compared) {
            report.problems.push_back({compared.error().kind, naming_file(traces[i]->path.string(), compared.error())});
            complain(report.problems.back().message);
            continue;
        }
        ToolCallsRun run;
        run.name = distinct_name(traces[i]->run_name, names);
        names.push_back(run.name);
        run.calls = *compared;
        if (!add_forced(run, *selection->engine, job))
            return cancelled();
        report.runs.push_back(std::move(run));
    }
    return {};
}

int run_toolcalls(const ToolCallsOptions& options)
{
    const auto dialect = parse_dialect(options.dialect);
    if (!dialect)
        return ended(dialect.error());
    if (const auto ok = check_outputs(options.inputs(), {options.json}); !ok)
        return ended(ok.error());
    const ConsoleJob console;
    ToolCallsReport report;
    const auto traces = open_all(options, console.job(), report);
    if (!traces)
        return ended(traces.error());
    if (const auto done = compare_all(*traces, *dialect, console.job(), report); !done)
        return ended(done.error());
    if (report.runs.empty()) // nothing to report on, and each reason was named
        return exit_failed;
    Result<void> written;
    if (!options.json.empty())
        written = write_text(options.json, json_text(toolcalls_json(report)));
    if (written && options.json != "-")
        written = write_text("-", toolcalls_text(report));
    if (!written)
        return ended(written.error());
    return report.problems.empty() ? exit_done : exit_failed;
}

} // namespace

void add_toolcalls(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<ToolCallsOptions>();
    CLI::App* command = app.add_subcommand(
        "toolcalls", "What became of the baseline's tool calls in the runs: which one broke, where, and how");
    command->add_option("BASE", options->baseline, "The baseline's trace")
        ->required()
        ->check(not_empty())
        ->type_name("");
    command->add_option("RUN", options->runs, "Traces of the runs that are compared with it")
        ->required()
        ->check(not_empty())
        ->type_name("");
    command->add_option("--json", options->json, "Write everything as JSON; - is the standard output")
        ->check(not_empty())
        ->type_name("FILE");
    command->add_option("--dialect", options->dialect, "How the calls are written; auto finds out")
        ->check(not_empty())
        ->capture_default_str()
        ->type_name("DIALECT");
    command->callback([options, &exit_code] { exit_code = run_toolcalls(*options); });
}

} // namespace flipscope
