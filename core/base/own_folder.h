// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace flipscope {

/// The folder of the running program, beside which its own parts are looked for; empty where the system does not say.
/// Any thread.
std::filesystem::path own_folder();

} // namespace flipscope
