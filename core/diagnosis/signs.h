// What points to a cause: one sign for each thing that the message, the traceback, the words around them, the
// request or the arithmetic shows.
//
//     for (const Evidence& e : collect(reading, situation)) e.words;   // "Another process holds 34.7 GiB of this card."
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/diagnosis/cases.h"
#include "core/diagnosis/facts.h"
#include "core/diagnosis/prose.h"
#include "core/diagnosis/rerun.h"
#include "core/diagnosis/size_products.h"
#include "core/diagnosis/tensors.h"

namespace plimsoll::diagnosis {

enum class Sign : uint8_t {
  // who wrote the message
  says_host,
  says_driver,
  says_handle,
  says_nccl,
  says_paged,
  says_metal,
  says_mlx,
  says_xla,
  says_tpu,
  says_vllm,
  says_vllm_share,
  says_dispatched,
  says_kernel,
  says_allocator,
  says_in_words,
  // its figures
  asks_beyond_card,
  asks_nonsense,
  foreign_process,
  large_residual,
  some_residual,
  mostly_foreign,
  slack_covers,
  some_slack,
  slack_and_free_cover,  ///< in pieces of the cache and what is free of the card together
  slack_is_plenty,       ///< many times what was asked for, and a large part of the card
  beyond_card,
  sentinel,
  free_covers,
  nothing_allocated,
  less_than_card,
  tiny_card,
  large_pools,
  // nvidia-smi
  one_card_only,
  in_use_at_start,
  // the phase and what its frames show
  loading,
  forward,
  loss,
  backward,
  optimizer,
  evaluating,
  saving,
  generating,
  merging,
  makes_states,
  foreach,
  prepares,
  dequantizes,
  attention,
  explicit_scores,
  varlen,
  dora_frame,
  vision_frame,
  kbit_frame,
  resumes,
  logits_frame,
  dequantizes_base,
  vllm_frame,
  moves_model,  ///< the whole model goes to the card, before any optimizer exists
  // words
  after_steps,
  one_sample_fails,
  says_logits,     ///< the words place it at the logits or the loss
  fits_with_less,  ///< it fits with a shorter length or a smaller batch
  at_save,
  at_resume,
  at_evaluation,
  after_update,
  grows,
  on_windows,
  on_wsl,
  contradicted_method,
  quantised_saves_nothing,
  adapters_save_nothing,
  own_estimate,
  says_fragmented,
  asks_requirements,
  says_optimizer,
  spills,
  // the run
  full_tuning,
  small_network,
  inference,
  adapters,
  quantized,
  replicates,
  shards,
  uses_dora,
  pairs,
  four_models,
  two_sequences,
  generates_rollouts,
  vllm_words,
  packs,
  not_checkpointed,
  sees_images,
  sees_fixed_images,
  eager,
  saves_modules,
  in_fp32,
  high_rank,
  old_card,
  large_batch,
  long_context,
  low_bit_checkpoint,
  short_and_single,
  // arithmetic
  whole_beyond,
  share_is_most,  ///< each card's part leaves little for activations
  share_beyond,
  share_well_within,
  driver_full_of_run,  ///< a library found nothing left, and the run alone is far more than the card
  share_is_small,      ///< ... under ZeRO-1 or -2, which leave the weights whole: no copy is what is too much
  whole_well_within,
  near_fp32,
  fits_in_16bit,
  untyped,
  near_16bit_though_quantized,
  // the tensor
  is_logits,
  stated_logits,      ///< a large part of the card, by the stated batch and length alone
  is_logits_as_said,  ///< of the batch and the length that the text states
  is_scores,
  is_weight16,
  is_weight32,
  is_embedding16,
  is_embedding32,
  is_whole_model,
  is_layer32,
  is_partition,
  is_power_of_two,
  fp32_of_a_frozen_base,
  states_in_fp32,  ///< a state as large as its weight in fp32, whose type it takes
  large_request,
  beyond_the_text,
  product_of_logits,  ///< no model is named, and a chosen number of tokens times a vocabulary has this size
  count
};

struct Evidence {
  Sign sign;
  std::string words;    ///< one sentence for a person, with the figures
  double strength = 1;  ///< 0..1: less where only prose says it, and not clearly
};

/// All that was read, before anything is concluded.
struct TextReading {
  Text text;
  Prose prose;  ///< of the text
  std::vector<Message> messages;
  std::size_t first = 0;  ///< index of the message to explain
  Derived derived;
  GpuTable table;
  Frames frames;
  FailurePhase phase = FailurePhase::unknown;
  Facts facts;
  std::optional<Size> asked;      ///< what was asked for, by the message or in a person's words
  std::vector<Match> matches;     ///< tensors of the size that failed, best first
  std::vector<Product> products;  ///< shapes of that size, with the unknown solved for
  std::vector<CaseShown> cases;   ///< of which the text speaks
  Rerun rerun;

  const Message* message() const { return messages.empty() ? nullptr : &messages[first]; }
};

/// Whether some card that is known reports such a capacity, in bytes.
bool is_a_known_capacity(const Situation& situation, double capacity);

std::vector<Evidence> collect(const TextReading& reading, const Situation& situation);

/// "34.72 GiB", "224.00 MiB", "512 bytes"
std::string size_text(double bytes);

}  // namespace plimsoll::diagnosis
