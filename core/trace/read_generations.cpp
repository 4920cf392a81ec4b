// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/logit_encoding.h"
#include "core/trace/read_parts.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace flipscope::reading {

namespace {

constexpr std::size_t max_generations = 100'000;
constexpr std::uint64_t max_generated = 1ull << 24; ///< tokens of one continuation
constexpr std::uint64_t max_entries = 1ull << 27;   ///< of its top lists

void read_text(const h5::Group& group, Generation& g, Findings& findings)
{
    if (!h5::has(group, "bytes") && !h5::has(group, "offsets"))
        return;
    if (auto text = read_byte_strings(group, g.ids.size()))
        g.text = std::move(*text);
    else
        leave_out(findings, fmt::format("The text of continuation {} is", h5::one_line(g.group, 40)), text.error());
}

Result<void> read_top_lists(const h5::Group& group, Generation& g)
{
    const auto d = h5::open_dataset(group, "top_ids");
    if (!d)
        return tl::unexpected(d.error());
    if (d->dims.size() != 2 || d->dims[0] != g.ids.size() || d->dims[1] == 0)
        return fail(ErrorKind::BadFormat, "{} ({}) has no row for each of {} ids", d->path, d->shape(), g.ids.size());
    if (auto ok = h5::check_readable(*d, *group.file); !ok)
        return ok;
    const auto ids = h5::read_all_integers(*d, max_entries);
    if (!ids)
        return tl::unexpected(ids.error());
    const auto logprobs = h5::read_reals(group, "top_logprobs", max_entries);
    if (!logprobs)
        return tl::unexpected(logprobs.error());
    if (logprobs->size() != ids->size())
        return fail(ErrorKind::BadFormat, "{} has {} entries, {} has {}", d->path, ids->size(),
                    group.path_of("top_logprobs"), logprobs->size());
    for (const std::int64_t id : *ids)
        if (id < -1 || !std::in_range<std::int32_t>(id))
            return fail(ErrorKind::BadFormat, "{} holds {}, which is no id", d->path, id);
    g.k = static_cast<std::int64_t>(d->dims[1]);
    g.top_ids.assign(ids->begin(), ids->end());
    g.top_logprobs.assign(logprobs->begin(), logprobs->end());
    return {};
}

void read_optional(const h5::Group& group, Generation& g, Findings& findings)
{
    const std::string name = h5::one_line(g.group, 40);
    read_text(group, g, findings);
    if (h5::has(group, "fed")) {
        const auto fed = h5::read_integers(group, "fed", max_generated);
        if (!fed)
            leave_out(findings, fmt::format("The mark of fed tokens in continuation {} is", name), fed.error());
        else if (fed->size() != g.ids.size())
            leave_out(findings, fmt::format("The mark of fed tokens in continuation {} is", name),
                      {ErrorKind::BadFormat, fmt::format("it has {} entries for {} ids", fed->size(), g.ids.size())});
        else
            for (const std::int64_t f : *fed)
                g.fed.push_back(f != 0 ? 1 : 0);
    }
    if (h5::has(group, "top_ids") || h5::has(group, "top_logprobs"))
        if (auto ok = read_top_lists(group, g); !ok)
            leave_out(findings, fmt::format("The top lists of continuation {} are", name), ok.error());
}

Result<Generation> read_generation(Source& source, const h5::Group& parent, const std::string& name, Trace& trace)
{
    const auto group = h5::open_group(parent, name);
    if (!group)
        return tl::unexpected(group.error());
    Generation g;
    g.group = h5::valid_utf8(name);
    const auto attributes = source.note_attributes(group->id.id(), group->path, trace.findings);
    const h5::Attribute* prefix = attributes.find("prefix_tokens");
    if (prefix == nullptr || !prefix->integer)
        return fail(ErrorKind::BadFormat, "{} does not state prefix_tokens as a whole number", group->path);
    g.prefix_tokens = *prefix->integer;
    if (g.prefix_tokens < 0 || g.prefix_tokens > static_cast<std::int64_t>(trace.tokens.ids.size()))
        return fail(ErrorKind::BadFormat, "{} starts at token {}, outside of the history of {}", group->path,
                    g.prefix_tokens, trace.tokens.ids.size());
    auto ids = h5::read_int32(*group, "ids", max_generated);
    if (!ids)
        return tl::unexpected(ids.error());
    g.ids = std::move(*ids);
    g.sampler = attributes.text("sampler");
    g.finish_reason = attributes.text("finish_reason");
    g.parsed_tool_calls = attributes.text("parsed_tool_calls");
    read_optional(*group, g, trace.findings);
    return g;
}

/// Group names are numbers by custom: "10" stands behind "9".
std::tuple<std::int64_t, std::uint64_t, const std::string&> order_of(const Generation& g)
{
    std::uint64_t number = ~std::uint64_t{0};
    std::from_chars(g.group.data(), g.group.data() + g.group.size(), number);
    return {g.prefix_tokens, number, g.group};
}

} // namespace

Result<void> read_generations(Source& source, const h5::Group& root, Trace& trace)
{
    if (!h5::has(root, "generations"))
        return {};
    const auto parent = h5::open_group(root, "generations");
    const auto names = parent ? h5::children(*parent, max_generations)
                              : Result<std::vector<std::string>>(tl::unexpected(parent.error()));
    if (!names) {
        leave_out(trace.findings, "The continuations are", names.error());
        return {};
    }
    source.note_attributes(parent->id.id(), parent->path, trace.findings);
    std::size_t broken = 0;
    std::string first_reason;
    for (std::size_t i = 0; i < names->size(); ++i) {
        if (source.job.cancelled())
            return cancelled();
        if (i % 64 == 0)
            source.job.progress({"Reading the continuations", static_cast<std::int64_t>(i),
                                 static_cast<std::int64_t>(names->size()), false});
        auto generation = read_generation(source, *parent, (*names)[i], trace);
        if (generation)
            trace.generations.push_back(std::move(*generation));
        else if (broken++ == 0)
            first_reason = generation.error().message;
    }
    if (broken > 0) // one sentence, however many there are
        leave_out(trace.findings,
                  fmt::format("{} of {} continuations {}", broken, names->size(), broken == 1 ? "is" : "are"),
                  {ErrorKind::BadFormat, first_reason});
    std::sort(trace.generations.begin(), trace.generations.end(),
              [](const Generation& a, const Generation& b) { return order_of(a) < order_of(b); });
    return {};
}

} // namespace flipscope::reading
