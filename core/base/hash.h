// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace flipscope {

/// XXH3 with 128 bits over bytes that come piece by piece; how they are cut does not matter.
class Hasher {
public:
    Hasher();
    ~Hasher();
    Hasher(Hasher&&) noexcept;
    Hasher& operator=(Hasher&&) noexcept;

    void add(std::span<const std::byte> bytes);
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    std::string hex() const; ///< 32 digits over everything added so far

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace flipscope
