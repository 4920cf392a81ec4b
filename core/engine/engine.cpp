// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/engine.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace flipscope {

namespace {

/// Plain memory, aligned so that vector loads of whole rows may start on a cache line.
class AlignedBuffer final : public HostBuffer {
public:
    explicit AlignedBuffer(std::byte* memory, std::size_t bytes) { bytes_ = {memory, bytes}; }
    ~AlignedBuffer() override { ::operator delete(bytes_.data(), std::align_val_t(64)); }
};

} // namespace

Result<std::unique_ptr<HostBuffer>> Engine::allocate(std::size_t bytes)
{
    auto* memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t(64), std::nothrow));
    if (!memory)
        return fail(ErrorKind::OutOfMemory, "There is not enough memory for a buffer of {} MB.", bytes / 1'000'000);
    return std::make_unique<AlignedBuffer>(memory, bytes);
}

Result<void> Engine::compute_runs(const RunsBlock& block, std::span<ProbeMetrics> out, std::stop_token stop)
{
    const auto rows = static_cast<std::size_t>(block.rows);
    if (out.size() / std::max<std::size_t>(rows, 1) < block.runs.size())
        return fail(ErrorKind::Usage, "{} results do not fit into room for {}.", rows * block.runs.size(), out.size());
    for (std::size_t r = 0; r < block.runs.size(); ++r) {
        const PairBlock pair{block.baseline, block.runs[r], block.rows,  block.vocab,
                             block.next_ids, block.keys,    block.wanted};
        if (auto done = compute(pair, out.subspan(r * rows, rows), stop); !done)
            return done;
    }
    return {};
}

bool Engine::holds(const RowView& /*view*/, std::int32_t /*vocab*/, std::span<const std::int64_t> /*keys*/) const
{
    return false;
}

Result<EngineChoice> parse_engine(std::string_view name)
{
    if (name == "auto")
        return EngineChoice::Auto;
    if (name == "cpu")
        return EngineChoice::Cpu;
    if (name == "cuda")
        return EngineChoice::Cuda;
    if (name == "reference")
        return EngineChoice::Reference;
    return fail(ErrorKind::Usage, "There is no engine \"{}\": choose auto, cpu, cuda or reference.", name);
}

Result<EngineSelection> make_engine(const EngineOptions& options)
{
    EngineChoice choice = options.choice;
    if (const char* named = std::getenv("FLIPSCOPE_ENGINE"); named && *named && choice == EngineChoice::Auto) {
        const auto parsed = parse_engine(named);
        if (!parsed)
            return fail(ErrorKind::Usage, "FLIPSCOPE_ENGINE in the environment: {}", parsed.error().message);
        choice = *parsed;
    }
    switch (choice) {
    case EngineChoice::Cpu:
        return EngineSelection{make_cpu_engine(options.threads), ""};
    case EngineChoice::Reference:
        return EngineSelection{make_reference_engine(), ""};
    case EngineChoice::Cuda:
        return make_cuda_engine().map([](auto engine) { return EngineSelection{std::move(engine), ""}; });
    case EngineChoice::Auto:
        break;
    }
    auto cuda = make_cuda_engine();
    if (cuda)
        return EngineSelection{std::move(*cuda), ""};
    return EngineSelection{make_cpu_engine(options.threads), "Computing on the CPU: " + cuda.error().message};
}

} // namespace flipscope
