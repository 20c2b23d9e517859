// What Axolotl makes of keys that say more, or less, than they seem to.
//
//     {"deepspeed", "/parallel/strategy", "", axolotl_rules::read_deepspeed},
//     ...
//     axolotl_rules::finish(reading);
//
// Sources: axolotl-ai-cloud/axolotl v0.19.0 src/axolotl/utils/schemas/*.py, utils/config/__init__.py
// normalize_config, core/builders/base.py, loaders/model.py.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange::axolotl_rules {

/// Of the loaders, not of the schema, which drops what it does not know (utils/schemas/*.py).
inline constexpr Refusal refused[] = {
    {"gptq_groupsize lora_exclude_modules peft_adapter.len peft_adapter.layers trl.max_prompt_length"}};

/// lora, qlora, llama-adapter or nothing.
void read_adapter(Reading& reading, const Leaf& leaf);
void read_target_linear(Reading& reading, const Leaf& leaf);
void read_target_modules(Reading& reading, const Leaf& leaf);
void read_target_parameters(Reading& reading, const Leaf& leaf);
/// dpo, kto, orpo, simpo, grpo; ipo and gdpo are losses of two of them, ebft is none.
void read_rl(Reading& reading, const Leaf& leaf);
/// attn_implementation, whose hub kernels are called by the repository they lie in, and the older switches.
void read_attention(Reading& reading, const Leaf& leaf);
void read_attention_flag(Reading& reading, const Leaf& leaf);
/// sdpa_varlen, which is on by itself where it can run.
void read_varlen(Reading& reading, const Leaf& leaf);
/// The files that Axolotl brings say what their names do not.
void read_deepspeed(Reading& reading, const Leaf& leaf);
void read_batch_size(Reading& reading, const Leaf& leaf);
/// A number of steps; a share of the run is no number of steps.
void read_save_steps(Reading& reading, const Leaf& leaf);
/// gc_steps, of older releases.
void read_gc_steps(Reading& reading, const Leaf& leaf);
/// bf16: full is bf16 without autocast.
void read_bf16(Reading& reading, const Leaf& leaf);
/// One of the switches whose name is the type.
void read_dtype_flag(Reading& reading, const Leaf& leaf);
/// dpo_use_liger_kernel and trl.use_liger_loss, which other tasks do not read.
void read_preference_liger(Reading& reading, const Leaf& leaf);

/// What several keys say together.
void finish(Reading& reading);

}  // namespace plimsoll::exchange::axolotl_rules
