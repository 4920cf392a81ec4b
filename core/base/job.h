// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace flipscope {

/// How far a job has come. `done` and `total` are bytes where `bytes` is set, else items; total 0 = not known.
struct Progress {
    std::string stage; ///< for a person, as "Reading kv_q4_0 against baseline"
    std::int64_t done = 0;
    std::int64_t total = 0;
    bool bytes = false;
    std::string pace = {}; ///< for a person, as "2.41 GB/s, bound by reading"; "" = not known
};

/// Handed down into everything that can take longer than a blink. Default-constructed: never cancelled, silent.
/// `report` is called from the thread that does the work, as often as it likes; the receiver throttles.
struct Job {
    std::stop_token stop;
    std::function<void(const Progress&)> report;

    bool cancelled() const { return stop.stop_requested(); }
    void progress(const Progress& p) const
    {
        if (report)
            report(p);
    }
};

} // namespace flipscope
