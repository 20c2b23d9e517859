// OLMo: norms without parameters. OLMo-2: norms after attention and MLP, and over all of q and k. OLMo-3:
// that with a window in three of four layers. Transformers 4.57, models/olmo, olmo2, olmo3.
#include "core/model/families.h"

namespace plimsoll::model::families {

namespace {

DecoderTraits olmo() {
  DecoderTraits traits;
  traits.vocab = 50304;
  traits.bias_key = "attention_bias";
  traits.rotary_in_fp32 = true;
  return traits;
}

DecoderTraits olmo2() {
  DecoderTraits traits = olmo();
  traits.layout = NormLayout::post;
  traits.fp32_norm_product = true;
  traits.qk_norm = QkNorm::full_width;
  return traits;
}

}  // namespace

void read_olmo(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = olmo();
  traits.norm = NormKind::layer_in_fp32;
  traits.norm_weight = false;
  read_decoder(config, frame, traits, network);
}

void read_olmo2(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_decoder(config, frame, olmo2(), network);
}

void read_olmo3(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = olmo2();
  traits.window = 4096;
  traits.most_layers = AttentionKind::sliding;
  traits.full_period = 4;
  read_decoder(config, frame, traits, network);
}

// OLMoE: every layer is experts; q and k are normalised over their whole width. Transformers 4.57,
// models/olmoe.
void read_olmoe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.hidden = 2048;
  traits.intermediate = 2048;
  traits.layers = 16;
  traits.heads = 16;
  traits.vocab = 50304;
  traits.positions = 4096;
  traits.bias_key = "attention_bias";
  traits.qk_norm = QkNorm::full_width;
  traits.experts.count = config.core("num_experts", 64);
  traits.experts.per_token = config.size("num_experts_per_tok", 8);
  traits.experts.width = config.core("intermediate_size", traits.intermediate);
  traits.experts.at = "mlp.experts.*.";
  read_decoder(config, frame, traits, network);
}

}  // namespace plimsoll::model::families
