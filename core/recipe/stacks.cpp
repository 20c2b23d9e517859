#include "core/recipe/stacks.h"

namespace plimsoll::recipe {

namespace {

constexpr StackTraits rows[] = {
    {.id = "hf", .unsloth_patches = true, .plain_trainer = true},
    // huggingface/trl trl/trainer/sft_config.py, dpo_config.py: max_length.
    {.id = "trl",
     .own_length = true,
     .flattens_packed = true,
     .unsloth_patches = true,
     .trl_checkpoint_dtype = true,
     .trl_sft = true},
    {.id = "axolotl", .cce_fork = true, .masks_packed = true, .names_liger_kernels = true},
    // hiyouga/LLaMA-Factory train/trainer_utils.py get_batch_logps, train/dpo/trainer.py
    // concatenated_forward, model/model_utils/checkpointing.py, model/model_utils/liger_kernel.py
    // require_logits; hparams/finetuning_args.py lora_alpha; train/trainer_utils.py _create_galore_optimizer.
    {.id = "llamafactory",
     .own_projection = true,
     .own_log_probs = true,
     .offloads_inputs = true,
     .liger_for_sft_alone = true,
     .alpha_by_rank = true},
    // modelscope/ms-swift swift/template/base.py: max_length is the model's own unless said; swift/optimizers/galore.
    {.id = "ms-swift", .own_projection = true, .model_length = true},
    // unslothai/unsloth kernels/cross_entropy_loss.py, unsloth-zoo gradient_checkpointing.py,
    // vllm_utils.py get_vllm_state_dict.
    {.id = "unsloth",
     .one_process = true,
     .sixteen_bit_loss = true,
     .reentrant_only = true,
     .offloads_inputs = true,
     .loss_by_row_length = true,
     .vllm_shares_weights = true,
     .vllm_share_by_card = true,
     .monthly_releases = true},
    // meta-pytorch/torchtune recipes/full_finetune_distributed.py, training/_distributed.py shard_model
    // (fully_shard); recipes/full_finetune_single_device.py _loss_step; recipes/full_finetune_distributed.py train.
    {.id = "torchtune",
     .several_gpus = "fsdp2",
     .accelerate = false,
     .trainers_optimizer = false,
     .reduces_each_batch = true,
     .pads_labels = true},
    // Lightning-AI/litgpt litgpt/finetune/full.py and lora.py: FSDP on several devices, where lora.py refuses
    // --quantize.
    {.id = "litgpt",
     .several_gpus = "fsdp",
     .shards_quantised = false,
     .accelerate = false,
     .trainers_optimizer = false,
     .keeps_last_graph = true},
    {.id = "loop",
     .accelerate = false,
     .trainers_optimizer = false,
     .reduces_each_batch = true,
     .trl_tasks = false,
     .returns_logits = false,
     .caches_little = true},
    {.id = "agilerl", .trainers_optimizer = false, .trl_tasks = false},
    {.id = "colossalai", .trainers_optimizer = false, .trl_tasks = false},
};
constexpr StackTraits usual;

}  // namespace

std::span<const StackTraits> all_stack_traits() { return rows; }

const StackTraits& stack_traits(std::string_view id) {
  for (const StackTraits& row : rows) {
    if (row.id == id) return row;
  }
  return usual;
}

}  // namespace plimsoll::recipe
