// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/open.h"

#include "core/base/file.h"
#include "core/formats/answers/answers_reader.h"
#include "core/formats/array_reader.h"
#include "core/formats/kld_log.h"
#include "core/formats/llamacpp_base.h"
#include "core/formats/unpack.h"
#include "core/session/session_file.h"
#include "core/trace/flipscope_reader.h"
#include "core/trace/hdf5.h"
#include "core/trace/opened.h"

#include <fstream>

namespace flipscope {

namespace {

/// A printout holds totals only; say so instead of "of no kind that this version knows".
TraceReader kld_log_refuser()
{
    return {"Printout of llama-perplexity (totals only)",
            [](const std::filesystem::path& path, std::string_view) { return is_kld_log(path); },
            [](const TraceFile& file, const OpenHints&, const Job&) -> Result<TracePtr> {
                return fail(ErrorKind::Unsupported,
                            "{} is a printout of llama-perplexity, which holds totals and no rows: \"flipscope info\" "
                            "shows it; to compare, open the base files.",
                            h5::one_line(file.path.string()));
            }};
}

} // namespace

const std::vector<TraceReader>& readers()
{
    static const std::vector<TraceReader> list = {
        flipscope_reader(),   llamacpp_base_reader(), npy_reader(),      npz_reader(),
        safetensors_reader(), answers_reader(),       kld_log_refuser(),
    };
    return list;
}

namespace {

constexpr std::size_t head_bytes = 4096;

/// Empty where nothing can be read.
std::string head_of(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string head(head_bytes, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    return head;
}

const TraceReader* reader_for(const std::filesystem::path& content, std::string_view head)
{
    for (const auto& reader : readers())
        if (reader.recognises(content, head))
            return &reader;
    return nullptr;
}

constexpr const char* kinds = "a Flipscope trace is an HDF5 file; llama.cpp base files, NumPy arrays (.npy, .npz), "
                              "safetensors and the answers of "
                              "model servers (JSON) are read too";

/// Readers want to jump about in a file: what is packed is unpacked into a file without a name first.
Result<TracePtr> open_packed(const TraceFile& file, formats::Packing packing, const OpenHints& hints, const Job& job)
{
    const std::string name = h5::one_line(file.path.string());
    const std::string head = formats::unpacked_head(file.path, packing, head_bytes);
    if (head.empty() || reader_for(file.path, head) == nullptr)
        return fail(ErrorKind::BadFormat,
                    "{} is compressed, and what is in it is of no kind that this version knows ({}).", name, kinds);
    const auto content = formats::unpack(file.path, file.path, packing, job);
    if (!content)
        return tl::unexpected(content.error());
    return opened(reader_for(content->path(), head)->open({file.path, content->path(), file.stamp}, hints, job), hints);
}

} // namespace

Result<TracePtr> open_trace(const std::filesystem::path& path, const OpenHints& hints, const Job& job)
{
    const std::string name = h5::one_line(path.string());
    if (path.empty())
        return fail(ErrorKind::NotFound, "The name of a trace is empty; name a file.");
    const auto stamp = stamp_of(path);
    if (!stamp)
        return fail(stamp.error().kind, "{}", h5::one_line(stamp.error().message));
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return fail(ErrorKind::Unreadable, "{} is a folder; choose a trace file in it.", name);
    if (!std::filesystem::is_regular_file(path, error)) // reading a pipe could wait for ever
        return fail(ErrorKind::Unreadable, "{} is not a plain file.", name);
    if (stamp->size == 0) // not read: files of /proc claim to be empty, and some of them answer never
        return fail(ErrorKind::BadFormat, "{} is empty.", name);

    if (!std::ifstream(path, std::ios::binary))
        return fail(ErrorKind::Unreadable, "{} cannot be opened: permission denied or unreadable.", name);
    const std::string head = head_of(path);
    if (head.empty())
        return fail(ErrorKind::BadFormat, "{} is empty.", name);
    if (const auto packing = formats::packing_of(head); packing != formats::Packing::None)
        return open_packed({path, path, *stamp}, packing, hints, job);
    if (const auto* reader = reader_for(path, head))
        return opened(reader->open({path, path, *stamp}, hints, job), hints);
    if (is_session(path))
        return fail(ErrorKind::BadFormat,
                    "{} is a Flipscope session, not a trace: open it in the window (flipscope {}).", name, name);
    return fail(ErrorKind::BadFormat, "{} is not a trace: its content is of no kind that this version knows ({}).",
                name, kinds);
}

Result<TracePtr> open_trace(const std::filesystem::path& path, const Job& job)
{
    return open_trace(path, OpenHints{}, job);
}

bool looks_like_trace(const std::filesystem::path& path)
{
    std::error_code error;
    // Reading a pipe could wait for ever, and so could files of /proc, which claim to be empty.
    if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) == 0)
        return false;
    std::string head = head_of(path);
    if (const auto packing = formats::packing_of(head); packing != formats::Packing::None)
        head = formats::unpacked_head(path, packing, head_bytes);
    return !head.empty() && reader_for(path, head) != nullptr;
}

} // namespace flipscope
