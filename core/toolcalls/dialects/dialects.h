// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/dialect.h"

// What the files of this folder make; dialects() lists them.
namespace flipscope::dialect {

Dialect hermes();
Dialect qwen3_coder();
Dialect glm();
Dialect granite();
Dialect granite_20b();
Dialect mistral();
Dialect deepseek_v3();
Dialect deepseek_v31();
Dialect deepseek_v32();
Dialect kimi_k2();
Dialect harmony();
Dialect gemma3();
Dialect gemma4();
Dialect function_gemma();
Dialect functionary_v2();
Dialect functionary_v31();
Dialect functionary_v32();
Dialect lfm2();
Dialect llama4();
Dialect llama3();
Dialect openai();
Dialect plain_json();

} // namespace flipscope::dialect
