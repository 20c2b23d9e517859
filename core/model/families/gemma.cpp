// Gemma 1, 2 and 3 text models. (1 + weight) of each norm is multiplied in fp32; heads are 256 wide whatever
// the hidden size; 2 and 3 normalise after attention and MLP too. Transformers 4.57, models/gemma, gemma2,
// gemma3.
#include "core/model/families.h"

namespace plimsoll::model::families {

namespace {

DecoderTraits gemma() {
  DecoderTraits traits;
  traits.hidden = 3072;
  traits.intermediate = 24576;
  traits.layers = 28;
  traits.heads = 16;
  traits.kv_heads = 16;
  traits.head_dim = 256;
  traits.vocab = 256000;
  traits.positions = 8192;
  traits.tied = true;
  traits.bias_key = "attention_bias";
  traits.activation = "gelu_pytorch_tanh";
  traits.fp32_norm_product = true;
  return traits;
}

DecoderTraits gemma2() {
  DecoderTraits traits = gemma();
  traits.hidden = 2304;
  traits.intermediate = 9216;
  traits.layers = 26;
  traits.heads = 8;
  traits.kv_heads = 4;
  traits.activation_key = "hidden_activation";
  traits.layout = NormLayout::sandwich;
  traits.window = 4096;
  traits.most_layers = AttentionKind::sliding;
  traits.full_period = 2;
  return traits;
}

void read_softcap(ConfigReader& config, double fallback, Architecture& network) {
  network.logit_softcap = config.is_null("final_logit_softcapping")
                              ? 0
                              : config.number("final_logit_softcapping", fallback, {0, 1e6});
}

}  // namespace

void read_gemma(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_decoder(config, frame, gemma(), network);
}

void read_gemma2(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_softcap(config, 30.0, network);
  DecoderTraits traits = gemma2();
  traits.soft_capped = !config.is_null("attn_logit_softcapping");
  read_decoder(config, frame, traits, network);
}

void read_gemma3_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = gemma2();
  traits.vocab = 262208;
  traits.positions = 131072;
  traits.qk_norm = QkNorm::per_head;
  traits.full_period = config.size(config.spelling({"sliding_window_pattern", "_sliding_window_pattern"}), 6);
  read_softcap(config, 0, network);
  read_decoder(config, frame, traits, network);
}

}  // namespace plimsoll::model::families
