#include "core/diagnosis/remedies.h"

#include <algorithm>

#include "core/diagnosis/signs.h"

namespace plimsoll::diagnosis {

namespace {

using Id = std::string_view;

constexpr Id loss[] = {"newer_trl", "fused_loss", "cut_cross_entropy"};
constexpr Id checkpoints[] = {"gradient_checkpointing"};
constexpr Id kernel[] = {"sdpa", "flash_attention"};
constexpr Id dtype[] = {"sixteen_bit_load"};
// States take their weights' type, and so they shrink with it.
constexpr Id states[] = {"eight_bit_optimizer", "paged_eight_bit_optimizer", "pure_bfloat16",
                         "sharded_states", "optimizer_in_host_memory"};
constexpr Id foreach[] = {"fused_optimizer"};
constexpr Id evaluation[] = {"smaller_eval_batch", "loss_only", "eval_accumulation"};
constexpr Id pieces[] = {"expandable_segments"};
constexpr Id tokens[] = {"micro_batch", "shorter", "gradient_checkpointing"};
constexpr Id longest[] = {"shorter", "padding_free", "micro_batch"};
constexpr Id shards[] = {"sharded_parameters", "sharded_states"};
constexpr Id undivided[] = {"adapters_instead_of_full", "nf4", "sharded_parameters", "sharded_in_host_memory",
                            "parameters_in_host_memory"};
constexpr Id casts[] = {"no_kbit_upcast"};
constexpr Id images[] = {"fewer_images", "smaller_images", "frozen_tower"};
constexpr Id reference[] = {"newer_trl", "precomputed_reference", "micro_batch"};
constexpr Id adapters[] = {"lower_rank", "sixteen_bit_adapters", "fewer_targets"};

struct Remedy {
  Id cause;
  std::span<const Id> fixes;
};
constexpr Remedy remedies[] = {{"logits_peak", loss},
                               {"checkpointing_not_active", checkpoints},
                               {"eager_attention_quadratic", kernel},
                               {"fp32_by_mistake", dtype},
                               {"optimizer_states_first_step", states},
                               {"optimizer_foreach_temporary", foreach},
                               {"eval_accumulates_logits", evaluation},
                               {"fragmentation", pieces},
                               {"batch_or_sequence_too_large", tokens},
                               {"dequantisation_temporary", tokens},
                               {"pairwise_doubles_batch", tokens},
                               {"long_outlier_sequences", longest},
                               {"packing_interaction", longest},
                               {"replicated_not_sharded", shards},
                               {"does_not_fit_at_all", undivided},
                               {"kbit_upcast", casts},
                               {"vision_tokens", images},
                               {"dpo_reference_model", reference},
                               {"adapters_large_or_fp32", adapters}};

}  // namespace

std::span<const Id> remedies_of(Id cause) {
  const auto* found = std::find_if(std::begin(remedies), std::end(remedies),
                                   [cause](const Remedy& one) { return one.cause == cause; });
  return found == std::end(remedies) ? std::span<const Id>() : found->fixes;
}

bool is_helped_on_the_card(const TextReading& reading) {
  const Message* message = reading.message();
  return message == nullptr ||
         (message->family->kind != MessageKind::host && message->family->kind != MessageKind::kernel);
}

}  // namespace plimsoll::diagnosis
