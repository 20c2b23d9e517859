#include "core/advice/fixes/fixes.h"
#include "core/model/model_types.h"
#include "core/recipe/sdpa_support.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> flash_attention_levels(const FixContext& s) {
  const recipe::Recipe& r = s.recipe;
  const std::string& now = r.model_args.attn_implementation;
  const bool sixteen = r.autocast() || r.model_args.dtype != "float32";
  const bool decoder =
      s.network.kind == model::NetworkKind::decoder || s.network.kind == model::NetworkKind::vlm;
  if ((now != "eager" && now != "sdpa") || !sixteen || !decoder) return {};
  const std::string& type = s.network.model_type;
  if (!recipe::supports_flash_attention(type, r.versions.transformers) ||
      model::model_type(type).own_flash_kernel)
    return {};
  if (s.gpu != nullptr && !s.gpu->flash_attention_2) return {};
  return {{{{"/model_args/attn_implementation", "flash_attention_2"}}, quality::none}};
}

constexpr Setting flash_attention_settings[] = {
    {"hf loop agilerl",
     "from_pretrained(..., attn_implementation=\"flash_attention_2\")   # pip install flash-attn"},
    {"trl", "SFTConfig(model_init_kwargs={\"attn_implementation\": \"flash_attention_2\"})"},
    {"axolotl", "attn_implementation: flash_attention_2   # older releases: flash_attention: true"},
    {"llamafactory", "flash_attn: fa2"},
    {"ms-swift", "--attn_impl flash_attn   # pip install flash-attn"},
    {"colossalai", "--use_flash_attn"},
};

}  // namespace

const Fix flash_attention = {
    .id = "flash_attention",
    .title = "FlashAttention-2",
    .slot = "attention",
    .effort = "a package",
    .why =
        "No mask is built and no scores are written, also where padding or the card keeps SDPA from its "
        "flash kernel.",
    .evidence = "The same numbers up to rounding.",
    .source = "Dao-AILab/flash-attention; huggingface/transformers integrations/flash_attention.py",
    .levels = flash_attention_levels,
    .settings = flash_attention_settings,
};

}  // namespace plimsoll::advice
