// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/read_parts.h"

#include <algorithm>
#include <cstring>

namespace flipscope::reading {

namespace {

constexpr std::uint64_t max_spans = 1'000'000;

/// One string member of the compound: where it stands in a record in memory, and how.
struct TextMember {
    h5::Handle type;
    std::size_t offset = 0;
    std::size_t size = 0;
    bool variable = false;
    bool space_padded = false;

    std::string of(const char* record) const
    {
        if (!type)
            return {};
        if (variable) {
            const char* p = nullptr;
            std::memcpy(&p, record + offset, sizeof p);
            return p == nullptr ? std::string() : h5::valid_utf8(p);
        }
        std::string s(record + offset, size);
        s.resize(std::min(s.find('\0'), s.size()));
        if (space_padded)
            s.resize(s.find_last_not_of(' ') + 1);
        return h5::valid_utf8(s);
    }
};

struct RecordLayout {
    h5::Handle type;
    std::size_t size = 0;
    TextMember kind, label;
};

h5::Handle member_type(hid_t compound, const char* name)
{
    const int index = H5Tget_member_index(compound, name);
    return index < 0 ? h5::Handle() : h5::Handle(H5Tget_member_type(compound, static_cast<unsigned>(index)));
}

Result<void> add_text(hid_t stored, const char* name, const std::string& path, TextMember& member, std::size_t& size)
{
    const h5::Handle type = member_type(stored, name);
    if (!type)
        return {}; // the word is optional
    if (H5Tget_class(type.id()) != H5T_STRING)
        return fail(ErrorKind::BadFormat, "the member \"{}\" of {} is no text", name, path);
    member.type = h5::string_memory_type(type.id());
    member.variable = H5Tis_variable_str(type.id()) > 0;
    member.space_padded = H5Tget_strpad(type.id()) == H5T_STR_SPACEPAD;
    member.size = H5Tget_size(member.type.id());
    size = (size + 7) / 8 * 8; // pointers want their alignment
    member.offset = size;
    size += member.size;
    return {};
}

Result<RecordLayout> record_layout(const h5::Dataset& d)
{
    const hid_t stored = d.type.id();
    for (const char* name : {"start", "end"}) {
        const h5::Handle type = member_type(stored, name);
        if (!type || H5Tget_class(type.id()) != H5T_INTEGER || H5Tget_size(type.id()) > 8)
            return fail(ErrorKind::BadFormat, "{} has no whole number \"{}\"", d.path, name);
    }
    RecordLayout layout;
    layout.size = 2 * sizeof(std::int64_t);
    for (auto [name, member] : {std::pair("kind", &layout.kind), std::pair("label", &layout.label)})
        if (auto ok = add_text(stored, name, d.path, *member, layout.size); !ok)
            return tl::unexpected(ok.error());
    layout.size = (layout.size + 7) / 8 * 8;
    layout.type = h5::Handle(H5Tcreate(H5T_COMPOUND, layout.size));
    H5Tinsert(layout.type.id(), "start", 0, H5T_NATIVE_INT64);
    H5Tinsert(layout.type.id(), "end", sizeof(std::int64_t), H5T_NATIVE_INT64);
    for (auto [name, member] : {std::pair("kind", &layout.kind), std::pair("label", &layout.label)})
        if (member->type)
            H5Tinsert(layout.type.id(), name, member->offset, member->type.id());
    return layout;
}

Result<std::vector<Span>> read_records(const h5::Group& root)
{
    const auto d = h5::open_dataset(root, "spans");
    if (!d)
        return tl::unexpected(d.error());
    if (d->type_class != H5T_COMPOUND || d->dims.size() != 1 || d->elements > max_spans)
        return fail(ErrorKind::BadFormat, "{} is not a list of records with start, end, kind and label", d->path);
    if (auto ok = h5::check_readable(*d, *root.file); !ok)
        return tl::unexpected(ok.error());
    const auto layout = record_layout(*d);
    if (!layout)
        return tl::unexpected(layout.error());
    std::vector<Span> out;
    if (d->elements == 0)
        return out;
    if (layout->size > (1ull << 30) / d->elements)
        return fail(ErrorKind::Unsupported, "{} needs more than a gigabyte", d->path);
    std::vector<char> records(d->elements * layout->size);
    const hid_t type = layout->type.id();
    const bool ok = H5Dread(d->id.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, records.data()) >= 0;
    const std::string failed = ok ? std::string() : h5::last_error();
    for (std::uint64_t i = 0; ok && i < d->elements; ++i) {
        const char* record = records.data() + i * layout->size;
        Span span;
        std::memcpy(&span.start, record, sizeof span.start);
        std::memcpy(&span.end, record + sizeof span.start, sizeof span.end);
        span.kind = layout->kind.of(record);
        span.label = layout->label.of(record);
        out.push_back(std::move(span));
    }
    const h5::Handle space(H5Dget_space(d->id.id()));
    H5Dvlen_reclaim(type, space.id(), H5P_DEFAULT, records.data());
    if (!ok)
        return fail(ErrorKind::BadFormat, "{} cannot be read: {}", d->path, failed);
    return out;
}

} // namespace

void read_spans(Source&, const h5::Group& root, Trace& trace)
{
    if (!h5::has(root, "spans"))
        return;
    auto spans = read_records(root);
    if (!spans)
        return leave_out(trace.findings, "The segments of the history are", spans.error());
    const auto n_tokens = static_cast<std::int64_t>(trace.tokens.ids.size());
    const auto dropped =
        std::erase_if(*spans, [&](const Span& s) { return s.start < 0 || s.end < s.start || s.end > n_tokens; });
    if (dropped > 0)
        trace.findings.push_back(
            {Finding::Level::Warning, "left-out",
             fmt::format("{} of the segments in /spans {} left out: {} outside of the {} tokens of "
                         "the history.",
                         dropped, dropped == 1 ? "is" : "are", dropped == 1 ? "it lies" : "they lie", n_tokens)});
    std::stable_sort(spans->begin(), spans->end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    trace.spans = std::move(*spans);
}

} // namespace flipscope::reading
