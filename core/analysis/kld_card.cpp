// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/kld_card.h"

#include "core/analysis/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace flipscope {

namespace {

constexpr const char *perplexity = "perplexity", *divergence = "KL divergence", *probability = "token probability";

struct Share {
    const char* label;
    double percent;
};
constexpr std::array<Share, 13> shares = {{{"Maximum", 100},
                                           {"99.9%", 99.9},
                                           {"99.0%", 99},
                                           {"95.0%", 95},
                                           {"90.0%", 90},
                                           {"75.0%", 75},
                                           {"Median", 50},
                                           {"25.0%", 25},
                                           {"10.0%", 10},
                                           {"5.0%", 5},
                                           {"1.0%", 1},
                                           {"0.1%", 0.1},
                                           {"Minimum", 0}}};

std::vector<double> finite(const MetricsTable& table, double (*value)(const ProbeMetrics&))
{
    std::vector<double> all;
    for (const ProbeMetrics& m : table.probes)
        if (const double x = value(m); m.valid != 0 && std::isfinite(x))
            all.push_back(x);
    return all;
}

double mean(const std::vector<double>& values)
{
    double sum = 0;
    for (const double x : values)
        sum += x;
    return sum / static_cast<double>(values.size());
}

class Card {
public:
    explicit Card(const MetricsTable& table) : table_(table) {}

    std::vector<KldStatistic> all()
    {
        const bool lists = table_.alignment.top_k; // the next token's probability is known where it is listed: no mean
        if (!lists)
            add_perplexities();
        // The tool prints neither the 75 % nor the 25 % of the divergence.
        add_distribution(divergence, "KLD", finite(table_, [](auto& m) { return m.kl_pq; }), 1, false);
        const auto dp = lists ? std::vector<double>() : finite(table_, [](auto& m) { return m.dp; });
        add_distribution(probability, "Δp", dp, 100, true);
        if (!dp.empty()) {
            const double squares = mean(finite(table_, [](auto& m) { return m.dp * m.dp; }));
            add(probability, "RMS Δp", 100 * std::sqrt(squares), true);
        }
        const auto same = finite(table_, [](auto& m) { return m.flip != 0 ? 0.0 : 1.0; });
        if (!same.empty())
            add(probability, "Same top p", 100 * mean(same), true);
        return std::move(out_);
    }

private:
    void add(const char* section, std::string label, double value, bool percent = false)
    {
        KldStatistic s;
        s.section = section;
        s.label = std::move(label);
        s.value = value;
        s.percent = percent;
        out_.push_back(std::move(s));
    }

    void add_perplexities()
    {
        std::vector<double> p, q;
        for (const ProbeMetrics& m : table_.probes)
            if (m.valid != 0 && std::isfinite(m.nll_p) && std::isfinite(m.nll_q)) {
                p.push_back(m.nll_p);
                q.push_back(m.nll_q);
            }
        if (p.empty())
            return;
        const double mp = mean(p), mq = mean(q);
        double pp = 0, qq = 0, pq = 0;
        for (std::size_t i = 0; i < p.size(); ++i) {
            pp += (p[i] - mp) * (p[i] - mp);
            qq += (q[i] - mq) * (q[i] - mq);
            pq += (p[i] - mp) * (q[i] - mq);
        }
        add(perplexity, "Mean PPL(Q)", std::exp(mq));
        add(perplexity, "Mean PPL(base)", std::exp(mp));
        if (pp > 0 && qq > 0)
            add(perplexity, "Cor(ln(PPL(Q)), ln(PPL(base)))", 100 * pq / std::sqrt(pp * qq), true);
        add(perplexity, "Mean ln(PPL(Q)/PPL(base))", mq - mp);
        add(perplexity, "Mean PPL(Q)/PPL(base)", std::exp(mq - mp));
        add(perplexity, "Mean PPL(Q)-PPL(base)", std::exp(mq) - std::exp(mp));
    }

    void add_distribution(const char* section, const char* of, std::vector<double> values, double factor, bool quarters)
    {
        if (values.empty())
            return;
        const bool percent = factor != 1;
        add(section, fmt::format("Mean {}", of), factor * mean(values), percent);
        std::sort(values.begin(), values.end());
        for (const auto& [label, share] : shares)
            if (quarters || (share != 75 && share != 25))
                add(section, fmt::format("{} {}", label, of), factor * percentile(values, share), percent);
    }

    const MetricsTable& table_;
    std::vector<KldStatistic> out_;
};

std::string cell(const KldStatistic& s, bool ours)
{
    const std::string value = ours ? fmt::format("{:.6g}", s.value) : fmt::format("{}", s.value);
    return fmt::format("{}{}{}", value, s.uncertainty ? fmt::format(" ± {}", *s.uncertainty) : "",
                       s.percent ? " %" : "");
}

} // namespace

std::vector<KldStatistic> in_words_of_the_printout(const MetricsTable& table)
{
    return Card(table).all();
}

std::vector<KldCardLine> kld_card(const std::vector<const KldLog*>& logs, const std::vector<const MetricsTable*>& runs)
{
    std::vector<KldCardLine> lines;
    const std::size_t columns = logs.size() + runs.size();
    std::size_t column = 0;
    const auto put = [&](const std::vector<KldStatistic>& statistics, bool ours) {
        std::size_t after = 0; // a label that nobody had so far stands behind the one before it
        for (const KldStatistic& s : statistics) {
            auto line = std::ranges::find_if(
                lines, [&](const KldCardLine& l) { return l.label == s.label && l.section == s.section; });
            if (line == lines.end()) {
                const auto place = std::min(after, lines.size());
                line = lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(place), {s.section, s.label, {}});
                line->cells.resize(columns);
            }
            line->cells[column] = cell(s, ours);
            after = static_cast<std::size_t>(line - lines.begin()) + 1;
        }
        ++column;
    };
    for (const KldLog* log : logs)
        put(log->statistics, false);
    for (const MetricsTable* table : runs)
        put(table != nullptr ? in_words_of_the_printout(*table) : std::vector<KldStatistic>(), true);
    return lines;
}

} // namespace flipscope
