// Encoders that came after BERT: DistilBERT (half the layers), ELECTRA (words narrower than its small layers),
// MPNet and DeBERTa-v3 (scores of relative positions), Nomic (rotary positions, a gated MLP). Counted as the base
// model. Transformers 5.23, models/distilbert, electra, mpnet, deberta_v2, nomic_bert.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/families/encoders.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

void read_distilbert(ConfigReader& config, const Frame&, Architecture& network) {
  EncoderTraits traits;
  traits.base = "distilbert.";
  traits.types = 0;
  traits.pooler = false;
  traits.hidden_key = "dim";
  traits.intermediate_key = "hidden_dim";
  traits.layers_key = "n_layers";
  traits.heads_key = "n_heads";
  traits.activation_key = "activation";
  traits.attention_dropout_key = "attention_dropout";
  traits.dropout_key = "dropout";
  traits.layer = "transformer.layer.#.";
  traits.names = {"q_lin", "k_lin", "v_lin", "out_lin"};
  traits.up = "ffn.lin1";
  traits.down = "ffn.lin2";
  traits.keeps_activation = false;
  read_encoder(config, traits, network).groups.front().attends_undropped = true;
}

void read_electra(ConfigReader& config, const Frame&, Architecture& network) {
  EncoderTraits traits;
  traits.base = "electra.";
  traits.pooler = false;
  traits.narrow_words = true;
  read_encoder(config, traits, network);
}

void read_mpnet(ConfigReader& config, const Frame&, Architecture& network) {
  EncoderTraits traits;
  traits.base = "mpnet.";
  traits.vocab = 30527;
  traits.types = 0;
  traits.attention = "attention.attn.";
  traits.names = {"q", "k", "v", "o"};
  Stack& encoder = read_encoder(config, traits, network);
  LayerGroup& group = encoder.groups.front();
  group.position_bias = true;
  add_table(encoder, "mpnet.encoder.relative_attention_bias",
            config.size("relative_attention_num_buckets", 32), group.heads);
  // As RoBERTa's, its positions are counted from behind the padding token's.
  network.max_position_embeddings -= std::min<uint64_t>(2, network.max_position_embeddings);
}

// Queries and keys are held against a table of distances besides, through the projections that they have anyway.
// The larger DeBERTa-v2 put a convolution beside the first layer, and DeBERTa-v1 has other projections.
void read_deberta_v2(ConfigReader& config, const Frame&, Architecture& network) {
  if (config.count("conv_kernel_size", 0) > 0)
    config.fail("conv_kernel_size", "DeBERTa-v2's convolution is not replayed.",
                "a DeBERTa-v3, which has none");
  if (!config.flag("relative_attention", false) || !config.flag("share_att_key", false))
    config.fail(config.flag("relative_attention", false) ? "share_att_key" : "relative_attention",
                "Only attention as DeBERTa-v3 has it is replayed.",
                "relative_attention and share_att_key true");
  EncoderTraits traits;
  traits.base = "deberta.";
  traits.vocab = 128100;
  traits.types = config.count("type_vocab_size", 0);
  traits.pooler = false;
  traits.learned_positions = config.flag("position_biased_input", true);
  traits.names = {"self.query_proj", "self.key_proj", "self.value_proj", "output.dense"};
  Stack& encoder = read_encoder(config, traits, network);
  const uint64_t hidden = encoder.hidden;
  uint64_t span = network.max_position_embeddings;
  for (const char* key :
       {"max_relative_positions", "position_buckets"}) {  // the latter decides; -1 says nothing
    if (const double own = config.number(key, -1, {-1, 1e6}); own > 0) span = static_cast<uint64_t>(own);
  }
  encoder.groups.front().relative_rows = times(2, span);
  add_table(encoder, "deberta.encoder.rel_embeddings", times(2, span), hidden);
  if (config.text("norm_rel_ebd", "none").find("layer_norm") != std::string::npos)
    add_layer_norm(encoder.norms, NormPlace::other, hidden);
}

void read_nomic_bert(ConfigReader& config, const Frame&, Architecture& network) {
  EncoderTraits traits;
  traits.base = "";
  traits.vocab = 30528;
  traits.learned_positions = traits.pooler = traits.bias = false;
  traits.rotary = traits.gated = true;
  traits.keeps_activation = false;
  traits.activation = "silu";
  traits.dropout = 0;
  traits.layer = "layers.#.";
  traits.attention = "self_attn.";
  traits.names = {};
  read_encoder(config, traits, network);
}

}  // namespace plimsoll::model::families
