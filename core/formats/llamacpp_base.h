// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"

#include <optional>
#include <string_view>

namespace flipscope {

/// Reads what llama-perplexity writes with --kl-divergence-base (also: --save-all-logits) and compares with
/// --kl-divergence: magic "_logits_", then int32 n_ctx, n_vocab, n_chunk, the ids of all chunks, and for each chunk
/// n_ctx - 1 - n_ctx/2 rows of float32 scale, float32 minimum and a 16-bit code q per id: ln p = scale q + minimum.
/// Little-endian, no version, no checksum. (llama.cpp tools/perplexity/perplexity.cpp; ik_llama.cpp writes the same
/// with a floor of 24 nats under the best instead of 16.)
///
/// The trace has a span of kind "chunk" for each chunk; row r of chunk c stands at c n_ctx + n_ctx/2 + r. Rows come out
/// as float32 log-probabilities, decoded as llama.cpp decodes them.
TraceReader llamacpp_base_reader();

/// Value of the run setting "codec" of such a trace; it stays when the trace is imported with its rows unchanged.
inline constexpr std::string_view llamacpp_codec_16 = "llama.cpp base file, floored at 16 nats";
inline constexpr std::string_view llamacpp_codec_24 = "llama.cpp base file, floored at 24 nats";

/// What the codec did to the values of `trace`, also where they were imported or converted since; nothing where its
/// rows never were in a base file.
std::optional<Finding> codec_finding(const Trace& trace);

/// Whether the rows of `trace` are those of a base file, as they were decoded.
bool is_llamacpp_base(const Trace& trace);

} // namespace flipscope
