// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/read_parts.h"

#include <algorithm>

namespace flipscope::reading {

namespace {

constexpr std::uint64_t max_tokens = 1ull << 27; ///< a hundred times the longest contexts there are
constexpr std::uint64_t max_text = 1ull << 30;

} // namespace

Result<ByteStrings> read_byte_strings(const h5::Group& group, std::uint64_t count)
{
    const auto offsets = h5::read_integers(group, "offsets", max_tokens);
    if (!offsets)
        return tl::unexpected(offsets.error());
    auto bytes = h5::read_bytes(group, "bytes", max_text);
    if (!bytes)
        return tl::unexpected(bytes.error());
    const std::string path = group.path_of("offsets");
    if (offsets->size() != count + 1)
        return fail(ErrorKind::BadFormat, "{} has {} entries, where {} are needed (one more than there are ids)", path,
                    offsets->size(), count + 1);
    ByteStrings out;
    out.offsets.reserve(offsets->size());
    std::int64_t last = 0;
    for (std::size_t i = 0; i < offsets->size(); ++i) {
        const std::int64_t offset = (*offsets)[i];
        if (offset < last || static_cast<std::uint64_t>(offset) > bytes->size())
            return fail(ErrorKind::BadFormat, "{} holds {} at index {}, outside of {} to {}", path, offset, i, last,
                        bytes->size());
        out.offsets.push_back(static_cast<std::uint64_t>(offset));
        last = offset;
    }
    out.bytes = std::move(*bytes);
    return out;
}

Result<void> read_tokens(Source& source, const h5::Group& root, Trace& trace)
{
    const auto group = h5::open_group(root, "tokens");
    if (!group)
        return tl::unexpected(group.error());
    auto ids = h5::read_int32(*group, "ids", max_tokens);
    if (!ids)
        return tl::unexpected(ids.error());
    trace.tokens.ids = std::move(*ids);

    const auto attributes = source.note_attributes(group->id.id(), group->path, trace.findings);
    trace.tokens.tokenizer = attributes.text("tokenizer");
    trace.tokens.chat_template_sha256 = attributes.text("chat_template_sha256");
    trace.tokens.prompt_sha256 = attributes.text("prompt_sha256");
    if (const h5::Attribute* from = attributes.find("generated_from"); from != nullptr && from->integer)
        trace.generated_from = std::max<std::int64_t>(-1, *from->integer);
    if (!h5::has(*group, "bytes") && !h5::has(*group, "offsets"))
        return {};
    if (auto text = read_byte_strings(*group, trace.tokens.ids.size()))
        trace.tokens.text = std::move(*text);
    else
        leave_out(trace.findings, "The text of the tokens is", text.error());
    return {};
}

namespace {

/// The texts of some ids only; the others are empty.
Result<std::shared_ptr<const Vocabulary>> read_some_texts(const h5::Group& group, std::uint64_t count)
{
    constexpr std::int32_t most_ids = 1 << 22;
    const auto ids = h5::read_int32(group, "ids", most_ids);
    if (!ids)
        return tl::unexpected(ids.error());
    if (ids->size() != count)
        return fail(ErrorKind::BadFormat, "{} has {} entries for {} texts", group.path_of("ids"), ids->size(), count);
    const auto text = read_byte_strings(group, count);
    if (!text)
        return tl::unexpected(text.error());
    std::int32_t last = -1;
    for (const std::int32_t id : *ids) {
        if (id <= last || id >= most_ids)
            return fail(ErrorKind::BadFormat, "{} holds {} after {}: increasing ids below {} are wanted",
                        group.path_of("ids"), id, last, most_ids);
        last = id;
    }
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->text.offsets.reserve(static_cast<std::size_t>(last) + 2);
    vocabulary->text.offsets.push_back(0);
    for (std::size_t i = 0; i < ids->size(); ++i) {
        vocabulary->text.offsets.resize(static_cast<std::size_t>((*ids)[i]) + 1, vocabulary->text.bytes.size());
        vocabulary->text.bytes += (*text)[i];
        vocabulary->text.offsets.push_back(vocabulary->text.bytes.size());
    }
    return vocabulary;
}

} // namespace

void read_vocabulary(Source& source, const h5::Group& root, Trace& trace)
{
    if (!h5::has(root, "vocab"))
        return;
    const auto read = [&]() -> Result<std::shared_ptr<const Vocabulary>> {
        const auto group = h5::open_group(root, "vocab");
        if (!group)
            return tl::unexpected(group.error());
        source.note_attributes(group->id.id(), group->path, trace.findings);
        const auto offsets = h5::open_dataset(*group, "offsets");
        if (!offsets)
            return tl::unexpected(offsets.error());
        if (offsets->elements == 0)
            return fail(ErrorKind::BadFormat, "{} is empty", offsets->path);
        if (h5::has(*group, "ids"))
            return read_some_texts(*group, offsets->elements - 1);
        auto text = read_byte_strings(*group, offsets->elements - 1);
        if (!text)
            return tl::unexpected(text.error());
        auto vocabulary = std::make_shared<Vocabulary>();
        vocabulary->text = std::move(*text);
        if (!h5::has(*group, "special"))
            return vocabulary;
        auto special = h5::read_int32(*group, "special", vocabulary->text.size());
        if (!special) {
            leave_out(trace.findings, "The list of special tokens is", special.error());
            return vocabulary;
        }
        std::erase_if(*special, [&](std::int32_t id) {
            return id < 0 || static_cast<std::size_t>(id) >= vocabulary->text.size();
        });
        vocabulary->special = std::move(*special);
        return vocabulary;
    };
    if (auto vocabulary = read())
        trace.vocabulary = std::move(*vocabulary);
    else
        leave_out(trace.findings, "The vocabulary is", vocabulary.error());
}

} // namespace flipscope::reading
