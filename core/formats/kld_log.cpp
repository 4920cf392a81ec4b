// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/kld_log.h"

#include "core/trace/hdf5.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

namespace flipscope {

namespace {

constexpr std::size_t most_text = 16 << 20;
constexpr std::size_t most_statistics = 256;

constexpr std::string_view perplexity = "perplexity", divergence = "KL divergence", probability = "token probability";

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/// A number at the start of `text`, which is moved behind it. "nan" and "inf" are numbers here: the tool prints them.
std::optional<double> take_number(std::string_view& text)
{
    while (text.starts_with(' ') || text.starts_with('\t'))
        text.remove_prefix(1);
    std::string_view rest = text;
    if (rest.starts_with('+'))
        rest.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc())
        return std::nullopt;
    text = rest.substr(static_cast<std::size_t>(end - rest.data()));
    return value;
}

/// Skips what stands between a value and its uncertainty: ± in any encoding, "+/-", "_" or "?".
bool take_plus_minus(std::string_view& text)
{
    std::string_view rest = text;
    while (rest.starts_with(' ') || rest.starts_with('\t'))
        rest.remove_prefix(1);
    for (const std::string_view sign : {"\xc2\xb1", "\xc3\x82\xc2\xb1", "+/-", "\xef\xbf\xbd", "\xb1", "_", "?"})
        if (rest.starts_with(sign)) {
            do
                rest.remove_prefix(sign.size());
            while (rest.starts_with(sign));
            text = rest;
            return true;
        }
    return false;
}

/// Value, ± and % at the start of `text`, which is moved behind them.
std::optional<KldStatistic> take_statistic(std::string_view& text)
{
    KldStatistic s;
    const auto value = take_number(text);
    if (!value)
        return std::nullopt;
    s.value = *value;
    if (take_plus_minus(text))
        s.uncertainty = take_number(text);
    std::string_view rest = text;
    while (rest.starts_with(' '))
        rest.remove_prefix(1);
    if (rest.starts_with('%')) {
        s.percent = true;
        text = rest.substr(1);
    }
    return s;
}

/// A line without what consoles, quotes and log prefixes ("0.03.126.001 I ") put before it.
std::string_view bare(std::string_view line)
{
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
        line.remove_suffix(1);
    const auto skip = [&] {
        while (line.starts_with(' ') || line.starts_with('\t') || line.starts_with('>') || line.starts_with('`'))
            line.remove_prefix(1);
    };
    skip();
    std::size_t i = 0;
    while (i < line.size() && (is_digit(line[i]) || line[i] == '.'))
        ++i;
    if (std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(i), '.') >= 2 && i + 3 <= line.size() &&
        line[i] == ' ' && line[i + 2] == ' ')
        line.remove_prefix(i + 3);
    skip();
    return line;
}

/// One space where there are several; Δp in whatever encoding as "Δp".
std::string normal(std::string_view label)
{
    std::string out;
    for (const char c : label)
        if (c != ' ' && c != '\t')
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    while (out.ends_with(' '))
        out.pop_back();
    for (const std::string_view broken :
         {"\xce\x94p", "\xc3\x8e\xe2\x80\x9dp", "?p", "\xef\xbf\xbd\xef\xbf\xbdp", "\xef\xbf\xbdp", "dp"})
        if (const auto at = out.find(broken); at != std::string::npos && (at == 0 || out[at - 1] == ' ')) {
            out.replace(at, broken.size(), "Δp");
            break;
        }
    return out;
}

/// Labels of 2024's first builds, in today's words.
std::string modern(std::string label, std::string_view section)
{
    if (section != divergence)
        return label;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 12> old = {{{"Average", "Mean KLD"},
                                                                                    {"Mean", "Mean KLD"},
                                                                                    {"Median", "Median KLD"},
                                                                                    {"Maximum", "Maximum KLD"},
                                                                                    {"Minimum", "Minimum KLD"},
                                                                                    {"KLD_99", "99.0% KLD"},
                                                                                    {"KLD_95", "95.0% KLD"},
                                                                                    {"KLD_90", "90.0% KLD"},
                                                                                    {"KLD_10", "10.0% KLD"},
                                                                                    {"KLD_05", "5.0% KLD"},
                                                                                    {"KLD_01", "1.0% KLD"},
                                                                                    {"KLD_999", "99.9% KLD"}}};
    for (const auto& [before, now] : old)
        if (label == before)
            return std::string(now);
    return label;
}

/// The section that a line of = signs opens, or "".
std::string_view section_of(std::string_view line)
{
    if (!line.starts_with("=====") && !line.starts_with("===== "))
        return {};
    if (line.find("erplexity statistics") != std::string_view::npos)
        return perplexity;
    if (line.find("ivergence statistics") != std::string_view::npos)
        return divergence;
    if (line.find("probability statistics") != std::string_view::npos ||
        line.find("robability statistics") != std::string_view::npos)
        return probability;
    return {};
}

std::optional<std::int64_t> number_after(std::string_view line, std::string_view words)
{
    const auto at = line.find(words);
    if (at == std::string_view::npos)
        return std::nullopt;
    std::string_view rest = line.substr(at + words.size());
    while (rest.starts_with(' '))
        rest.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return error == std::errc() && end != rest.data() ? std::optional(value) : std::nullopt;
}

class LogReading {
public:
    explicit LogReading(const std::filesystem::path& path)
    {
        log_.path = path;
        log_.name = path.stem().string();
    }

    void line(std::string_view raw)
    {
        const std::string_view text = bare(raw);
        if (const std::string_view section = section_of(text); !section.empty()) {
            section_ = section;
            log_.has_final_block = true;
            return;
        }
        facts(text);
        if (text.starts_with("chunk") && text.find("PPL") != std::string_view::npos)
            with_delta_ = text.find("RMS") != std::string_view::npos;
        else if (section_.empty() && !text.empty() && is_digit(text.front()))
            chunk(text);
        else if (!section_.empty())
            statistic(text);
    }

    Result<KldLog> done()
    {
        if (!log_.has_final_block && log_.last_chunk)
            log_.statistics = log_.last_chunk->values;
        if (log_.statistics.empty())
            return fail(ErrorKind::BadFormat, "{} is no printout of llama-perplexity --kl-divergence.",
                        h5::one_line(log_.path.string()));
        notes();
        return std::move(log_);
    }

private:
    void facts(std::string_view text)
    {
        if (const auto n = number_after(text, "n_ctx="); n && log_.n_ctx < 0)
            log_.n_ctx = *n;
        if (const auto n = number_after(text, "computing over "); n && log_.n_chunks < 0)
            log_.n_chunks = *n;
        if (const auto n = number_after(text, "failed reading log-probs for chunk"))
            failed_chunk_ = *n;
        if (const auto at = text.find("inconsistent vocabulary"); at != std::string_view::npos)
            vocabularies_ = h5::one_line(text.substr(at, 100), 100);
        if (const auto at = text.find("build: ");
            at != std::string_view::npos && log_.build.empty() && number_after(text, "build: ")) {
            const std::string_view rest = text.substr(at + 7, 40);
            log_.build = h5::one_line(rest.substr(0, rest.find(')') + 1), 40);
        }
    }

    /// "   1       9.3228 ±    3.1019      -0.01302 ±    0.04770 …"
    void chunk(std::string_view text)
    {
        const auto number = take_number(text);
        if (!number || *number != std::floor(*number) || *number < 1 || *number > 1e9)
            return;
        KldChunk c;
        c.chunk = static_cast<std::int64_t>(*number);
        while (auto s = take_statistic(text))
            c.values.push_back(*s);
        constexpr std::array<std::string_view, 5> today = {"Mean PPL(Q)", "Mean ln(PPL(Q)/PPL(base))", "Mean KLD",
                                                           "RMS Δp", "Same top p"};
        const std::size_t expected = with_delta_ ? 5 : 4;
        if (c.values.size() != expected)
            return;
        for (std::size_t i = 0; i < expected; ++i) {
            const std::size_t column = !with_delta_ && i == 3 ? 4 : i;
            c.values[i].label = today[column];
            c.values[i].section = column < 2 ? perplexity : column == 2 ? divergence : probability;
        }
        ++log_.n_chunks_printed;
        log_.last_chunk = std::move(c);
    }

    /// "99.0%   KLD:   0.363201"
    void statistic(std::string_view text)
    {
        const auto colon = text.rfind(':');
        if (colon == std::string_view::npos || colon == 0 || colon > 60 || log_.statistics.size() >= most_statistics)
            return;
        std::string_view rest = text.substr(colon + 1);
        auto s = take_statistic(rest);
        if (!s || rest.find_first_not_of(" %") != std::string_view::npos)
            return;
        s->section = section_;
        s->label = modern(normal(text.substr(0, colon)), section_);
        if (s->label.starts_with("Same top"))
            s->label = "Same top p";
        for (const KldStatistic& known : log_.statistics)
            if (known.section == s->section && known.label == s->label) {
                // Builds of 2025 print "99.0% KLD" twice.
                if (known.value != s->value)
                    doubled_ = s->label;
                return;
            }
        log_.statistics.push_back(std::move(*s));
    }

    void notes()
    {
        const auto warn = [&](const char* code, std::string text) {
            log_.findings.push_back({Finding::Level::Warning, code, std::move(text)});
        };
        if (!log_.has_final_block)
            warn("no-final-block",
                 fmt::format("The printout has no final block (the tool prints it from 100 tokens on, "
                             "and not when it ends early): these are the values after chunk {}.",
                             log_.last_chunk->chunk));
        if (failed_chunk_ >= 0)
            warn("base-cut-off",
                 fmt::format("The tool could not read chunk {} of the base file, which was cut off: the "
                             "values are of the chunks before it.",
                             failed_chunk_));
        if (!vocabularies_.empty())
            warn("other-vocabulary", fmt::format("The tool said \"{}\" and went on: base and model have different "
                                                 "vocabularies, so the values mean nothing.",
                                                 vocabularies_));
        if (!doubled_.empty())
            warn("label-twice", fmt::format("\"{}\" was printed twice with different values (a fault of some builds): "
                                            "the first one is shown.",
                                            doubled_));
        if (std::any_of(log_.statistics.begin(), log_.statistics.end(),
                        [](const KldStatistic& s) { return !std::isfinite(s.value); }))
            warn("not-finite", "Some values are not finite: a NaN or an infinite logit was among the rows.");
        if (const KldStatistic* least = log_.find("Minimum KLD"); least != nullptr && least->value < 0)
            log_.findings.push_back(
                {Finding::Level::Note, "negative-minimum",
                 "The minimum is below 0: base files round log probabilities, and what is smaller than about 1e-4 a "
                 "token is that rounding."});
    }

    KldLog log_;
    std::string section_, vocabularies_, doubled_;
    bool with_delta_ = true;
    std::int64_t failed_chunk_ = -1;
};

} // namespace

const KldStatistic* KldLog::find(std::string_view label) const
{
    for (const KldStatistic& s : statistics)
        if (s.label == label)
            return &s;
    return nullptr;
}

bool looks_like_kld_log(std::string_view text)
{
    if (text.find('\0') != std::string_view::npos)
        return false;
    for (const std::string_view mark : {"KL divergence statistics", "KL-divergence statistics", "ln(PPL(Q)/PPL(base))"})
        if (text.find(mark) != std::string_view::npos)
            return true;
    return false;
}

Result<KldLog> read_kld_log(std::istream& in, const std::filesystem::path& path)
{
    LogReading reading(path);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (text.size() > most_text)
        return fail(ErrorKind::Unsupported, "{} is larger than any printout of llama-perplexity.",
                    h5::one_line(path.string()));
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        reading.line(std::string_view(text).substr(at, std::min<std::size_t>(end - at, 4096)));
        at = end + 1;
    }
    return reading.done();
}

Result<KldLog> open_kld_log(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return fail(ErrorKind::Unreadable, "{} cannot be opened.", h5::one_line(path.string()));
    return read_kld_log(in, path);
}

bool is_kld_log(const std::filesystem::path& path)
{
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > most_text || error)
        return false;
    std::ifstream in(path, std::ios::binary);
    std::string head(4096, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    if (head.find('\0') != std::string::npos || head.starts_with("\x89HDF"))
        return false;
    std::ostringstream rest;
    rest << in.rdbuf();
    return looks_like_kld_log(head + rest.str());
}

} // namespace flipscope
