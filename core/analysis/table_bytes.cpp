// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/table_bytes.h"

#include "core/base/hash.h"

#include <cstring>
#include <type_traits>

namespace flipscope {

namespace {

// Raised when the layout of an entry changes; what the numbers mean is metrics_version's business.
constexpr std::string_view magic = "flipscope-table 1\n";
constexpr std::size_t checksum_size = 32;

static_assert(std::is_trivially_copyable_v<ProbeMetrics> && std::is_trivially_copyable_v<MatchedProbe>);

class Out {
public:
    template <class T>
    void value(const T& v)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes.append(reinterpret_cast<const char*>(&v), sizeof(T));
    }
    void text(std::string_view t)
    {
        value(static_cast<std::uint64_t>(t.size()));
        bytes += t;
    }
    template <class T>
    void items(const std::vector<T>& v)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        value(static_cast<std::uint64_t>(v.size()));
        bytes.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
    }
    std::string bytes;
};

/// Reads what Out wrote; once something does not fit, `ok` stays false and values are empty.
class In {
public:
    explicit In(std::string_view bytes) : rest_(bytes) {}

    template <class T>
    T value()
    {
        T v{};
        if (const auto part = take(sizeof(T)); ok)
            std::memcpy(&v, part.data(), sizeof(T));
        return v;
    }
    std::string text() { return std::string(take(value<std::uint64_t>())); }
    template <class T>
    std::vector<T> items()
    {
        const auto n = value<std::uint64_t>();
        const auto part = n <= rest_.size() / sizeof(T) ? take(n * sizeof(T)) : take(rest_.size() + 1);
        std::vector<T> v(ok ? n : 0);
        if (!v.empty())
            std::memcpy(v.data(), part.data(), part.size());
        return v;
    }
    bool at_end() const { return ok && rest_.empty(); }
    bool ok = true;

private:
    std::string_view take(std::uint64_t n)
    {
        ok = ok && n <= rest_.size();
        const auto part = rest_.substr(0, ok ? n : 0);
        rest_.remove_prefix(part.size());
        return part;
    }
    std::string_view rest_;
};

void write_alignment(Out& out, const Alignment& a)
{
    for (const std::int64_t v : {a.common_tokens, a.only_in_baseline, a.only_in_run, a.baseline_vocab, a.run_vocab})
        out.value(v);
    out.value(a.vocab);
    out.value(static_cast<std::uint8_t>(a.equal_types));
    out.value(static_cast<std::uint8_t>(a.top_k));
    out.items(a.probes);
    out.items(a.dense);
    out.value(static_cast<std::uint64_t>(a.findings.size()));
    for (const Finding& f : a.findings) {
        out.value(static_cast<std::uint8_t>(f.level));
        out.text(f.code);
        out.text(f.text);
    }
}

Alignment read_alignment(In& in)
{
    Alignment a;
    for (std::int64_t* v : {&a.common_tokens, &a.only_in_baseline, &a.only_in_run, &a.baseline_vocab, &a.run_vocab})
        *v = in.value<std::int64_t>();
    a.vocab = in.value<std::int32_t>();
    a.equal_types = in.value<std::uint8_t>() != 0;
    a.top_k = in.value<std::uint8_t>() != 0;
    a.probes = in.items<MatchedProbe>();
    a.dense = in.items<MatchedProbe>();
    const auto findings = in.value<std::uint64_t>();
    for (std::uint64_t i = 0; i < findings && in.ok; ++i) {
        Finding f;
        f.level = in.value<std::uint8_t>() != 0 ? Finding::Level::Warning : Finding::Level::Note;
        f.code = in.text();
        f.text = in.text();
        a.findings.push_back(std::move(f));
    }
    return a;
}

std::string checksum(std::string_view bytes, std::string_view key)
{
    Hasher hash;
    hash.add(bytes);
    hash.add(key);
    return hash.hex();
}

} // namespace

std::string table_to_bytes(const MetricsTable& table, std::string_view key)
{
    Out out;
    out.bytes = magic;
    out.value(static_cast<std::uint32_t>(sizeof(ProbeMetrics)));
    write_alignment(out, table.alignment);
    out.items(table.probes);
    out.items(table.dense);
    out.text(table.engine);
    out.text(table.engine_detail);
    out.text(table.rows_hash);
    out.bytes += checksum(out.bytes, key);
    return std::move(out.bytes);
}

std::optional<MetricsTable> table_from_bytes(std::string_view bytes, std::string_view key)
{
    if (bytes.size() < magic.size() + checksum_size || !bytes.starts_with(magic))
        return std::nullopt;
    const std::string_view content = bytes.substr(0, bytes.size() - checksum_size);
    if (bytes.substr(content.size()) != checksum(content, key))
        return std::nullopt;
    In in(content.substr(magic.size()));
    if (in.value<std::uint32_t>() != sizeof(ProbeMetrics))
        return std::nullopt;
    MetricsTable table;
    table.alignment = read_alignment(in);
    table.probes = in.items<ProbeMetrics>();
    table.dense = in.items<ProbeMetrics>();
    table.engine = in.text();
    table.engine_detail = in.text();
    table.rows_hash = in.text();
    if (!in.at_end() || table.probes.size() != table.alignment.probes.size() ||
        table.dense.size() != table.alignment.dense.size())
        return std::nullopt;
    return table;
}

} // namespace flipscope
