// The fixes, one file each; fixes.cpp lists them.
#pragma once

#include "core/advice/fix.h"

namespace plimsoll::advice {

/// The value of a field, given or defaulted; null when there is none.
const json::Json* value_of(const FixContext& situation, const char* pointer);

extern const Fix gradient_checkpointing;
extern const Fix non_reentrant_checkpointing;
extern const Fix reentrant_checkpointing;
extern const Fix sync_each_batch;
extern const Fix micro_batch;
extern const Fix fused_loss;
extern const Fix newer_trl;
extern const Fix plain_loss;
extern const Fix sdpa;
extern const Fix flash_attention;
extern const Fix padding_free;
extern const Fix sixteen_bit_load;
extern const Fix pure_bfloat16;
extern const Fix adapters_instead_of_full;
extern const Fix nf4;
extern const Fix int8;
extern const Fix linear_experts;
extern const Fix quantized_experts;
extern const Fix double_quantization;
extern const Fix no_kbit_upcast;
extern const Fix fused_optimizer;
extern const Fix paged_optimizer;
extern const Fix eight_bit_optimizer;
extern const Fix paged_eight_bit_optimizer;
extern const Fix adafactor;
extern const Fix lion;
extern const Fix sixteen_bit_adapters;
extern const Fix fewer_targets;
extern const Fix lower_rank;
extern const Fix shorter;
extern const Fix shorter_completions;
extern const Fix smaller_images;
extern const Fix fewer_images;
extern const Fix vllm_memory_share;
extern const Fix vllm_sleep_mode;
extern const Fix frozen_tower;
extern const Fix expandable_segments;
extern const Fix smaller_eval_batch;
extern const Fix eval_accumulation;
extern const Fix loss_only;
extern const Fix precomputed_reference;
extern const Fix sharded_states;
extern const Fix sharded_parameters;
extern const Fix optimizer_in_host_memory;
extern const Fix parameters_in_host_memory;
extern const Fix sharded_in_host_memory;
extern const Fix offloaded_checkpoints;
extern const Fix optimizer_in_backward;
extern const Fix optimizer_on_cpu;
extern const Fix cut_cross_entropy;

}  // namespace plimsoll::advice
