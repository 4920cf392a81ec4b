// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

namespace flipscope {

/// xxh3-128 as 32 hex digits over everything `trace` holds but the rows themselves (whose types and shapes count) and
/// what depends on the place of the file (path, stamp, run name, findings). `attributes` adds what the reader saw and
/// did not put into the trace.
std::string content_key_of(const Trace& trace, std::string_view attributes = {});

} // namespace flipscope
