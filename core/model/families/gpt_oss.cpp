// gpt-oss: biases and one attention sink a head, windows in every other layer, all experts of a layer in two
// 3-D parameters (which PEFT and bitsandbytes do not see as linears). Transformers 4.57, models/gpt_oss.
#include "core/model/families.h"

namespace plimsoll::model::families {

void read_gpt_oss(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.hidden = 2880;
  traits.intermediate = 2880;
  traits.layers = 36;
  traits.heads = 64;
  traits.kv_heads = 8;
  traits.head_dim = 64;
  traits.vocab = 201088;
  traits.positions = 131072;
  traits.bias_key = "attention_bias";
  traits.bias = true;
  traits.window = 128;
  traits.most_layers = AttentionKind::sliding;
  traits.full_period = 2;
  traits.experts.count = config.core("num_local_experts", 128);
  traits.experts.per_token = config.size("num_experts_per_tok", 4);
  traits.experts.width = config.core("intermediate_size", traits.intermediate);
  traits.experts.at = "mlp.experts.";
  traits.experts.fused = true;
  traits.experts.bias = true;
  traits.experts.router = "mlp.router";
  traits.experts.router_is_linear = false;
  traits.experts.router_bias = true;
  read_decoder(config, frame, traits, network);
  for (LayerGroup& group : network.stacks.back().groups) {
    group.other_parameters = group.heads;  // sinks
    group.activation = Activation::clamped_glu;
    group.scores = Scores::with_sinks;
  }
}

}  // namespace plimsoll::model::families
