// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/alignment.h"

#include "core/text/token_text.h"
#include "core/trace/shift.h"

#include <algorithm>
#include <limits>

namespace flipscope {

namespace {

std::string name_of(const Trace& trace, const Trace& other)
{
    return trace.run_name == other.run_name ? trace.path.string() : trace.run_name;
}

/// "476 (␣show)", as far as the trace knows the text.
std::string token_at(const Trace& trace, std::size_t i)
{
    const std::int32_t id = trace.tokens.ids[i];
    if (id == unknown_id)
        return "an unknown id";
    if (i < trace.tokens.text.size())
        return fmt::format("{} “{}”", id, visible(trace.tokens.text[i]));
    if (id >= 0 && trace.vocabulary && static_cast<std::size_t>(id) < trace.vocabulary->text.size())
        return fmt::format("{} “{}”", id, visible(trace.vocabulary->text[static_cast<std::size_t>(id)]));
    return fmt::format("{} (text not stored)", id);
}

/// Ids made up for texts hold within one session; written to files, two sessions' may mean different texts.
bool made_up_ids_clash(const Trace& baseline, const Trace& run)
{
    if (baseline.setting("token_ids") == nullptr || run.setting("token_ids") == nullptr || !baseline.vocabulary ||
        !run.vocabulary || baseline.vocabulary == run.vocabulary)
        return false;
    const ByteStrings &p = baseline.vocabulary->text, &q = run.vocabulary->text;
    for (std::size_t i = 0; i < std::min(p.size(), q.size()); ++i)
        if (!p[i].empty() && !q[i].empty() && p[i] != q[i])
            return true;
    return false;
}

tl::unexpected<Error> ids_differ(const Trace& baseline, const Trace& run, std::size_t at)
{
    const std::string base_name = name_of(baseline, run), run_name = name_of(run, baseline);
    const bool base_unknown = baseline.tokens.ids[at] < 0, run_unknown = run.tokens.ids[at] < 0;
    if (base_unknown != run_unknown)
        return fail(ErrorKind::NotComparable,
                    "{} cannot be compared with {}: {} does not state the id of the token at position {}, so nobody "
                    "can tell whether the two histories are one; save the request beside the answer "
                    "({{\"request\": …, \"response\": …}}), or ask the server for the ids of the prompt.",
                    run_name, base_name, base_unknown ? base_name : run_name, at);
    std::string shift = " Only runs of one token history can be compared.";
    if (const int by = shift_that_fits(baseline, run); by != 0)
        shift = fmt::format(" {} has one extra token at its start ({}): without it, a shift by one, the two histories "
                            "agree. Record it without the doubled first token{}.",
                            by < 0 ? run_name : base_name, token_at(by < 0 ? run : baseline, 0),
                            probes_meet(baseline, run, by) ? ", or compare the run shifted (--shift-bos)"
                                                           : "; shifted, the two have no probe at a common position");
    return fail(ErrorKind::NotComparable,
                "{} cannot be compared with {}: token ids differ at position {}, {} in {} and {} in {}.{}", run_name,
                base_name, at, token_at(baseline, at), base_name, token_at(run, at), run_name, shift);
}

/// All probes of some sets by position; a position that two sets have is taken from the first.
struct PlacedProbe {
    std::int64_t position, row;
    std::int32_t set;
};

std::vector<PlacedProbe> placed(std::span<const ProbeSet> sets)
{
    std::vector<PlacedProbe> all;
    for (std::size_t s = 0; s < sets.size(); ++s)
        for (std::size_t i = 0; i < sets[s].positions.size(); ++i)
            all.push_back({sets[s].positions[i], static_cast<std::int64_t>(i), static_cast<std::int32_t>(s)});
    const auto earlier = [](const PlacedProbe& a, const PlacedProbe& b) { return a.position < b.position; };
    std::stable_sort(all.begin(), all.end(), earlier);
    const auto equal = [](const PlacedProbe& a, const PlacedProbe& b) { return a.position == b.position; };
    all.erase(std::unique(all.begin(), all.end(), equal), all.end());
    return all;
}

std::vector<MatchedProbe> match(std::span<const ProbeSet> baseline, std::span<const ProbeSet> run,
                                std::int64_t common_tokens)
{
    std::vector<MatchedProbe> matched;
    const auto p = placed(baseline), q = placed(run);
    for (std::size_t i = 0, j = 0; i < p.size() && j < q.size();) {
        // A probe beyond the common history answers another text.
        if (std::max(p[i].position, q[j].position) >= common_tokens)
            break;
        if (p[i].position < q[j].position)
            ++i;
        else if (q[j].position < p[i].position)
            ++j;
        else {
            matched.push_back({p[i].position, p[i].row, q[j].row, p[i].set, q[j].set});
            ++i, ++j;
        }
    }
    return matched;
}

std::string probes_text(std::int64_t n)
{
    return n == 1 ? "1 probe" : fmt::format("{} probes", n);
}

/// Whether ids may differ from `at` on: what a run chose itself is its own from the first token that is another's.
bool may_part(const Trace& trace, std::size_t at)
{
    return trace.generated_from >= 0 && static_cast<std::int64_t>(at) >= trace.generated_from;
}

void note_parting(const Trace& baseline, const Trace& run, std::size_t at, Alignment& a)
{
    a.findings.push_back(
        {Finding::Level::Note, "answers-part",
         fmt::format("What was generated parts at position {} ({} in {}, {} in {}): compared up to there.", at,
                     token_at(baseline, at), name_of(baseline, run), token_at(run, at), name_of(run, baseline))});
}

void note_history(const Trace& baseline, const Trace& run, Alignment& a)
{
    const auto nb = static_cast<std::int64_t>(baseline.tokens.ids.size());
    const auto nr = static_cast<std::int64_t>(run.tokens.ids.size());
    if (nb != nr && a.common_tokens == std::min(nb, nr))
        a.findings.push_back({Finding::Level::Note, "common-prefix",
                              fmt::format("The histories have different lengths ({} tokens in {}, {} in {}): compared "
                                          "over the common first {} tokens.",
                                          nb, name_of(baseline, run), nr, name_of(run, baseline), a.common_tokens)});
}

/// Beginnings of the chunks that a history was fed in, each with an empty context.
std::vector<std::int64_t> chunk_starts(const Trace& trace, std::int64_t common_tokens)
{
    std::vector<std::int64_t> starts;
    for (const Span& span : trace.spans)
        if (span.kind == "chunk" && span.start < common_tokens)
            starts.push_back(span.start);
    return starts;
}

/// The same position of chunks that begin elsewhere answers another context.
Result<void> check_chunks(const Trace& baseline, const Trace& run, Alignment& a)
{
    const auto p = chunk_starts(baseline, a.common_tokens), q = chunk_starts(run, a.common_tokens);
    if (p == q)
        return {};
    if (!p.empty() && !q.empty()) {
        const auto other = std::mismatch(p.begin(), p.end(), q.begin(), q.end());
        const std::int64_t at = other.first == p.end()    ? *other.second
                                : other.second == q.end() ? *other.first
                                                          : std::min(*other.first, *other.second);
        return fail(ErrorKind::NotComparable,
                    "{} cannot be compared with {}: both were fed in chunks with a context of their own, but only one "
                    "of them begins a chunk at token {}, so that the same position answers another context; record "
                    "both with the same context length.",
                    name_of(run, baseline), name_of(baseline, run), at);
    }
    if (std::max(p.size(), q.size()) > 1)
        a.findings.push_back(
            {Finding::Level::Warning, "chunked-context",
             fmt::format(
                 "{} was fed in {} chunks with a context of their own and {} states no chunks: behind the first "
                 "chunk the two may answer other contexts.",
                 p.empty() ? name_of(run, baseline) : name_of(baseline, run), std::max(p.size(), q.size()),
                 p.empty() ? name_of(baseline, run) : name_of(run, baseline))});
    return {};
}

/// What is not known cannot be checked: a note of how much that is.
void note_unknown_ids(const Trace& baseline, const Trace& run, Alignment& a)
{
    for (const Trace* trace : {&baseline, &run}) {
        const auto common = std::span(trace->tokens.ids).first(static_cast<std::size_t>(a.common_tokens));
        const auto unknown = std::count(common.begin(), common.end(), unknown_id);
        if (unknown == 0)
            continue;
        if (unknown == 1 && common.size() > 1 && common.front() == unknown_id) {
            a.findings.push_back({Finding::Level::Note, "unknown-ids",
                                  fmt::format("The first token of {} is not known: that the histories agree is checked "
                                              "from the second on.",
                                              name_of(*trace, trace == &run ? baseline : run))});
            continue;
        }
        const std::string how_many =
            unknown == a.common_tokens ? "No token id" : fmt::format("{} of the {} token ids", unknown, common.size());
        const char* is = unknown == a.common_tokens ? "is" : "are not";
        a.findings.push_back({Finding::Level::Warning, "unknown-ids",
                              fmt::format("{} of {} {} known: nothing shows that both runs were fed the same text.",
                                          how_many, name_of(*trace, trace == &run ? baseline : run), is)});
    }
}

void note_probes(const Trace& baseline, const Trace& run, Alignment& a)
{
    if (a.only_in_baseline + a.only_in_run == 0)
        return;
    const auto matched = static_cast<std::int64_t>(a.probes.size());
    a.findings.push_back({Finding::Level::Note, "unmatched-probes",
                          fmt::format("{} at positions that both have {} compared; {} of {} and {} of {} are left out.",
                                      probes_text(matched), matched == 1 ? "is" : "are", a.only_in_baseline,
                                      name_of(baseline, run), a.only_in_run, name_of(run, baseline))});
}

void note_rows(const Trace& baseline, const Trace& run, Alignment& a)
{
    if (a.top_k) {
        a.findings.push_back(
            {Finding::Level::Warning, "top-k",
             "Only the best tokens of each probe are known: divergences are those of the known ids and "
             "one bucket for the rest, a lower bound of the full ones."});
        return;
    }
    if (a.baseline_vocab != a.run_vocab)
        a.findings.push_back(
            {Finding::Level::Note, "padded-vocab",
             fmt::format("The vocabularies differ ({} ids in {}, {} in {}): the {} shared ids are "
                         "compared after renormalising.",
                         a.baseline_vocab, name_of(baseline, run), a.run_vocab, name_of(run, baseline), a.vocab)});
    if (!a.equal_types && baseline.probes.rows && run.probes.rows)
        a.findings.push_back(
            {Finding::Level::Note, "logit-types",
             fmt::format("The logits are stored as {} in {} and as {} in {}: the rounding of the coarser "
                         "type is part of every difference.",
                         name_of(baseline.probes.rows->type()), name_of(baseline, run),
                         name_of(run.probes.rows->type()), name_of(run, baseline))});
}

void note_setting(const char* code, const char* what, const std::string& p, const std::string& q, Alignment& a)
{
    if (p != q && !p.empty() && !q.empty())
        a.findings.push_back(
            {Finding::Level::Warning, code, fmt::format("{} differs: {} in the baseline, {} in the run.", what, p, q)});
}

void note_scoring(const ProbeSet& p, const ProbeSet& q, Alignment& a)
{
    note_setting("scoring", "Scoring (prefill and decode take different kernels)", p.scoring, q.scoring, a);
    note_setting("values", "The kind of logits (raw, or processed by a sampler)", p.values, q.values, a);
    const auto text = [](const std::optional<double>& t) { return t ? fmt::format("{}", *t) : std::string(); };
    note_setting("temperature", "The temperature of the logits", text(p.temperature), text(q.temperature), a);
}

} // namespace

Result<Alignment> align(const Trace& baseline, const Trace& run)
{
    Alignment a;
    const auto& p = baseline.tokens.ids;
    const auto& q = run.tokens.ids;
    if (made_up_ids_clash(baseline, run))
        return fail(ErrorKind::NotComparable,
                    "{} cannot be compared with {}: both have ids that were made up from texts, but not the same ones; "
                    "open the servers' answers themselves.",
                    name_of(run, baseline), name_of(baseline, run));
    std::size_t common = std::min(p.size(), q.size());
    const auto agree = [](std::int32_t a, std::int32_t b) { return a == b || a == unknown_id || b == unknown_id; };
    const auto differ = std::mismatch(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(common), q.begin(), agree);
    const auto at = static_cast<std::size_t>(differ.first - p.begin());
    if (at < common) {
        if (!may_part(baseline, at) && !may_part(run, at))
            return ids_differ(baseline, run, at);
        common = at;
        note_parting(baseline, run, at, a);
    }
    if (common == 0)
        return fail(ErrorKind::NotComparable, "{} cannot be compared with {}: {} holds no tokens.",
                    name_of(run, baseline), name_of(baseline, run),
                    q.empty() ? name_of(run, baseline) : name_of(baseline, run));
    a.common_tokens = static_cast<std::int64_t>(common);
    if (auto ok = check_chunks(baseline, run, a); !ok)
        return tl::unexpected(ok.error());
    a.probes = match({&baseline.probes, 1}, {&run.probes, 1}, a.common_tokens);
    a.dense = match(baseline.dense, run.dense, a.common_tokens);
    a.only_in_baseline = baseline.probes.size() - static_cast<std::int64_t>(a.probes.size());
    a.only_in_run = run.probes.size() - static_cast<std::int64_t>(a.probes.size());
    if (a.probes.empty() && a.dense.empty())
        return fail(
            ErrorKind::NotComparable,
            "{} cannot be compared with {}: no probe of one ({}) is at a position of the other ({}). Record both "
            "at the same positions.",
            name_of(run, baseline), name_of(baseline, run), probes_text(run.probes.size()),
            probes_text(baseline.probes.size()));
    a.baseline_vocab = baseline.probes.n_vocab;
    a.run_vocab = run.probes.n_vocab;
    const auto lists = [](const ProbeSet& s) { return s.kind == ProbeSet::Kind::TopK; };
    a.top_k = lists(baseline.probes) || lists(run.probes);
    if (!a.top_k)
        a.vocab = static_cast<std::int32_t>(
            std::min({a.baseline_vocab, a.run_vocab, std::int64_t{std::numeric_limits<std::int32_t>::max()}}));
    a.equal_types =
        !a.top_k && baseline.probes.rows && run.probes.rows && baseline.probes.rows->type() == run.probes.rows->type();
    note_history(baseline, run, a);
    note_unknown_ids(baseline, run, a);
    note_probes(baseline, run, a);
    note_rows(baseline, run, a);
    note_scoring(baseline.probes, run.probes, a);
    return a;
}

} // namespace flipscope
