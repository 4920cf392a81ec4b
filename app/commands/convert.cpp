// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/convert.h"
#include "app/commands/commands.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/base/file.h"
#include "core/text/token_text.h"
#include "core/trace/open.h"

#include <charconv>
#include <limits>
#include <memory>
#include <string>

namespace flipscope {

namespace {

struct ConvertCommand {
    std::string input, out;
    std::string type, positions;
    std::int64_t top_k = 0;
    ConvertOptions how;
};

bool parse_number(std::string_view text, std::optional<std::int64_t>& to)
{
    if (text.empty())
        return true; // an open end
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    to = n;
    return error == std::errc() && end == text.data() + text.size() && n >= 0;
}

/// "A:B", "A:" or ":B".
std::string parse_range(const std::string& text, ConvertOptions& to)
{
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || text.size() == 1 ||
        !parse_number(std::string_view(text).substr(0, colon), to.begin) ||
        !parse_number(std::string_view(text).substr(colon + 1), to.end) || (to.end && *to.end <= to.begin.value_or(0)))
        return "a range of positions as 0:8000 is wanted (the end is not in it), not \"" + text + "\"";
    return {};
}

std::string loss_text(const RoundingLoss& loss)
{
    const char* moved = loss.flips == 1 ? "token moves" : "tokens move";
    std::string text =
        fmt::format("Rounded from {} to {}: the largest change of a logit is {:.6g}; {} of {} top {}.\n",
                    name_of(loss.from), name_of(loss.to), loss.max_abs_error, loss.flips, loss.rows, moved);
    if (loss.overflows > 0)
        text += fmt::format("{} very small logits became -inf, which is probability 0.\n", loss.overflows);
    return text;
}

int run_convert(ConvertCommand& options)
{
    if (const auto ok = check_outputs({options.input}, {options.out}); !ok)
        return ended(ok.error());
    const ConsoleJob console;
    const auto trace = open_trace(options.input, console.job());
    if (!trace)
        return ended(trace.error());
    if (!options.type.empty())
        options.how.type = options.type == "f16" ? LogitType::F16 : LogitType::BF16;
    if (!options.positions.empty())
        (void)parse_range(options.positions, options.how); // checked when it was parsed
    if (options.top_k > 0)
        options.how.top_k = options.top_k;
    const auto done = convert_trace(options.out, **trace, options.how, console.job());
    if (!done)
        return ended(done.error());
    const auto stamp = stamp_of(options.out);
    std::string text =
        fmt::format("{}: {} bytes from {}.\n", visible(options.out), stamp ? stamp->size : 0, (*trace)->stamp.size);
    if (done->loss)
        text += loss_text(*done->loss);
    for (const std::string& note : done->notes)
        text += note + '\n';
    const auto written = write_text("-", text);
    return written ? exit_done : ended(written.error());
}

} // namespace

void add_convert(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<ConvertCommand>();
    CLI::App* command = app.add_subcommand("convert", "Write a trace anew: another type, compressed, or a part of it");
    command->add_option("IN", options->input, "The trace to read; it is not changed")
        ->required()
        ->check(not_empty())
        ->type_name("");
    add_trace_output(*command, options->out, options->how.compression);
    command->add_option("--type", options->type, "Round the logits to 16 bits; what that does to them is printed")
        ->check(CLI::IsMember({"f16", "bf16"}))
        ->type_name("f16|bf16");
    command
        ->add_option("--positions", options->positions, "Keep only the probes at positions from A up to, not with, B")
        ->check(CLI::Validator(
            [](const std::string& text) {
                ConvertOptions ignored;
                return parse_range(text, ignored);
            },
            ""))
        ->type_name("A:B");
    command->add_option("--top-k", options->top_k, "Keep only the best K of each row: numbers become lower bounds")
        ->transform(whole_number(1, std::numeric_limits<std::int32_t>::max()))
        ->type_name("K");
    command->add_flag("--drop-text", options->how.drop_text,
                      "Leave out all text: of tokens, vocabulary, continuations, tool calls and the launch log");
    command->callback([options, &exit_code] { exit_code = run_convert(*options); });
}

} // namespace flipscope
