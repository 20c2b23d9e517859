// What a training stack does, where no field of a request can say it.
//
//     recipe::stack_traits("torchtune").several_gpus;   // "fsdp2": its distributed recipes know nothing else
//     recipe::stack_traits("unsloth").reentrant_only;   // true: its checkpoint function is reentrant
//
// What a field can say is a default in presets/stacks/<id>.json. Tables name stacks (core/recipe/refusals.cpp), and
// core/exchange reads and writes their own files; no other code asks which stack it is (tests/core/rooms.mjs).
#pragma once

#include <span>
#include <string_view>

namespace plimsoll::recipe {

struct StackTraits {
  std::string_view id;
  /// The strategy of several GPUs where none is said.
  std::string_view several_gpus = "ddp";
  bool one_process = false;        ///< it does not share a run out over GPUs
  bool shards_quantised = true;    ///< a quantised base may lie on several GPUs
  bool accelerate = true;          ///< accelerate sets up FSDP; otherwise code of its own does
  bool trainers_optimizer = true;  ///< Transformers' Trainer makes the optimizer
  bool own_projection = false;  ///< code of its own picks what GaLore and APOLLO project, by parts of names
  bool reduces_each_batch = false;  ///< FSDP: no micro-batch's backward runs under no_sync()
  bool trl_tasks = true;            ///< its trainers for preferences and RL are TRL's, or inherit from them
  bool own_log_probs = false;       ///< the log-probabilities of preferences come from code of its own
  bool returns_logits = true;       ///< the loop gets the model's logits besides the loss
  bool own_length = false;          ///< cuts samples at 1,024 tokens where no length is given
  bool model_length = false;        ///< cuts samples only at what the model can read
  bool sixteen_bit_loss = false;    ///< the loss reads the logits as they are, beside shifted labels
  bool pads_labels = false;         ///< pads the labels instead of shifting the logits, and floats the logits
  bool reentrant_only = false;      ///< its checkpoint function is reentrant
  bool keeps_last_graph = false;    ///< its loop holds the last loss, and so its graph, in the next forward
  bool offloads_inputs = false;     ///< its checkpoint function can move the layers' inputs to host memory
  bool caches_little = false;  ///< PyTorch holds hardly more than the simulation: 107 readings, 3 sources
  bool loss_by_row_length = false;    ///< some releases take another loss for short batches
  bool liger_for_sft_alone = false;   ///< Liger's fused loss is patched in for supervised training alone
  bool alpha_by_rank = false;         ///< lora_alpha is twice the rank where it is not said
  bool cce_fork = false;              ///< brings a fork of cut cross-entropy that knows more models
  bool flattens_packed = false;       ///< its collator makes one row of all packed ones (TRL from 0.19 on)
  bool masks_packed = false;          ///< pads packed rows, and tells their samples apart by a mask (Axolotl)
  bool unsloth_patches = false;       ///< the same script runs on Unsloth once it is imported
  bool vllm_shares_weights = false;   ///< a colocated vLLM reads the weights that are trained on
  bool vllm_share_by_card = false;    ///< a vLLM that sleeps gets a share by the card, whatever was asked for
  bool trl_checkpoint_dtype = false;  ///< TRL's SFTTrainer loads the model itself, by its own defaults
  bool trl_sft = false;               ///< supervised training is TRL's SFTTrainer as it is
  bool plain_trainer = false;         ///< Transformers' Trainer as it is, meant where nothing says more
  bool monthly_releases = false;      ///< a release is named by its month, which other versions in a log tell
  bool names_liger_kernels = false;   ///< Liger's kernels are named one by one, without Transformers' switch
};

/// The row of a stack; for one that is not in the table, a row of the usual values.
const StackTraits& stack_traits(std::string_view id);
std::span<const StackTraits> all_stack_traits();

}  // namespace plimsoll::recipe
