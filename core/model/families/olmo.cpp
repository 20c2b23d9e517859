// OLMo: norms without parameters. OLMo-2: norms after attention and MLP, and over all of q and k.
#include "core/model/families.h"

namespace plimsoll::model::families {

namespace {

DecoderTraits olmo() {
  DecoderTraits traits;
  traits.vocab = 50304;
  traits.bias_key = "attention_bias";
  return traits;
}

}  // namespace

void read_olmo(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = olmo();
  traits.norm = NormKind::layer;
  traits.norm_weight = false;
  read_decoder(config, frame, traits, network);
}

void read_olmo2(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = olmo();
  traits.layout = NormLayout::post;
  traits.qk_norm = QkNorm::full_width;
  read_decoder(config, frame, traits, network);
}

}  // namespace plimsoll::model::families
