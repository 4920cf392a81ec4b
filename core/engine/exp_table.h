// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace flipscope {

/// e^x of each of the 65,536 bfloat16 patterns, in the order of the patterns: +inf above 709, 0 below -745 and for
/// -inf, NaN for NaN. 512 KiB that are made at the first call; any thread may call. A row's logits share a few thousand
/// patterns, so the part that is used stays in the first-level cache, and looking one up costs half of computing it.
const double* bf16_exponentials();

} // namespace flipscope
