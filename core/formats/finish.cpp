// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/finish.h"

#include "core/trace/content_key.h"
#include "core/trace/hdf5.h"

#include <algorithm>

namespace flipscope::formats {

namespace {

/// The name of the file without folder and without the suffixes of compression and of arrays.
std::string stem_of(const std::filesystem::path& path)
{
    std::filesystem::path name = path.filename();
    if (name.extension() == ".gz" || name.extension() == ".zst")
        name = name.stem();
    return h5::one_line(name.stem().string());
}

void set(std::vector<std::pair<std::string, std::string>>& run, const std::string& key, const std::string& value)
{
    const auto found = std::find_if(run.begin(), run.end(), [&](const auto& s) { return s.first == key; });
    if (found == run.end())
        run.emplace_back(key, value);
    else
        found->second = value;
}

} // namespace

Result<TracePtr> finish(std::shared_ptr<Trace> trace, const TraceFile& from, const OpenHints& hints,
                        std::string_view seen)
{
    Trace& t = *trace;
    t.path = from.path;
    t.stamp = from.stamp;
    t.run_name = !hints.run_name.empty() ? hints.run_name : t.run_name.empty() ? stem_of(from.path) : t.run_name;
    if (!hints.scoring.empty())
        t.probes.scoring = hints.scoring;
    if (!hints.values.empty())
        t.probes.values = hints.values;
    if (hints.temperature)
        t.probes.temperature = hints.temperature;
    for (const auto& [key, value] : hints.settings)
        set(t.run, key, value);
    std::sort(t.run.begin(), t.run.end());
    t.content_key = content_key_of(t, seen);
    return TracePtr(std::move(trace));
}

} // namespace flipscope::formats
