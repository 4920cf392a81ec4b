// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/merge.h"

#include "core/formats/joined_rows.h"
#include "core/trace/content_key.h"
#include "core/trace/selected_rows.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace flipscope {

namespace {

tl::unexpected<Error> not_parts(const Trace& a, const Trace& b, std::string_view why)
{
    return fail(ErrorKind::NotComparable, "{} and {} cannot be parts of one run: {}.", a.path.string(), b.path.string(),
                why);
}

/// The longest history, into which all others fit; what one part does not know another may.
Result<void> merge_tokens(std::span<const TracePtr> parts, Trace& out)
{
    for (const TracePtr& part : parts) {
        auto& ids = out.tokens.ids;
        const auto& other = part->tokens.ids;
        for (std::size_t i = 0; i < std::min(ids.size(), other.size()); ++i) {
            if (ids[i] == unknown_id)
                ids[i] = other[i];
            else if (other[i] != unknown_id && other[i] != ids[i])
                return not_parts(out, *part, fmt::format("their token ids differ at position {}", i));
        }
        if (other.size() > ids.size())
            ids.insert(ids.end(), other.begin() + static_cast<std::ptrdiff_t>(ids.size()), other.end());
        if (out.tokens.text.size() < part->tokens.text.size())
            out.tokens.text = part->tokens.text;
        if (!out.vocabulary)
            out.vocabulary = part->vocabulary;
        if (out.spans.size() < part->spans.size())
            out.spans = part->spans;
    }
    if (out.tokens.text.size() != out.tokens.ids.size())
        out.tokens.text = {};
    return {};
}

struct Place {
    std::int64_t position;
    std::int64_t row; ///< in the rows of all parts, one behind the other
};

/// Rows of all parts in the order of their positions.
Result<void> merge_probes(std::span<const TracePtr> parts, Trace& out)
{
    std::vector<std::shared_ptr<const RowSource>> sources;
    std::vector<Place> places;
    const Trace* first = nullptr;
    for (const TracePtr& part : parts) {
        const ProbeSet& set = part->probes;
        if (set.positions.empty())
            continue;
        if (!set.rows)
            return not_parts(out, *part, "lists of the best tokens are joined only with nothing");
        if (first != nullptr &&
            (set.rows->type() != first->probes.rows->type() || set.n_vocab != first->probes.n_vocab))
            return not_parts(*first, *part, "their rows have another type or width");
        for (std::size_t i = 0; i < set.positions.size(); ++i)
            places.push_back({set.positions[i], static_cast<std::int64_t>(places.size())});
        first = first == nullptr ? part.get() : first;
        sources.push_back(set.rows);
    }
    if (first == nullptr)
        return {};
    out.probes = first->probes;
    out.probes.rows = formats::joined_rows(std::move(sources));
    out.probes.top1.clear(); // not all parts have them
    out.probes.lse.clear();
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.position < b.position; });
    out.probes.positions.clear();
    std::vector<std::int64_t> order;
    for (const Place& place : places) {
        if (!out.probes.positions.empty() && out.probes.positions.back() == place.position)
            return fail(ErrorKind::NotComparable,
                        "Two of the files hold a row for position {}: they are no parts of one run.", place.position);
        out.probes.positions.push_back(place.position);
        order.push_back(place.row);
    }
    ProbeSet ordered = out.probes; // keep_rows() picks positions, which are in order already
    keep_rows(ordered, order);
    out.probes.rows = ordered.rows;
    return {};
}

void merge_rest(const TracePtr& part, Trace& out)
{
    for (const auto& [key, value] : part->run) {
        const std::string* known = out.setting(key);
        if (known == nullptr)
            out.run.emplace_back(key, value);
        else if (*known != value)
            out.findings.push_back({Finding::Level::Warning, "settings-differ",
                                    fmt::format("The parts state {} differently; the first one's counts.", key)});
    }
    out.dense.insert(out.dense.end(), part->dense.begin(), part->dense.end());
    out.generations.insert(out.generations.end(), part->generations.begin(), part->generations.end());
    for (const Finding& finding : part->findings) {
        const bool known = std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& f) {
            return f.code == finding.code && f.text == finding.text;
        });
        if (!known)
            out.findings.push_back(finding);
    }
}

/// Groups of a file need names of their own.
void name_apart(Trace& out)
{
    std::stable_sort(out.generations.begin(), out.generations.end(),
                     [](const Generation& a, const Generation& b) { return a.prefix_tokens < b.prefix_tokens; });
    for (std::size_t i = 0; i < out.generations.size(); ++i)
        out.generations[i].group = fmt::format("{}", i);
    std::set<std::string> taken;
    for (ProbeSet& set : out.dense) {
        const std::string name = set.name;
        for (int n = 2; !taken.insert(set.name).second; ++n)
            set.name = fmt::format("{} ({})", name, n);
    }
    std::sort(out.dense.begin(), out.dense.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    std::sort(out.run.begin(), out.run.end());
}

} // namespace

Result<Trace> merge_traces(std::span<const TracePtr> parts)
{
    if (parts.empty())
        return fail(ErrorKind::Usage, "There is nothing to import.");
    Trace out = *parts.front();
    if (parts.size() == 1)
        return out;
    if (auto ok = merge_tokens(parts, out); !ok)
        return tl::unexpected(ok.error());
    if (auto ok = merge_probes(parts, out); !ok)
        return tl::unexpected(ok.error());
    for (const TracePtr& part : parts.subspan(1))
        merge_rest(part, out);
    name_apart(out);
    out.content_key = content_key_of(out);
    return out;
}

} // namespace flipscope
