// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// HDF5 1.10 loses a few bytes where it refuses a dataset's layout and where a disk is full; not ours to mend. For one
// source file of a program; without LeakSanitizer nobody asks for it.
extern "C" [[gnu::used, gnu::visibility("default")]] inline const char* __lsan_default_suppressions() // NOLINT
{
    return "leak:libhdf5";
}
