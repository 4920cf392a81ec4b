// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/read_parts.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace flipscope::reading {

namespace {

constexpr std::uint64_t max_spans = 1'000'000;

/// A text member of the records: where it stands in memory, and how.
struct TextMember {
    std::optional<h5::TextReader> reader; ///< nothing where the records have no such member
    std::size_t offset = 0;

    Result<std::string> of(const char* record, const h5::File& file) const
    {
        return reader ? reader->text(record + offset, file) : Result<std::string>();
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

Result<void> add_text(const h5::Dataset& d, const h5::File& file, const char* name, TextMember& member,
                      std::size_t& size)
{
    const std::string& path = d.path;
    const h5::Handle type = member_type(d.type.id(), name);
    if (!type)
        return {}; // the word is optional
    if (H5Tget_class(type.id()) != H5T_STRING)
        return fail(ErrorKind::BadFormat, "the member \"{}\" of {} is no text", name, path);
    auto reader = h5::TextReader::of(type.id(), file);
    if (!reader)
        return fail(reader.error().kind, "{}: {}", path, reader.error().message);
    member.offset = size;
    size += reader->size();
    member.reader = std::move(*reader);
    return {};
}

Result<RecordLayout> record_layout(const h5::Dataset& d, const h5::File& file)
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
        if (auto ok = add_text(d, file, name, *member, layout.size); !ok)
            return tl::unexpected(ok.error());
    layout.type = h5::Handle(H5Tcreate(H5T_COMPOUND, layout.size));
    H5Tinsert(layout.type.id(), "start", 0, H5T_NATIVE_INT64);
    H5Tinsert(layout.type.id(), "end", sizeof(std::int64_t), H5T_NATIVE_INT64);
    for (auto [name, member] : {std::pair("kind", &layout.kind), std::pair("label", &layout.label)})
        if (member->reader)
            H5Tinsert(layout.type.id(), name, member->offset, member->reader->memory_type());
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
    const auto layout = record_layout(*d, *root.file);
    if (!layout)
        return tl::unexpected(layout.error());
    std::vector<Span> out;
    if (d->elements == 0)
        return out;
    if (layout->size > (1ull << 30) / d->elements)
        return fail(ErrorKind::Unsupported, "{} needs more than a gigabyte", d->path);
    std::vector<char> records(d->elements * layout->size);
    if (H5Dread(d->id.id(), layout->type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, records.data()) < 0)
        return fail(ErrorKind::BadFormat, "{} cannot be read: {}", d->path, h5::last_error());
    for (std::uint64_t i = 0; i < d->elements; ++i) {
        const char* record = records.data() + i * layout->size;
        auto kind = layout->kind.of(record, *root.file), label = layout->label.of(record, *root.file);
        if (!kind || !label)
            return fail(ErrorKind::BadFormat, "{}: {}", d->path, (kind ? label : kind).error().message);
        Span span;
        std::memcpy(&span.start, record, sizeof span.start);
        std::memcpy(&span.end, record + sizeof span.start, sizeof span.end);
        span.kind = std::move(*kind);
        span.label = std::move(*label);
        out.push_back(std::move(span));
    }
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
