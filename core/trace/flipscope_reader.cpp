// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/flipscope_reader.h"

#include "core/formats/llamacpp_base.h"
#include "core/trace/content_key.h"
#include "core/trace/read_parts.h"
#include "core/trace/trial.h"

#include <cctype>
#include <fstream>
#include <new>

namespace flipscope {

namespace reading {

h5::Attributes Source::note_attributes(hid_t object, const std::string& path, Findings& findings)
{
    auto read = h5::read_attributes(*file, object, path);
    if (!read) {
        findings.push_back({Finding::Level::Warning, "left-out", read.error().message + "."});
        return {};
    }
    for (const auto& a : read->all())
        attributes += fmt::format("{}\1{}\1{}\2", path, a.name, a.text);
    return std::move(*read);
}

void leave_out(Findings& findings, const std::string& what, const Error& reason)
{
    findings.push_back({Finding::Level::Warning, "left-out", fmt::format("{} left out: {}.", what, reason.message)});
}

} // namespace reading

namespace {

constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";

/// The signature stands at the start, or behind a user block, whose size is a power of two from 512 on.
bool is_hdf5(const std::filesystem::path& path, std::string_view head)
{
    if (head.starts_with(signature))
        return true;
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const auto size = static_cast<std::int64_t>(in.tellg());
    for (std::int64_t at = 512; at + 8 <= size; at *= 2) {
        char found[8] = {};
        in.seekg(at);
        if (!in.read(found, sizeof found))
            return false;
        if (std::string_view(found, sizeof found) == signature)
            return true;
    }
    return false;
}

Result<void> check_identity(const h5::Attributes& root)
{
    const std::string format = root.text("format");
    if (format.empty())
        return fail(ErrorKind::BadFormat, "is an HDF5 file but no trace: its root has no attribute \"format\"");
    if (format != "flipscope-trace")
        return fail(ErrorKind::BadFormat,
                    "is an HDF5 file but no trace: its format is \"{}\", where \"flipscope-trace\" is expected",
                    h5::one_line(format, 60));
    const h5::Attribute* version = root.find("format_version");
    if (version == nullptr || !version->integer)
        return fail(ErrorKind::BadFormat, "does not state its format_version as a number");
    if (*version->integer > 1)
        return fail(ErrorKind::Unsupported,
                    "was written for version {} of the trace format, this program reads "
                    "version 1; a newer Flipscope is needed",
                    *version->integer);
    if (*version->integer < 1)
        return fail(ErrorKind::BadFormat, "states format_version {}, which does not exist", *version->integer);
    return {};
}

Result<void> read_all(reading::Source& source, Trace& trace)
{
    auto root = h5::open_root(*source.file);
    if (!root)
        return tl::unexpected(root.error());
    const auto attributes = source.note_attributes(root->id.id(), "", trace.findings);
    if (auto ok = check_identity(attributes); !ok)
        return ok;
    trace.format = "flipscope-trace 1";
    trace.created = attributes.text("created");
    trace.producer = attributes.text("producer");
    trace.run_name = attributes.text("run_name");
    if (trace.run_name.empty())
        trace.run_name = h5::one_line(trace.path.stem().string());

    if (auto ok = reading::read_tokens(source, *root, trace); !ok)
        return ok;
    if (auto ok = reading::read_probes(source, *root, trace); !ok)
        return ok;
    reading::read_vocabulary(source, *root, trace);
    reading::read_spans(source, *root, trace);
    reading::read_run(source, *root, trace);
    reading::read_dense(source, *root, trace);
    if (auto ok = reading::read_generations(source, *root, trace); !ok)
        return ok;
    if (auto ok = reading::read_summary(source, *root, trace); !ok)
        return ok;
    if (trace.probes.positions.empty() && trace.dense.empty() && trace.generations.empty())
        return fail(ErrorKind::BadFormat, "holds neither probes nor continuations: there is nothing to compare");
    return {};
}

/// A file that is broken throughout has something to say about each of thousands of continuations.
void keep_readable(Findings& findings)
{
    constexpr std::size_t most = 100;
    if (findings.size() <= most)
        return;
    const std::size_t left = findings.size() - most;
    findings.resize(most);
    findings.push_back(
        {Finding::Level::Warning, "more-findings", fmt::format("{} more findings are not listed.", left)});
}

Result<TracePtr> open_file(const TraceFile& from, const OpenHints& hints, const Job& job, Findings findings)
{
    const h5::Session session;
    auto trace = std::make_shared<Trace>();
    trace->findings = std::move(findings);
    trace->path = from.path;
    const std::string name = h5::one_line(from.path.string());
    trace->stamp = from.stamp;

    auto file = h5::open_file(from.content, from.path, trace->findings);
    if (!file)
        return fail(file.error().kind, "{} {}.", name, file.error().message);
    reading::Source source{*file, job, {}};
    if (auto ok = read_all(source, *trace); !ok) {
        if (ok.error().kind == ErrorKind::Cancelled)
            return tl::unexpected(ok.error());
        // A message that starts with an object's path names a place in the file, any other one is about the file.
        return fail(ok.error().kind, "{}{} {}.", name, ok.error().message.starts_with('/') ? ":" : "",
                    ok.error().message);
    }
    (*file)->heaps.forget();
    if (auto codec = codec_finding(*trace)) // imported from a base file
        trace->findings.push_back(std::move(*codec));
    if (!hints.run_name.empty())
        trace->run_name = hints.run_name;
    keep_readable(trace->findings);
    trace->content_key = content_key_of(*trace, source.attributes);
    return TracePtr(std::move(trace));
}

/// Sizes are checked before memory is taken, but a machine may still have less than a sound file needs.
Result<TracePtr> open_guarded(const TraceFile& file, const OpenHints& hints, const Job& job, Findings findings)
{
    try {
        return open_file(file, hints, job, std::move(findings));
    } catch (const std::bad_alloc&) {
        return fail(ErrorKind::OutOfMemory, "{} needs more memory than there is.", h5::one_line(file.path.string()));
    }
}

/// What ends a process ends another one.
Result<TracePtr> open_after_trial(const TraceFile& file, const OpenHints& hints, const Job& job)
{
    Findings findings;
    if (const auto tried = try_in_own_process(file.content, file.path, job, findings); !tried)
        return tl::unexpected(tried.error());
    return open_guarded(file, hints, job, std::move(findings));
}

} // namespace

TraceReader flipscope_reader()
{
    return {"Flipscope trace (HDF5)", is_hdf5, open_after_trial};
}

Result<TracePtr> open_hdf5_here(const TraceFile& file, const OpenHints& hints, const Job& job)
{
    return open_guarded(file, hints, job, {});
}

} // namespace flipscope
