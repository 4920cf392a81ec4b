// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/trace/hdf5_leaks.h"
#include "tests/fuzz/fuzz_open.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    flipscope::OpenHints hints;
    hints.type = flipscope::LogitType::BF16;
    fuzzing::try_to_open({data, size}, hints);
    return 0;
}
