#include "core/memory/step/packed_rows.h"

#include <algorithm>

#include "core/recipe/stacks.h"

namespace plimsoll::memory {

namespace {

// Of all the others each brings a kernel that reads where a sample begins.
bool needs_mask(const recipe::Recipe& r) {
  return r.model_args.attn_implementation == "sdpa" || r.model_args.attn_implementation == "eager";
}

bool is_served(const model::LayerGroup& group) {
  const bool slides = group.attention == model::AttentionKind::sliding && group.window > 0;
  const bool one_width = group.value_head_dim == 0 || group.value_head_dim == group.head_dim;
  return !slides && one_width && group.head_dim <= 256 && group.attention_dropout == 0;
}

}  // namespace

// TRL's SFTTrainer packs without padding whatever the attention (v1.9.0 trl/trainer/sft_trainer.py __init__,
// DataCollatorForLanguageModeling): one row whose positions begin anew, of which a mask is made where flash
// attention does not read them itself (transformers masking_utils.py find_packed_sequence_indices).
bool flattens(const recipe::Recipe& r) {
  return r.training.packing && recipe::stack_traits(r.stack).flattens_packed &&
         recipe::version_at_least(r.versions.trl, "0.19") && needs_mask(r);
}

// Axolotl pads each packed row to sequence_len. Where the attention is not named, or before 0.18, the collator's mask
// stays, and hides that padding; else it is dropped, and Transformers makes one of the positions (axolotl v0.19.0
// core/builders/causal.py sample_packing_drop_attention_mask, utils/schemas/config.py attn_decontaminates_packing).
bool has_packed_mask(const recipe::Recipe& r, const model::Architecture& network) {
  const bool rows = r.training.packing && recipe::stack_traits(r.stack).masks_packed && needs_mask(r);
  return flattens(r) || (rows && !runs_varlen(r, network));
}

// axolotl v0.18.0 and v0.19.0 loaders/patch_manager.py _apply_sdpa_varlen_patch, monkeypatch/attention/sdpa_varlen.py:
// where a file says `attn_implementation: sdpa` itself.
bool runs_varlen(const recipe::Recipe& r, const model::Architecture& network) {
  const bool patched = r.training.packing && recipe::stack_traits(r.stack).masks_packed &&
                       r.model_args.attention_is_named && r.model_args.attn_implementation == "sdpa" &&
                       recipe::version_at_least(r.versions.axolotl, "0.18") &&
                       recipe::version_at_least(r.versions.torch, "2.10");
  const bool narrow = r.autocast() || r.model_args.dtype != "float32";
  return patched && narrow &&
         std::all_of(network.stacks.begin(), network.stacks.end(), [](const model::Stack& stack) {
           return stack.part != model::Part::text ||
                  std::all_of(stack.groups.begin(), stack.groups.end(), is_served);
         });
}

}  // namespace plimsoll::memory
