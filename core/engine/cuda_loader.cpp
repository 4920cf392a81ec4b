// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/own_folder.h"
#include "core/engine/engine.h"
#include "core/engine/plugin_abi.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace flipscope {

namespace {

constexpr const char* module_name = "libflipscope_cuda.so";

/// The module's functions. The library stays loaded until the program ends: the CUDA runtime inside it leaves threads
/// and exit handlers behind that must not lose their code.
struct CudaModule {
    fs_engine_open_fn* open = nullptr;
    fs_engine_compute_fn* compute = nullptr;
    fs_engine_holds_fn* holds = nullptr;
    fs_engine_host_alloc_fn* host_alloc = nullptr;
    fs_engine_host_free_fn* host_free = nullptr;
    fs_engine_notice_fn* notice = nullptr;
    fs_engine_close_fn* close = nullptr;
};

/// Where the module may be, in the order of looking.
std::vector<std::filesystem::path> places()
{
    if (const char* named = std::getenv("FLIPSCOPE_CUDA_MODULE"))
        return {named};
    const auto folder = own_folder();
    if (folder.empty())
        return {};
    return {folder / module_name, folder.parent_path() / "lib" / "flipscope" / module_name};
}

Result<std::filesystem::path> find_module()
{
    std::string looked;
    for (const auto& place : places()) {
        std::error_code error;
        if (std::filesystem::is_regular_file(place, error))
            return place;
        looked += fmt::format("{}{}", looked.empty() ? "" : " and ", place.string());
    }
    return fail(ErrorKind::Device,
                "The CUDA module is not installed or was not built (looked for {}); see FLIPSCOPE_CUDA in HACKING.",
                looked.empty() ? module_name : looked);
}

Result<CudaModule> load_module()
{
    const auto path = find_module();
    if (!path)
        return tl::unexpected(path.error());
    void* library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* why = dlerror();
        return fail(ErrorKind::Device, "The CUDA module cannot be loaded: {}.",
                    why ? why : "the loader gives no reason");
    }
    auto* abi = reinterpret_cast<fs_engine_abi_fn*>(dlsym(library, "fs_engine_abi"));
    const std::int32_t has = abi ? abi() : 0;
    if (has != FLIPSCOPE_ENGINE_ABI) {
        dlclose(library);
        if (has == 0)
            return fail(ErrorKind::Device, "{} is not a CUDA module of Flipscope.", path->string());
        return fail(ErrorKind::Device,
                    "The CUDA module {} belongs to another build of Flipscope (interface {}, this program needs {}): "
                    "install both from the same build.",
                    path->string(), has, FLIPSCOPE_ENGINE_ABI);
    }
    CudaModule m;
    const auto get = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        return function != nullptr;
    };
    if (!get(m.open, "fs_engine_open") || !get(m.compute, "fs_engine_compute") || !get(m.holds, "fs_engine_holds") ||
        !get(m.host_alloc, "fs_engine_host_alloc") || !get(m.host_free, "fs_engine_host_free") ||
        !get(m.notice, "fs_engine_notice") || !get(m.close, "fs_engine_close")) {
        dlclose(library);
        return fail(ErrorKind::Device, "The CUDA module {} is incomplete: install it again.", path->string());
    }
    return m;
}

/// Page-locked memory of an engine. Locking a page costs more than to read a file's page: what is given back stays for
/// the next analysis, as far as that asks for about as much. Thread-safe.
class PinnedMemory {
public:
    PinnedMemory(const CudaModule& module, fs_engine* engine) : module_(module), engine_(engine) {}
    ~PinnedMemory() { release(); }
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    /// `bytes` or somewhat more; nothing where the system gives none.
    std::span<std::byte> take(std::size_t bytes)
    {
        const std::lock_guard lock(mutex_);
        const auto fits = std::find_if(spare_.begin(), spare_.end(), [&](const auto& memory) {
            return memory.size() >= bytes && memory.size() - bytes <= bytes / 8;
        });
        if (fits != spare_.end()) {
            const auto found = *fits;
            spare_.erase(fits);
            return found;
        }
        release(); // of another size than is wanted now
        void* memory = module_.host_alloc(engine_, bytes);
        return {static_cast<std::byte*>(memory), memory ? bytes : 0};
    }
    void give_back(std::span<std::byte> memory)
    {
        const std::lock_guard lock(mutex_);
        spare_.push_back(memory);
    }

private:
    void release()
    {
        for (const auto& memory : spare_)
            module_.host_free(engine_, memory.data());
        spare_.clear();
    }

    CudaModule module_;
    fs_engine* engine_;
    std::mutex mutex_;
    std::vector<std::span<std::byte>> spare_;
};

class PinnedBuffer final : public HostBuffer {
public:
    PinnedBuffer(PinnedMemory& owner, std::span<std::byte> memory, std::size_t bytes) : owner_(owner), memory_(memory)
    {
        bytes_ = memory.first(bytes);
    }
    ~PinnedBuffer() override { owner_.give_back(memory_); }
    PinnedBuffer(const PinnedBuffer&) = delete;
    PinnedBuffer& operator=(const PinnedBuffer&) = delete;

private:
    PinnedMemory& owner_;
    std::span<std::byte> memory_;
};

std::int32_t stop_requested(void* token)
{
    return static_cast<const std::stop_token*>(token)->stop_requested() ? 1 : 0;
}

ErrorKind kind_of(std::int32_t status)
{
    switch (status) {
    case FS_OUT_OF_MEMORY:
        return ErrorKind::OutOfMemory;
    case FS_CANCELLED:
        return ErrorKind::Cancelled;
    case FS_BAD_ARGUMENT:
        return ErrorKind::Usage;
    default:
        return ErrorKind::Device;
    }
}

class CudaEngine final : public Engine {
public:
    CudaEngine(const CudaModule& module, fs_engine* engine, const fs_device_info& info)
        : module_(module), engine_(engine, module.close), pinned_(module, engine),
          detail_(fmt::format("{}{}, driver for CUDA {}.{}",
                              info.device_count > 1 ? fmt::format("{} x ", info.device_count) : "", info.name,
                              info.driver_version / 1000, info.driver_version % 1000 / 10))
    {
    }

    std::string_view name() const override { return "cuda"; }
    std::string detail() const override { return detail_; }
    /// Three of them stay in the processor's cache between reading, hashing and the way over the bus. Half of it leaves
    /// a GPU waiting between blocks, twice of it makes reading a third slower (tests/bench/RESULTS.md).
    std::int64_t block_bytes() const override { return 32 << 20; }

    Result<void> compute(const PairBlock& block, std::span<ProbeMetrics> out, std::stop_token stop) override
    {
        return compute_runs(
            {block.baseline, {&block.run, 1}, block.rows, block.vocab, block.next_ids, block.keys, block.wanted}, out,
            std::move(stop));
    }

    Result<void> compute_runs(const RunsBlock& block, std::span<ProbeMetrics> out, std::stop_token stop) override
    {
        if (out.size() / std::max<std::size_t>(static_cast<std::size_t>(block.rows), 1) < block.runs.size())
            return fail(ErrorKind::Usage, "{} results do not fit into room for {}.",
                        static_cast<std::size_t>(block.rows) * block.runs.size(), out.size());
        const auto rows = [](const RowView& v) {
            return fs_rows{v.data, static_cast<std::int32_t>(v.type), v.stride, v.source};
        };
        std::vector<fs_rows> runs;
        runs.reserve(block.runs.size());
        for (const RowView& run : block.runs)
            runs.push_back(rows(run));
        const fs_block plain{
            rows(block.baseline), runs.data(), static_cast<std::int32_t>(runs.size()), block.rows, block.vocab,
            block.next_ids,       block.keys};
        std::array<char, 512> error{};
        const std::int32_t status =
            module_.compute(engine_.get(), &plain, out.data(), stop_requested, &stop, error.data(), error.size());
        take_notice();
        if (status == FS_OK)
            return {};
        if (status == FS_CANCELLED)
            return cancelled();
        return tl::unexpected(Error{kind_of(status), error.data()});
    }

    bool holds(const RowView& view, std::int32_t vocab, std::span<const std::int64_t> keys) const override
    {
        return module_.holds(engine_.get(), view.source, static_cast<std::int32_t>(view.type), vocab, keys.data(),
                             static_cast<std::int64_t>(keys.size())) != 0;
    }

    Result<std::unique_ptr<HostBuffer>> allocate(std::size_t bytes) override
    {
        const std::span<std::byte> memory = pinned_.take(bytes);
        if (memory.empty()) // ordinary memory is slower to copy from, and as right
            return Engine::allocate(bytes);
        return std::make_unique<PinnedBuffer>(pinned_, memory, bytes);
    }

    std::vector<std::string> take_notices() override { return std::exchange(notices_, {}); }

private:
    void take_notice()
    {
        std::array<char, 512> text{};
        module_.notice(engine_.get(), text.data(), text.size());
        if (text[0])
            notices_.emplace_back(text.data());
    }

    CudaModule module_;
    std::unique_ptr<fs_engine, fs_engine_close_fn*> engine_;
    PinnedMemory pinned_; // before the engine goes
    std::string detail_;
    std::vector<std::string> notices_;
};

} // namespace

Result<std::unique_ptr<Engine>> make_cuda_engine()
{
    const auto module = load_module();
    if (!module)
        return tl::unexpected(module.error());
    fs_engine* engine = nullptr;
    fs_device_info info{};
    std::array<char, 512> error{};
    const std::int32_t status = module->open(0, &engine, &info, error.data(), error.size());
    if (status != FS_OK)
        return tl::unexpected(Error{kind_of(status), error.data()});
    return std::make_unique<CudaEngine>(*module, engine, info);
}

} // namespace flipscope
