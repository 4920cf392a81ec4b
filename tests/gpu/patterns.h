// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Pairs of rows that have broken, or could break, a computation of divergences.

#include "tests/gpu/oracle.h"

namespace patterns {

int count();
const char* name(int pattern);
/// Fills `vocab` elements of both rows. The same arguments give the same rows.
void fill(int pattern, int vocab, unsigned char* p, oracle::Type tp, unsigned char* q, oracle::Type tq);

} // namespace patterns
