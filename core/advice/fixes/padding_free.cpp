#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

// Layers that carry a state from token to token run over the ends of samples, unless their kernels are told
// where these are.
bool looks_back_by_attention_alone(const model::Architecture& network) {
  if (model::has_state_space(network)) return false;
  for (const model::LayerGroup& group : network.stacks.front().groups) {
    if (group.attention == model::AttentionKind::linear_delta ||
        group.attention == model::AttentionKind::short_convolution)
      return false;
  }
  return true;
}

// What a row saves is known only where the lengths of the samples are.
std::vector<Level> padding_free_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  const bool known = r.data.longest_length > 0 && r.data.mean_length > 0 &&
                     r.data.mean_length < static_cast<double>(r.data.longest_length);
  const bool sixteen = r.autocast() || r.model_args.dtype != "float32";
  const bool trains = r.task == "sft" && s.network.kind == model::NetworkKind::decoder;
  if (!known || !sixteen || !trains || !r.training.padded_batches) return {};
  if (!looks_back_by_attention_alone(s.network)) return {};
  if (s.gpu != nullptr && !s.gpu->flash_attention_2) return {};
  Level level{{{"/training/padded_batches", false}}, quality::none};
  if (r.model_args.attn_implementation.rfind("flash_attention", 0) != 0) {
    level.changes["/model_args/attn_implementation"] = "flash_attention_2";
  }
  return {level};
}

constexpr Setting padding_free_settings[] = {
    {"hf",
     "Trainer(data_collator=DataCollatorWithFlattening()), from_pretrained(..., "
     "attn_implementation=\"flash_attention_2\")   # pip install flash-attn"},
    {"trl",
     "SFTConfig(padding_free=True, model_init_kwargs={\"attn_implementation\": \"flash_attention_2\"})   # "
     "pip install flash-attn"},
    {"axolotl", "batch_flattening: true, attn_implementation: flash_attention_2"},
};

}  // namespace

const Fix padding_free = {
    .id = "padding_free",
    .title = "No padding: the samples of a batch end to end",
    .slot = "attention",
    .effort = "a package",
    .why =
        "The batch with the longest sample holds the others as long as they are, instead of padding all of "
        "them to it; flash attention keeps them apart.",
    .evidence = "The same samples in a step and the same loss up to rounding; no sample sees another.",
    .source =
        "arXiv:2407.09105; huggingface/transformers docs padding_free, data_collator.py "
        "DataCollatorWithFlattening",
    .levels = padding_free_levels,
    .settings = padding_free_settings,
};

}  // namespace plimsoll::advice
