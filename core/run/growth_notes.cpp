#include "core/run/growth_notes.h"

#include <algorithm>

#include "core/memory/head/unsloth_loss.h"
#include "core/memory/step/evaluation.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::run {

namespace {

// States of 100,000 elements and more go to managed memory when paged, those of small tensors stay in fp32
// when they are kept in 8 bits or fewer.
bool steps_by_size(const recipe::Recipe& r) {
  const recipe::Optimizer* optimizer = recipe::find_optimizer(r.training.optim);
  return r.peft.on && optimizer != nullptr && (optimizer->paged || optimizer->full_state_below > 0);
}

// Of a few tokens, what flash attention's backward adds to a layer outweighs a second sample.
constexpr double few_tokens = 32;
bool pads_few_tokens(const Replayed& f) {
  const recipe::Recipe& r = f.recipe;
  const bool masked = r.training.padded_batches || r.training.per_device_train_batch_size == 1;
  return r.model_args.attn_implementation == "sdpa" && masked && r.row_length() < few_tokens;
}

// The math kernel runs where no mask is, and none is needed until a row reaches the sliding window.
bool gets_a_mask_at_the_window(const Replayed& f) {
  if (f.replay.attention.find("math kernel") == std::string_view::npos) return false;
  const auto& groups = f.network.stacks.front().groups;
  return std::any_of(groups.begin(), groups.end(), [&f](const model::LayerGroup& group) {
    return group.attention == model::AttentionKind::sliding &&
           f.recipe.row_length() < static_cast<double>(group.window);
  });
}

struct Threshold {
  const char* code;
  bool (*applies)(const Replayed&);
  const char* message;
  const char* source;
};
constexpr Threshold thresholds[] = {
    {"rank_may_take_less",
     [](const Replayed& f) { return f.recipe.peft.on && f.recipe.peft.peft_type == "OFT"; },
     "OFT's r is the number of blocks of a rotation: more blocks are smaller ones, and take less.",
     "huggingface/peft src/peft/tuners/oft/layer.py"},
    {"rank_may_take_less",
     [](const Replayed& f) { return f.recipe.peft.on && f.recipe.peft.peft_type == "RANDLORA"; },
     "RandLoRA makes up a full rank of random bases of rank r: a higher r needs fewer of them, and may take "
     "less.",
     "huggingface/peft src/peft/tuners/randlora/layer.py"},
    {"rank_may_take_less",
     [](const Replayed& f) { return f.recipe.peft.on && f.recipe.peft.peft_type == "LOKR"; },
     "From a rank of half a factor's longer side on, LoKr keeps that factor whole instead of as two "
     "matrices: a rank above that line can take less than one below it.",
     "huggingface/peft src/peft/tuners/lokr/layer.py create_adapter_parameters"},
    {"rank_may_take_less", [](const Replayed& f) { return steps_by_size(f.recipe); },
     "This optimizer treats tensors by their size: states of small ones stay on the GPU, or in fp32. A "
     "higher rank can cross a threshold and take less.",
     "bitsandbytes optim/optimizer.py get_state_buffer, min_8bit_size"},
    {"size_may_take_less", [](const Replayed& f) { return memory::unsloth_chunks_by_size(f.recipe); },
     "Unsloth splits the loss into as many chunks as its share of memory asks for: where one more sample or "
     "token makes it four chunks more, the peak falls.",
     "unslothai/unsloth-zoo unsloth_zoo/fused_losses/cross_entropy_loss.py"},
    {"size_may_take_less", [](const Replayed& f) { return memory::unsloth_loss_has_threshold(f.recipe); },
     "These releases of Unsloth make the logits of a batch of up to 1,024 tokens and fuse head and loss "
     "beyond: one token more can take less.",
     "unslothai/unsloth 2025.8.2 unsloth/models/llama.py CausalLM_fast_forward"},
    {"size_may_take_less",
     [](const Replayed& f) {
       return f.recipe.training.activation_offloading || f.recipe.training.offload_checkpoints;
     },
     "Saved tensors that are very small are not sent to host memory: where one more sample or token makes "
     "them large enough, they leave the GPU.",
     "huggingface/trl trl/models/activation_offloading.py min_offload_size"},
    {"size_may_take_less", pads_few_tokens,
     "A sample alone needs no mask and so takes flash attention, whose backward works on rows of 128 tokens: "
     "of rows this short, two samples with a mask can take less.",
     "pytorch/pytorch aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp mha_bwd "
     "(seqlen_q_rounded)"},
    {"size_may_take_less", gets_a_mask_at_the_window,
     "Rows that reach the sliding window get a mask, and with it the memory-efficient kernel runs instead "
     "of the math kernel: a longer row can take less.",
     "huggingface/transformers src/transformers/masking_utils.py _ignore_causal_mask_sdpa; "
     "integrations/sdpa_attention.py use_gqa_in_sdpa"},
};

}  // namespace

std::vector<model::Note> growth_notes(const Replayed& facts) {
  std::vector<model::Note> notes;
  for (const Threshold& threshold : thresholds) {
    const bool said = !notes.empty() && notes.back().code == threshold.code;
    if (!said && threshold.applies(facts))
      notes.push_back({threshold.code, threshold.message, threshold.source});
  }
  return notes;
}

}  // namespace plimsoll::run
