// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/formats/kld_log.h"

#include <string>
#include <vector>

// Printouts of llama-perplexity beside our own numbers.
namespace flipscope {

/// Our numbers of one run under the labels, in the order and in the units of the printout (KLD in nats; Cor, Δp and
/// same top in %). They are defined as everywhere here: KL(P‖Q) of renormalised rows with no term left out, over all
/// valid probes of the table. What has no value (no next token, infinite divergences only) is left out, and of lists
/// all that is about the next token, which they may not hold.
std::vector<KldStatistic> in_words_of_the_printout(const MetricsTable& table);

/// One line of a card: what was printed, and what we have; empty where one has no such number.
struct KldCardLine {
    std::string section, label;
    std::vector<std::string> cells; ///< parallel to the columns: printouts first, then runs
};

/// A column for each printout and each run, a line for each label that any of them has.
std::vector<KldCardLine> kld_card(const std::vector<const KldLog*>& logs, const std::vector<const MetricsTable*>& runs);

} // namespace flipscope
