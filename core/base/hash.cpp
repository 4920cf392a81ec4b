// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"

#include <fmt/format.h>
#ifdef FLIPSCOPE_XXHASH_DISPATCH
#include <xxh_x86dispatch.h> // the same functions, for the widest vectors of this processor
#else
#include <xxhash.h>
#endif

namespace flipscope {

struct Hasher::State {
    State() { XXH3_128bits_reset(xxh); }
    ~State() { XXH3_freeState(xxh); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    XXH3_state_t* xxh = XXH3_createState();
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::add(std::span<const std::byte> bytes)
{
    XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size());
}

std::string Hasher::hex() const
{
    const XXH128_hash_t h = XXH3_128bits_digest(state_->xxh);
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

} // namespace flipscope
