// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/floor.h"

#include <fmt/format.h>

namespace flipscope {

AboveFloor above_floor(const WindowStats& run, const WindowStats& floor)
{
    return {run.kl_pq.mean - floor.kl_pq.mean, run.flip_rate - floor.flip_rate};
}

std::string engine_warning(const Trace& baseline, const Trace& run)
{
    const std::string *p = baseline.setting("engine"), *q = run.setting("engine");
    if (p == nullptr || q == nullptr || *p == *q)
        return {};
    return fmt::format(
        "recorded by {}, the baseline by {}: part of the difference may be that of the engines. A run of "
        "{} with the baseline's settings, named as the noise floor, shows how much.",
        *q, *p, *q);
}

} // namespace flipscope
