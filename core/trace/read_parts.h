// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job.h"
#include "core/trace/hdf5_attributes.h"
#include "core/trace/trace.h"

// The parts of a version 1 trace, each read by a file of its own. What is essential and broken is an error (without
// the file's name and the full stop); what is optional and broken is left out with a finding.
namespace flipscope::reading {

/// What the parts share while a file is being opened.
struct Source {
    std::shared_ptr<const h5::File> file;
    const Job& job;
    std::string attributes; ///< everything stated anywhere, for the content key

    /// The attributes of an object, noted for the content key. Those that cannot be read are a finding.
    h5::Attributes note_attributes(hid_t object, const std::string& path, Findings& findings);
};

Result<void> read_tokens(Source& source, const h5::Group& root, Trace& trace);
void read_vocabulary(Source& source, const h5::Group& root, Trace& trace);
void read_spans(Source& source, const h5::Group& root, Trace& trace);
void read_run(Source& source, const h5::Group& root, Trace& trace);
Result<void> read_probes(Source& source, const h5::Group& root, Trace& trace);
void read_dense(Source& source, const h5::Group& root, Trace& trace);
Result<void> read_generations(Source& source, const h5::Group& root, Trace& trace);
/// The runs of a summary file; the parts of its baseline have been read.
Result<void> read_summary(Source& source, const h5::Group& root, Trace& trace);

/// `group`/bytes and offsets as strings, `count` of them.
Result<ByteStrings> read_byte_strings(const h5::Group& group, std::uint64_t count);

/// Adds the finding "`what` is left out: reason."
void leave_out(Findings& findings, const std::string& what, const Error& reason);

} // namespace flipscope::reading
