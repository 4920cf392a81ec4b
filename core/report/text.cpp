// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/floor.h"
#include "core/analysis/kld_card.h"
#include "core/analysis/list_bias.h"
#include "core/base/utf8.h"
#include "core/report/environment_report.h"
#include "core/report/method.h"
#include "core/report/report.h"
#include "core/text/token_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace flipscope {

namespace {

constexpr std::size_t name_columns = 60; // a longer name would push the numbers off the screen

std::string number(double value)
{
    if (std::isnan(value))
        return "-";
    if (std::isinf(value))
        return "inf";
    return value == 0 ? "0" : fmt::format("{:.3g}", value);
}

std::string percent(double share)
{
    return std::isnan(share) ? "-" : fmt::format("{:.1f} %", share * 100);
}

/// Columns set under their headings: the first to the left, the others to the right.
class TextTable {
public:
    explicit TextTable(std::vector<std::string> headings) { rows_.push_back(std::move(headings)); }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    std::string text() const
    {
        std::vector<std::size_t> widths(rows_.front().size(), 0);
        for (const auto& row : rows_)
            for (std::size_t c = 0; c < row.size(); ++c)
                widths[c] = std::max(widths[c], display_width(row[c]));
        std::string text;
        for (const auto& row : rows_) {
            std::string line;
            for (std::size_t c = 0; c < row.size(); ++c) {
                const std::string padding(widths[c] - display_width(row[c]), ' ');
                line += c == 0 ? row[c] + padding : "  " + padding + row[c];
            }
            line.erase(line.find_last_not_of(' ') + 1);
            text += line + '\n';
        }
        return text;
    }

private:
    std::vector<std::vector<std::string>> rows_;
};

/// The beginning of a text that fits into `columns`, cut between characters.
std::string shortened(const std::string& text, std::size_t columns)
{
    if (display_width(text) <= columns)
        return text;
    std::size_t end = 0;
    while (display_width(std::string_view(text).substr(0, end)) + 3 < columns)
        end += std::max<std::size_t>(1, utf8_at(text, end).length);
    return text.substr(0, end) + "...";
}

std::string verdict(const RunAnalysis& run)
{
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (run.bit_identical)
        add("bit-identical");
    if (run.table->alignment.top_k) {
        add("top-k: lower bound");
        if (const ListFacts facts = list_facts(*run.table); !std::isnan(facts.kept_p))
            add(fmt::format("{:.4g} % of P and {:.4g} % of Q kept, {:.3g} % of the ids shared", 100 * facts.kept_p,
                            100 * facts.kept_q, 100 * facts.id_overlap));
    }
    if (run.overall.kl_pq.n_infinite)
        add(fmt::format("{} infinite", run.overall.kl_pq.n_infinite));
    if (run.overall.n_invalid)
        add(fmt::format("{} invalid", run.overall.n_invalid));
    if (run.flips_top1 >= 0 && run.flips_top1 != run.overall.flips)
        add(fmt::format("{} flips before storage rounding", run.flips_top1));
    return text;
}

std::string above_text(const Analysis& analysis, const RunAnalysis& run)
{
    const RunAnalysis& floor = analysis.runs[static_cast<std::size_t>(analysis.floor)];
    return &run == &floor ? "floor" : number(above_floor(run.overall, floor.overall).kl_pq_mean);
}

std::string overview(const Analysis& analysis)
{
    std::vector<std::string> headings{"run",
                                      "probes",
                                      "flips",
                                      "tied",
                                      "flip rate",
                                      "95 % interval",
                                      "KL(P‖Q) mean/nats",
                                      "KL(P‖Q) median/nats",
                                      "KL(P‖Q) p99/nats",
                                      "KL(P‖Q) max/nats",
                                      "KL(Q‖P) mean/nats",
                                      "TV(P,Q) mean/%"};
    if (analysis.floor >= 0)
        headings.emplace_back("above floor/nats");
    headings.emplace_back("");
    TextTable table(std::move(headings));
    for (const auto& run : analysis.runs) {
        const auto& w = run.overall;
        std::vector<std::string> row{
            shortened(visible(run.name), name_columns),
            fmt::format("{}", w.n + w.n_invalid),
            fmt::format("{}", w.flips),
            fmt::format("{}", w.flips_tied),
            percent(w.flip_rate),
            w.n ? fmt::format("{:.1f}-{:.1f} %", w.flip_interval.low * 100, w.flip_interval.high * 100) : "-",
            number(w.kl_pq.mean),
            number(w.kl_pq.median),
            number(w.kl_pq.p99),
            number(w.kl_pq.max),
            number(w.kl_qp.mean),
            number(100 * w.tv.mean)};
        if (analysis.floor >= 0)
            row.push_back(above_text(analysis, run));
        row.push_back(verdict(run));
        table.add(std::move(row));
    }
    return table.text();
}

std::string windows_table(const Analysis& analysis, const char* title, std::string (*cell)(const WindowStats&))
{
    std::vector<std::string> headings{title};
    const auto& windows = analysis.runs.front().windows;
    for (const auto& w : windows)
        headings.push_back(fmt::format("{}-{}", w.start, w.end));
    TextTable table(std::move(headings));
    for (const auto& run : analysis.runs) {
        std::vector<std::string> row{shortened(visible(run.name), name_columns)};
        for (const auto& w : run.windows)
            row.push_back(cell(w));
        table.add(std::move(row));
    }
    return table.text();
}

/// A row per segment, turn or kind of segment; a pair of columns per run.
std::string pieces_table(const Analysis& analysis, std::vector<std::string> names, bool with_tokens,
                         std::vector<WindowStats> RunAnalysis::*rows)
{
    std::vector<std::string> headings{with_tokens ? std::string(name_of(analysis.by)) : "kind of segment"};
    if (with_tokens)
        headings.emplace_back("tokens");
    headings.emplace_back("probes");
    for (const auto& run : analysis.runs) {
        const std::string name = shortened(visible(run.name), name_columns);
        headings.push_back(name + " flips");
        headings.push_back(name + " KL mean");
    }
    TextTable table(std::move(headings));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const WindowStats& first = (analysis.runs.front().*rows)[i];
        std::vector<std::string> row{shortened(visible(names[i]), name_columns)};
        if (with_tokens)
            row.push_back(fmt::format("{}-{}", first.start, first.end));
        std::int64_t most = 0;
        for (const auto& run : analysis.runs)
            most = std::max(most, (run.*rows)[i].n);
        row.push_back(fmt::format("{}", most));
        for (const auto& run : analysis.runs) {
            const WindowStats& w = (run.*rows)[i];
            row.push_back(w.n == 0 ? "" : fmt::format("{} ({})", w.flips, percent(w.flip_rate)));
            row.push_back(w.n == 0 ? "" : number(w.kl_pq.mean));
        }
        table.add(std::move(row));
    }
    return table.text();
}

void append_pieces(const Analysis& analysis, std::string& text)
{
    constexpr std::size_t most_rows = 400;
    const bool turns = analysis.by == Partition::Turns;
    std::vector<std::string> names, kinds;
    for (const Piece& piece : analysis.pieces)
        names.push_back(turns ? piece.label : piece.kind.empty() ? "(none)" : piece.kind);
    for (const std::string& kind : analysis.kinds)
        kinds.push_back(kind.empty() ? "(none)" : kind);
    text +=
        fmt::format("\nBy {}: probes that predict a token of it; flips, KL(P‖Q) mean in nats\n", name_of(analysis.by));
    if (!kinds.empty())
        text += pieces_table(analysis, kinds, false, &RunAnalysis::kinds) + '\n';
    if (names.size() <= most_rows)
        text += pieces_table(analysis, names, true, &RunAnalysis::pieces);
    else
        text += fmt::format("{} {}s: too many for a page; --csv-windows writes them.\n", names.size(),
                            name_of(analysis.by));
}

/// What lists leave out, where the full rows of the same run are here too.
void append_bias(const Analysis& analysis, std::string& text)
{
    std::vector<BiasInput> inputs;
    for (const auto& run : analysis.runs)
        inputs.push_back({run.trace, run.table});
    const auto all = list_bias(inputs);
    if (!all.empty())
        text += "\nLists beside the full rows of the same run\n";
    for (const ListBias& bias : all)
        text += fmt::format("  {} beside {}: {}.\n", visible(analysis.runs[bias.lists].name),
                            visible(analysis.runs[bias.full].name), bias_text(bias));
}

/// Printouts of llama-perplexity beside our numbers.
void append_logs(const Analysis& analysis, std::string& text)
{
    if (analysis.logs.empty())
        return;
    std::vector<const KldLog*> logs;
    std::vector<const MetricsTable*> tables;
    std::vector<std::string> headings{"Printed by llama-perplexity, and computed here"};
    for (const KldLog& log : analysis.logs) {
        logs.push_back(&log);
        headings.push_back(shortened(visible(log.path.filename().string()), name_columns));
    }
    for (const auto& run : analysis.runs) {
        tables.push_back(run.table.get());
        headings.push_back(shortened(visible(run.name), name_columns));
    }
    TextTable table(std::move(headings));
    for (const KldCardLine& line : kld_card(logs, tables)) {
        std::vector<std::string> row{line.label};
        row.insert(row.end(), line.cells.begin(), line.cells.end());
        table.add(std::move(row));
    }
    text += fmt::format("\n{}", table.text());
    for (const KldLog& log : analysis.logs)
        for (const Finding& f : log.findings)
            text += fmt::format("  {}: {}\n", visible(log.name), visible(f.text));
}

void append_remarks(const Analysis& analysis, std::string& text)
{
    std::vector<std::string> remarks = analysis.notices;
    for (const auto& finding : analysis.baseline->findings)
        remarks.push_back(analysis.baseline->run_name + ": " + finding.text);
    for (const auto& run : analysis.runs) {
        for (const auto& finding : run.trace->findings)
            remarks.push_back(run.name + ": " + finding.text);
        for (const auto& finding : run.table->alignment.findings)
            remarks.push_back(run.name + ": " + finding.text);
        for (const auto& notice : run.table->notices)
            remarks.push_back(run.name + ": " + notice);
    }
    if (remarks.empty())
        return;
    text += "\nTo know\n";
    for (const auto& remark : remarks)
        text += "  " + visible(remark) + '\n';
}

void append_environment(const std::vector<TracePtr>& traces, std::string& text)
{
    constexpr std::size_t packages_shown = 20; // of a stage
    const EnvironmentDifference difference = environment_difference(traces);
    if (difference.empty())
        return;
    text += "\nSettings that differ\n";
    std::vector<std::string> headings{"setting"};
    for (const auto& trace : traces)
        headings.push_back(shortened(visible(trace->run_name), name_columns));
    TextTable table(std::move(headings));
    const auto add = [&](std::string label, const std::vector<std::string>& values) {
        std::vector<std::string> row{std::move(label)};
        // Long values (a tensor mix, say) are in `info`; a table is for seeing which differ.
        for (const auto& value : values)
            row.push_back(shortened(visible(value), 40));
        table.add(std::move(row));
    };
    const std::vector<std::string> blank(traces.size());
    for (const StageDifference& stage : difference.stages) {
        add(std::string(title_of(stage.stage)), blank);
        for (const SettingDifference& s : stage.settings)
            add("  " + visible(s.key), s.values);
        for (std::size_t i = 0; i < std::min(stage.packages.size(), packages_shown); ++i)
            add("  package " + visible(stage.packages[i].name), stage.packages[i].values);
        if (stage.packages.size() > packages_shown)
            add(fmt::format("  {} more packages: --json", stage.packages.size() - packages_shown), blank);
    }
    text += table.text();
    if (const std::string notice = packages_notice(difference); difference.n_packages > 0 && !notice.empty())
        text += notice + '\n';
}

void append_method(const Analysis& analysis, std::string& text)
{
    std::vector<TracePtr> traces;
    for (const auto& run : analysis.runs)
        traces.push_back(run.trace);
    text += "\nMethod\n";
    for (const auto& line :
         method_of(*analysis.baseline, traces, "per probe, pooled over the matched probes of one history"))
        text += fmt::format("  {:<22}{}\n", line.label, visible(line.value));
    traces.insert(traces.begin(), analysis.baseline);
    append_environment(traces, text);
}

} // namespace

std::string analysis_text(const Analysis& analysis)
{
    std::string text = fmt::format("Baseline P: {} ({})\nEngine: {} ({})\nDivergences in nats, at temperature 1.\n\n",
                                   visible(analysis.baseline->run_name), visible(analysis.baseline->path.string()),
                                   analysis.engine, analysis.engine_detail);
    if (analysis.runs.empty())
        return text + "No run could be compared.\n";
    text += overview(analysis);
    if (analysis.by != Partition::Windows) {
        append_pieces(analysis, text);
    } else if (analysis.runs.front().windows.size() <= 24) {
        text += fmt::format("\nWindows of {} tokens\n", analysis.window_tokens);
        text += windows_table(analysis, "flip rate", [](const WindowStats& w) { return percent(w.flip_rate); });
        text += '\n';
        text +=
            windows_table(analysis, "KL(P‖Q) mean, nats", [](const WindowStats& w) { return number(w.kl_pq.mean); });
    } else {
        text += fmt::format("\n{} windows of {} tokens: too many for a page; --csv-windows writes them.\n",
                            analysis.runs.front().windows.size(), analysis.window_tokens);
    }
    for (const auto& run : analysis.runs)
        if (run.llamacpp)
            text += fmt::format("\n{}: {}", visible(run.name), llamacpp_text(*run.llamacpp));
    append_bias(analysis, text);
    append_logs(analysis, text);
    append_remarks(analysis, text);
    append_method(analysis, text);
    return text;
}

} // namespace flipscope
