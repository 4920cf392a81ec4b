// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace flipscope {

/// Something a person should know about a trace or a comparison that still works: shown as a banner, printed by the
/// command line, and part of every JSON answer. An error that prevents the work is an Error instead.
struct Finding {
    enum class Level { Note, Warning };
    Level level = Level::Note;
    std::string code; ///< stable machine name, as "slow-chunks", "common-prefix", "padded-vocab"
    std::string text; ///< one sentence
};

using Findings = std::vector<Finding>;

} // namespace flipscope
