// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/exp_table.h"

#include "core/trace/logit_type.h"

#include <array>
#include <cmath>

namespace flipscope {

namespace {

using Table = std::array<double, 65536>;

const Table& filled(Table& table)
{
    for (std::size_t bits = 0; bits < table.size(); ++bits)
        table[bits] = std::exp(static_cast<double>(bf16_to_float(static_cast<std::uint16_t>(bits))));
    return table;
}

} // namespace

const double* bf16_exponentials()
{
    alignas(64) static Table memory;
    static const Table& table = filled(memory);
    return table.data();
}

} // namespace flipscope
