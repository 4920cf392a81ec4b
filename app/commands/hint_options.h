// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open_hints.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace flipscope {

/// Adds the options that say about files of other kinds what these do not say themselves, in a group of their own.
/// `hints` is filled while the command line is parsed.
void add_hint_options(CLI::App& command, const std::shared_ptr<OpenHints>& hints);

} // namespace flipscope
