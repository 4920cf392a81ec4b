// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/write_summary.h"

#include "core/trace/stored_metrics.h"
#include "core/trace/summary_columns.h"

#include <algorithm>
#include <cmath>

namespace flipscope::h5 {

namespace {

template <class T>
Result<void> write_column(hid_t group, const char* name, hid_t type, const std::vector<T>& values)
{
    return write_dataset(group, name, type, {static_cast<hsize_t>(values.size())}, values.data());
}

template <class Field>
Result<void> write_integers(hid_t group, const char* name, const std::vector<ProbeMetrics>& probes, Field field)
{
    std::vector<std::int64_t> values;
    values.reserve(probes.size());
    for (const ProbeMetrics& m : probes)
        values.push_back(static_cast<std::int64_t>(m.*field));
    // Small numbers, in small types.
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (values.empty() || *least < INT32_MIN || *most > INT32_MAX)
        return write_column(group, name, H5T_NATIVE_INT64, values);
    if (*least >= INT8_MIN && *most <= INT8_MAX)
        return write_column(group, name, H5T_NATIVE_INT8, std::vector<std::int8_t>(values.begin(), values.end()));
    return write_column(group, name, H5T_NATIVE_INT32, std::vector<std::int32_t>(values.begin(), values.end()));
}

Result<void> write_reals(hid_t group, const std::vector<ProbeMetrics>& probes)
{
    for (const auto& column : summary::real_columns) {
        std::vector<double> values;
        values.reserve(probes.size());
        for (const ProbeMetrics& m : probes)
            values.push_back(m.*column.field);
        if (std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
            continue;
        if (auto ok = write_column(group, column.name, H5T_NATIVE_DOUBLE, values); !ok)
            return ok;
    }
    return {};
}

Result<void> write_findings(hid_t group, const Findings& findings)
{
    if (findings.empty())
        return {};
    std::vector<std::string> lines;
    lines.reserve(findings.size());
    for (const Finding& f : findings)
        lines.push_back(
            fmt::format("{}\t{}\t{}", f.level == Finding::Level::Warning ? "warning" : "note", f.code, f.text));
    return write_text_dataset(group, "findings", lines, false);
}

} // namespace

Result<void> write_metrics(hid_t parent, const StoredMetrics& m)
{
    const auto group = create_group(parent, "metrics");
    if (!group)
        return tl::unexpected(group.error());
    const hid_t id = group->id();
    const std::pair<const char*, std::int64_t> numbers[] = {
        {"common_tokens", m.common_tokens},     {"only_in_baseline", m.only_in_baseline},
        {"only_in_run", m.only_in_run},         {"vocab", m.vocab},
        {"baseline_vocab", m.baseline_vocab},   {"run_vocab", m.run_vocab},
        {"equal_types", m.equal_types ? 1 : 0}, {"lower_bound", m.lower_bound ? 1 : 0}};
    for (const auto& [name, value] : numbers)
        if (auto ok = write_integer_attribute(id, name, value); !ok)
            return ok;
    for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"baseline_key", m.baseline_key},
                                     {"engine", m.engine},
                                     {"engine_detail", m.engine_detail},
                                     {"rows_hash", m.rows_hash}})
        if (auto ok = write_text_attribute(id, name, text); !ok)
            return ok;
    Result<void> ok = write_reals(id, m.probes);
    const auto integers = [&](const char* name, auto field) {
        if (ok)
            ok = write_integers(id, name, m.probes, field);
    };
    integers("positions", &ProbeMetrics::position);
    integers("differing", &ProbeMetrics::differing);
    integers("argmax_p", &ProbeMetrics::argmax_p);
    integers("argmax_q", &ProbeMetrics::argmax_q);
    integers("rank", &ProbeMetrics::rank);
    integers("flip", &ProbeMetrics::flip);
    integers("tied", &ProbeMetrics::tied);
    integers("valid", &ProbeMetrics::valid);
    integers("flip_top1", &ProbeMetrics::flip_top1);
    return ok ? write_findings(id, m.findings) : ok;
}

} // namespace flipscope::h5
