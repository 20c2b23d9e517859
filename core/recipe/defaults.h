// Defaults that depend on other fields: one function a rule, used by the field table.
//
//     recipe::Default use_reentrant = recipe::default_use_reentrant(context);   // true before Transformers 5
#pragma once

#include "core/recipe/fields.h"

namespace plimsoll::recipe {

Default default_dtype(const DefaultContext&);
/// What dtype="auto" loads.
Default published_dtype(const DefaultContext&);
Default default_attention(const DefaultContext&);
Default default_use_cache(const DefaultContext&);
Default default_linearized_experts(const DefaultContext&);
Default default_skip_modules(const DefaultContext&);
Default default_quant_type(const DefaultContext&);
Default default_compute_dtype(const DefaultContext&);
Default default_prepare(const DefaultContext&);
Default default_upcast(const DefaultContext&);
Default default_bits(const DefaultContext&);
Default default_group_size(const DefaultContext&);
Default default_liger(const DefaultContext&);
Default default_lora_alpha(const DefaultContext&);
Default default_target_modules(const DefaultContext&);
Default default_feedforward_modules(const DefaultContext&);
Default default_adapter_dtype(const DefaultContext&);
Default default_state_dict_type(const DefaultContext&);
Default default_max_length(const DefaultContext&);
Default default_optimizer_in_backward(const DefaultContext&);
Default default_padded_batches(const DefaultContext&);
Default default_use_reentrant(const DefaultContext&);
Default default_optim(const DefaultContext&);
Default default_loss_kernel(const DefaultContext&);
Default default_eval_loss_kernel(const DefaultContext&);
Default default_eval_packing(const DefaultContext&);
Default default_image_size(const DefaultContext&);
Default default_num_labels(const DefaultContext&);
Default default_strategy(const DefaultContext&);
Default default_fsdp_checkpointing(const DefaultContext&);
Default default_upcast_trainable(const DefaultContext&);
Default default_sync_each_batch(const DefaultContext&);
Default default_reduce_dtype(const DefaultContext&);
Default default_reduce_bucket(const DefaultContext&);
Default default_overlap_comm(const DefaultContext&);
Default default_images(const DefaultContext&);
/// Of samples whose median and another percentile are known.
Default default_mean_length(const DefaultContext&);

}  // namespace plimsoll::recipe
