// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/writer.h"

#include "core/base/file.h"
#include "core/trace/hdf5_write.h"
#include "core/trace/write_summary.h"

#include <array>
#include <ctime>

namespace flipscope {

namespace {

using h5::Handle;

constexpr std::int64_t block_bytes = 8 << 20; ///< rows copied at a time

/// Runs steps in order until one fails.
template <class... Step>
Result<void> in_order(Step... step)
{
    Result<void> result;
    (void)((result = step(), result.has_value()) && ...);
    return result;
}

template <class T>
Result<void> write_list(hid_t group, const char* name, hid_t type, const std::vector<T>& values)
{
    return h5::write_dataset(group, name, type, {static_cast<hsize_t>(values.size())}, values.data());
}

Result<void> write_byte_strings(hid_t group, const ByteStrings& strings)
{
    if (strings.empty())
        return {};
    return in_order(
        [&] {
            return h5::write_dataset(group, "bytes", H5T_NATIVE_UINT8, {static_cast<hsize_t>(strings.bytes.size())},
                                     strings.bytes.data());
        },
        [&] { return write_list(group, "offsets", H5T_NATIVE_UINT64, strings.offsets); });
}

std::string now()
{
    const std::time_t t = std::time(nullptr);
    std::tm utc = {};
    ::gmtime_r(&t, &utc);
    std::array<char, 32> text = {};
    const std::size_t n = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S+00:00", &utc);
    return {text.data(), n};
}

Result<void> write_identity(hid_t file, const Trace& t)
{
    const int version = 1;
    return in_order([&] { return h5::write_text_attribute(file, "format", "flipscope-trace"); },
                    [&] { return h5::write_integer_attribute(file, "format_version", version); },
                    [&] { return h5::write_text_attribute(file, "created", t.created.empty() ? now() : t.created); },
                    [&] { return h5::write_text_attribute(file, "producer", t.producer); },
                    [&] { return h5::write_text_attribute(file, "run_name", t.run_name); });
}

Result<void> write_tokens(hid_t file, const TokenHistory& tokens, std::int64_t generated_from)
{
    const auto group = h5::create_group(file, "tokens");
    if (!group)
        return tl::unexpected(group.error());
    const hid_t id = group->id();
    return in_order([&] { return write_list(id, "ids", H5T_NATIVE_INT32, tokens.ids); },
                    [&] { return write_byte_strings(id, tokens.text); },
                    [&] { return h5::write_text_attribute(id, "tokenizer", tokens.tokenizer); },
                    [&] { return h5::write_text_attribute(id, "chat_template_sha256", tokens.chat_template_sha256); },
                    [&] { return h5::write_text_attribute(id, "prompt_sha256", tokens.prompt_sha256); },
                    [&] {
                        return generated_from < 0 ? Result<void>()
                                                  : h5::write_integer_attribute(id, "generated_from", generated_from);
                    });
}

/// A vocabulary with many empty places (made from the lists of an answer or of a summary) as its ids and their texts.
Result<void> write_some_texts(hid_t group, const Vocabulary& vocabulary)
{
    std::vector<std::int32_t> ids;
    ByteStrings text;
    text.offsets.push_back(0);
    for (std::size_t i = 0; i < vocabulary.text.size(); ++i) {
        if (vocabulary.text[i].empty())
            continue;
        ids.push_back(static_cast<std::int32_t>(i));
        text.bytes += vocabulary.text[i];
        text.offsets.push_back(text.bytes.size());
    }
    return in_order([&] { return write_list(group, "ids", H5T_NATIVE_INT32, ids); },
                    [&] { return write_byte_strings(group, text); },
                    [&] { return write_list(group, "special", H5T_NATIVE_INT32, vocabulary.special); });
}

bool mostly_empty(const Vocabulary& vocabulary)
{
    std::size_t empty = 0;
    for (std::size_t i = 0; i < vocabulary.text.size(); ++i)
        empty += vocabulary.text[i].empty() ? 1 : 0;
    return empty > vocabulary.text.size() / 2;
}

Result<void> write_vocabulary(hid_t file, const Vocabulary& vocabulary)
{
    const auto group = h5::create_group(file, "vocab");
    if (!group)
        return tl::unexpected(group.error());
    if (mostly_empty(vocabulary))
        return write_some_texts(group->id(), vocabulary);
    return in_order([&] { return write_byte_strings(group->id(), vocabulary.text); },
                    [&] { return write_list(group->id(), "special", H5T_NATIVE_INT32, vocabulary.special); });
}

Result<void> write_spans(hid_t file, const std::vector<Span>& spans)
{
    if (spans.empty())
        return {};
    struct Record {
        std::int64_t start, end;
        const char *kind, *label;
    };
    std::vector<Record> records;
    records.reserve(spans.size());
    for (const auto& span : spans)
        records.push_back({span.start, span.end, span.kind.c_str(), span.label.c_str()});
    const h5::Session session;
    const Handle text = h5::utf8_type();
    const Handle type(H5Tcreate(H5T_COMPOUND, sizeof(Record)));
    H5Tinsert(type.id(), "start", offsetof(Record, start), H5T_NATIVE_INT64);
    H5Tinsert(type.id(), "end", offsetof(Record, end), H5T_NATIVE_INT64);
    H5Tinsert(type.id(), "kind", offsetof(Record, kind), text.id());
    H5Tinsert(type.id(), "label", offsetof(Record, label), text.id());
    return write_list(file, "spans", type.id(), records);
}

Result<void> write_run(hid_t file, const Trace& t)
{
    if (t.run.empty() && t.packages.empty() && t.launch_log.empty())
        return {};
    const auto group = h5::create_group(file, "run");
    if (!group)
        return tl::unexpected(group.error());
    for (const auto& [key, value] : t.run)
        if (auto ok = h5::write_text_attribute(group->id(), key.c_str(), value); !ok)
            return ok;
    if (!t.packages.empty())
        if (auto ok = h5::write_text_dataset(group->id(), "packages", t.packages, false); !ok)
            return ok;
    return t.launch_log.empty() ? Result<void>()
                                : h5::write_text_dataset(group->id(), "launch_log", {t.launch_log}, true);
}

/// The dataset for the rows, empty. Chunks of one row each: a row is then one read, and can be compressed alone.
Result<Handle> create_rows(hid_t group, const RowSource& rows, const WriteOptions& options)
{
    const h5::Session session;
    const std::array<hsize_t, 2> dims = {static_cast<hsize_t>(rows.rows()), static_cast<hsize_t>(rows.columns())};
    const std::array<hsize_t, 2> chunk = {1, dims[1]};
    const Handle space(H5Screate_simple(2, dims.data(), nullptr));
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_obj_track_times(creation.id(), false);
    if (!options.contiguous && dims[0] > 0)
        H5Pset_chunk(creation.id(), 2, chunk.data());
    if (options.compression > 0 && dims[0] > 0) {
        H5Pset_shuffle(creation.id());
        H5Pset_deflate(creation.id(), static_cast<unsigned>(options.compression));
    }
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS));
    H5Pset_chunk_cache(access.id(), 1, 0, 1.0); // each chunk is written once, whole
    Handle dataset(H5Dcreate2(group, "logits", h5::stored_type(rows.type()).id(), space.id(), H5P_DEFAULT,
                              creation.id(), access.id()));
    if (!dataset)
        return fail(ErrorKind::Unreadable, "the dataset \"logits\" could not be made: {}", h5::last_error());
    return dataset;
}

Result<void> write_block(const Handle& dataset, const RowSource& rows, std::int64_t first, std::int64_t count,
                         const std::byte* data)
{
    const h5::Session session;
    const std::array<hsize_t, 2> start = {static_cast<hsize_t>(first), 0};
    const std::array<hsize_t, 2> size = {static_cast<hsize_t>(count), static_cast<hsize_t>(rows.columns())};
    const Handle stored(H5Dget_space(dataset.id()));
    const Handle memory(H5Screate_simple(2, size.data(), nullptr));
    const Handle type(H5Dget_type(dataset.id()));
    if (H5Sselect_hyperslab(stored.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0 ||
        H5Dwrite(dataset.id(), type.id(), memory.id(), stored.id(), H5P_DEFAULT, data) < 0)
        return fail(ErrorKind::Unreadable, "rows {} to {} could not be written: {}", first, first + count - 1,
                    h5::last_error());
    return {};
}

Result<void> write_rows(hid_t group, const RowSource& rows, const WriteOptions& options)
{
    const auto dataset = create_rows(group, rows, options);
    if (!dataset)
        return tl::unexpected(dataset.error());
    const std::int64_t at_once = std::max<std::int64_t>(1, block_bytes / std::max<std::int64_t>(1, rows.row_bytes()));
    std::vector<std::byte> block(static_cast<std::size_t>(std::min(at_once, rows.rows()) * rows.row_bytes()));
    for (std::int64_t first = 0; first < rows.rows(); first += at_once) {
        const std::int64_t count = std::min(at_once, rows.rows() - first);
        if (auto ok = rows.read(first, count, block); !ok)
            return ok;
        if (auto ok = write_block(*dataset, rows, first, count, block.data()); !ok)
            return ok;
    }
    return {};
}

Result<void> write_lists(hid_t group, const TopKSource& lists)
{
    const auto n = static_cast<std::size_t>(lists.rows() * lists.k());
    std::vector<std::int32_t> ids(n);
    std::vector<float> logprobs(n);
    if (auto ok = lists.read(0, lists.rows(), ids, logprobs); !ok)
        return ok;
    const std::vector<hsize_t> dims = {static_cast<hsize_t>(lists.rows()), static_cast<hsize_t>(lists.k())};
    return in_order([&] { return h5::write_dataset(group, "top_ids", H5T_NATIVE_INT32, dims, ids.data()); },
                    [&] { return h5::write_dataset(group, "top_logprobs", H5T_NATIVE_FLOAT, dims, logprobs.data()); });
}

Result<void> write_probe_attributes(hid_t group, const ProbeSet& set)
{
    const bool full = set.kind == ProbeSet::Kind::Full;
    if (auto ok = h5::write_text_attribute(group, "kind", full ? "full" : "topk"); !ok)
        return ok;
    if (set.n_vocab > 0)
        if (auto ok = h5::write_integer_attribute(group, "n_vocab", set.n_vocab); !ok)
            return ok;
    if (set.temperature)
        if (auto ok = h5::write_real_attribute(group, "temperature", *set.temperature); !ok)
            return ok;
    return in_order([&] { return h5::write_text_attribute(group, "scoring", set.scoring); },
                    [&] { return h5::write_text_attribute(group, "values", set.values); });
}

Result<void> write_probes(hid_t parent, const std::string& name, const ProbeSet& set, const WriteOptions& options)
{
    const std::int64_t rows = set.rows ? set.rows->rows() : set.lists ? set.lists->rows() : 0;
    if (rows != set.size())
        return fail(ErrorKind::Usage, "\"{}\" has {} rows for {} positions", h5::one_line(name, 60), rows, set.size());
    const auto group = h5::create_group(parent, name);
    if (!group)
        return tl::unexpected(group.error());
    const hid_t id = group->id();
    return in_order(
        [&] { return write_probe_attributes(id, set); },
        [&] { return write_list(id, "positions", H5T_NATIVE_INT64, set.positions); },
        [&] { return set.rows ? write_rows(id, *set.rows, options) : Result<void>(); },
        [&] { return set.lists ? write_lists(id, *set.lists) : Result<void>(); },
        [&] { return set.top1.empty() ? Result<void>() : write_list(id, "top1", H5T_NATIVE_INT32, set.top1); },
        [&] { return set.lse.empty() ? Result<void>() : write_list(id, "lse", H5T_NATIVE_DOUBLE, set.lse); });
}

Result<void> write_dense(hid_t file, const Trace& t, const WriteOptions& options)
{
    if (t.dense.empty() || !options.with_dense)
        return {};
    const auto parent = h5::create_group(file, "dense");
    if (!parent)
        return tl::unexpected(parent.error());
    for (const auto& set : t.dense)
        if (auto ok = write_probes(parent->id(), set.name, set, options); !ok)
            return ok;
    return {};
}

Result<void> write_generation(hid_t parent, const Generation& g)
{
    const auto group = h5::create_group(parent, g.group);
    if (!group)
        return tl::unexpected(group.error());
    const hid_t id = group->id();
    const std::vector<hsize_t> lists = {static_cast<hsize_t>(g.ids.size()), static_cast<hsize_t>(g.k)};
    const auto top_lists = [&]() -> Result<void> {
        if (g.top_ids.empty())
            return {};
        if (auto ok = h5::write_dataset(id, "top_ids", H5T_NATIVE_INT32, lists, g.top_ids.data()); !ok)
            return ok;
        return h5::write_dataset(id, "top_logprobs", H5T_NATIVE_FLOAT, lists, g.top_logprobs.data());
    };
    return in_order(
        [&] { return h5::write_integer_attribute(id, "prefix_tokens", g.prefix_tokens); },
        [&] { return h5::write_text_attribute(id, "sampler", g.sampler); },
        [&] { return h5::write_text_attribute(id, "finish_reason", g.finish_reason); },
        [&] { return h5::write_text_attribute(id, "parsed_tool_calls", g.parsed_tool_calls); },
        [&] { return write_list(id, "ids", H5T_NATIVE_INT32, g.ids); }, [&] { return write_byte_strings(id, g.text); },
        [&] { return g.fed.empty() ? Result<void>() : write_list(id, "fed", H5T_NATIVE_UINT8, g.fed); }, top_lists);
}

Result<void> write_generations(hid_t file, const std::vector<Generation>& generations)
{
    if (generations.empty())
        return {};
    const auto parent = h5::create_group(file, "generations");
    if (!parent)
        return tl::unexpected(parent.error());
    for (const auto& generation : generations)
        if (auto ok = write_generation(parent->id(), generation); !ok)
            return ok;
    return {};
}

Result<void> write_summarised(hid_t parent, const std::string& name, const Trace& run, const WriteOptions& options)
{
    const auto group = h5::create_group(parent, name);
    if (!group)
        return tl::unexpected(group.error());
    const hid_t id = group->id();
    return in_order([&] { return h5::write_text_attribute(id, "run_name", run.run_name); },
                    [&] { return h5::write_text_attribute(id, "created", run.created); },
                    [&] { return h5::write_text_attribute(id, "producer", run.producer); },
                    [&] { return h5::write_text_attribute(id, "key", run.summary_key); },
                    [&] { return write_run(id, run); },
                    [&] { return run.probes.lists ? write_probes(id, "probes", run.probes, options) : Result<void>(); },
                    [&] { return write_generations(id, run.generations); },
                    [&] { return run.metrics ? h5::write_metrics(id, *run.metrics) : Result<void>(); });
}

Result<void> write_summary(hid_t file, const Trace& t, const WriteOptions& options)
{
    const auto group = h5::create_group(file, "summary");
    if (!group)
        return tl::unexpected(group.error());
    const hid_t id = group->id();
    auto done = in_order([&] { return h5::write_integer_attribute(id, "version", 1); },
                         [&] { return h5::write_text_attribute(id, "key", t.summary_key); });
    for (std::size_t i = 0; done && i < t.others.size(); ++i)
        done = write_summarised(id, fmt::format("{}", i), *t.others[i], options);
    return done;
}

Result<Handle> create_file(const std::filesystem::path& path)
{
    const h5::Session session;
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    H5Pset_file_locking(access.id(), false, true); // nobody else knows the temporary name; network disks may not lock
#endif
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()));
    if (!file)
        return fail(ErrorKind::Unreadable, "the file could not be made: {}", h5::last_error());
    return file;
}

/// A full disk may show only now.
Result<void> close_file(Handle file)
{
    const h5::Session session;
    if (H5Fflush(file.id(), H5F_SCOPE_GLOBAL) < 0)
        return fail(ErrorKind::Unreadable, "the file could not be completed: {}", h5::last_error());
    return {};
}

Result<void> write_all(const std::filesystem::path& path, const Trace& t, const WriteOptions& options)
{
    auto file = create_file(path);
    if (!file)
        return tl::unexpected(file.error());
    const hid_t id = file->id();
    return in_order(
        [&] { return write_identity(id, t); }, [&] { return write_tokens(id, t.tokens, t.generated_from); },
        [&] { return t.vocabulary && options.with_vocabulary ? write_vocabulary(id, *t.vocabulary) : Result<void>(); },
        [&] { return write_spans(id, t.spans); }, [&] { return write_run(id, t); },
        [&] {
            return t.probes.rows || t.probes.lists ? write_probes(id, "probes", t.probes, options) : Result<void>();
        },
        [&] { return write_dense(id, t, options); }, [&] { return write_generations(id, t.generations); },
        [&] { return t.summary_key.empty() ? Result<void>() : write_summary(id, t, options); },
        [&] { return close_file(std::move(*file)); });
}

} // namespace

Result<void> write_trace(const std::filesystem::path& path, const Trace& trace, const WriteOptions& options)
{
    if (options.contiguous && options.compression > 0)
        return fail(ErrorKind::Usage, "{} cannot be written: rows in one block cannot be compressed.",
                    h5::one_line(path.string()));
    return write_atomically(path, [&](const std::filesystem::path& temporary) -> Result<void> {
        auto written = write_all(temporary, trace, options);
        if (written || written.error().message.ends_with('.')) // a source of rows speaks in whole sentences
            return written;
        return fail(written.error().kind, "{} cannot be written: {}.", h5::one_line(path.string()),
                    written.error().message);
    });
}

} // namespace flipscope
