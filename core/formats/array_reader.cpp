// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/array_reader.h"

#include "core/formats/array_trace.h"
#include "core/formats/finish.h"
#include "core/formats/npy.h"
#include "core/formats/npz.h"
#include "core/formats/safetensors.h"
#include "core/trace/hdf5.h"

namespace flipscope {

namespace {

Result<TracePtr> open_npy(const TraceFile& from, const OpenHints& hints, const Job& job)
{
    const auto bytes = formats::open_bytes(from.content, from.path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    auto array = formats::parse_npy(*bytes, {}, h5::one_line(from.path.string()));
    if (!array)
        return tl::unexpected(array.error());
    return formats::trace_of({"NumPy array (.npy)", {std::move(*array)}, {}}, from, hints, job);
}

Result<TracePtr> open_npz(const TraceFile& from, const OpenHints& hints, const Job& job)
{
    auto arrays = formats::read_npz(from.content, from.path, job);
    if (!arrays)
        return tl::unexpected(arrays.error());
    return formats::trace_of({"NumPy archive (.npz)", std::move(*arrays), {}}, from, hints, job);
}

Result<TracePtr> open_safetensors(const TraceFile& from, const OpenHints& hints, const Job& job)
{
    const auto bytes = formats::open_bytes(from.content, from.path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    auto read = formats::read_safetensors(*bytes, h5::one_line(from.path.string()));
    if (!read)
        return tl::unexpected(read.error());
    return formats::trace_of({"safetensors file", std::move(read->tensors), std::move(read->metadata)}, from, hints,
                             job);
}

template <class Open>
auto guarded(Open open)
{
    return [open](const TraceFile& from, const OpenHints& hints, const Job& job) {
        return formats::guarded(from, [&] { return open(from, hints, job); });
    };
}

} // namespace

TraceReader npy_reader()
{
    return {"NumPy array (.npy)",
            [](const std::filesystem::path&, std::string_view head) { return head.starts_with(formats::npy_magic); },
            guarded(open_npy)};
}

TraceReader npz_reader()
{
    return {"NumPy archive (.npz)",
            [](const std::filesystem::path&, std::string_view head) {
                return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06");
            },
            guarded(open_npz)};
}

TraceReader safetensors_reader()
{
    return {"safetensors file",
            [](const std::filesystem::path&, std::string_view head) { return formats::is_safetensors(head); },
            guarded(open_safetensors)};
}

} // namespace flipscope
