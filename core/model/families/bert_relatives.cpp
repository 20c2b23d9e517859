// Encoders that came after BERT: DistilBERT (half the layers), ELECTRA (words narrower than its small layers),
// MPNet and DeBERTa-v3 (scores of relative positions), Nomic (rotary positions, a gated MLP). Counted as the base
// model. Transformers 5.23, models/distilbert, electra, mpnet, deberta_v2, nomic_bert.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/families/encoders.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

namespace {

constexpr EncoderTraits distilbert{.base = "distilbert.",
                                   .types = 0,
                                   .pooler = false,
                                   .keeps_activation = false,
                                   .hidden_key = "dim",
                                   .intermediate_key = "hidden_dim",
                                   .layers_key = "n_layers",
                                   .heads_key = "n_heads",
                                   .activation_key = "activation",
                                   .attention_dropout_key = "attention_dropout",
                                   .dropout_key = "dropout",
                                   .layer = "transformer.layer.#.",
                                   .up = "ffn.lin1",
                                   .down = "ffn.lin2",
                                   .q = "q_lin",
                                   .k = "k_lin",
                                   .v = "v_lin",
                                   .o = "out_lin"};
constexpr EncoderTraits electra{.base = "electra.", .pooler = false, .narrow_words = true};
constexpr EncoderTraits mpnet{.base = "mpnet.",
                              .vocab = 30527,
                              .types = 0,
                              .attention = "attention.attn.",
                              .q = "q",
                              .k = "k",
                              .v = "v",
                              .o = "o"};
constexpr EncoderTraits deberta{.base = "deberta.",
                                .vocab = 128100,
                                .types = 0,
                                .pooler = false,
                                .q = "self.query_proj",
                                .k = "self.key_proj",
                                .v = "self.value_proj"};
constexpr EncoderTraits nomic{.base = "",
                              .vocab = 30528,
                              .learned_positions = false,
                              .pooler = false,
                              .keeps_activation = false,
                              .rotary = true,
                              .gated = true,
                              .bias = false,
                              .activation = "silu",
                              .dropout = 0,
                              .layer = "layers.#.",
                              .attention = "self_attn.",
                              .q = "q_proj",
                              .k = "k_proj",
                              .v = "v_proj",
                              .o = "o_proj"};

}  // namespace

void read_distilbert(ConfigReader& config, const Frame&, Architecture& network) {
  read_encoder(config, distilbert, network).groups.front().attends_undropped = true;
}

void read_electra(ConfigReader& config, const Frame&, Architecture& network) {
  read_encoder(config, electra, network);
}

void read_mpnet(ConfigReader& config, const Frame&, Architecture& network) {
  Stack& encoder = read_encoder(config, mpnet, network);
  LayerGroup& group = encoder.groups.front();
  group.position_bias = true;
  add_table(encoder, "mpnet.encoder.relative_attention_bias",
            config.size("relative_attention_num_buckets", 32), group.heads);
  // As RoBERTa's, its positions are counted from behind the padding token's.
  network.max_position_embeddings -= std::min<uint64_t>(2, network.max_position_embeddings);
}

// Queries and keys are held against a table of distances besides, through the projections that they have anyway.
// The larger DeBERTa-v2 put a convolution beside the first layer.
void read_deberta_v2(ConfigReader& config, const Frame&, Architecture& network) {
  const bool other = config.count("conv_kernel_size", 0) > 0;
  const bool v3 = config.flag("relative_attention", false) && config.flag("share_att_key", false);
  if (other || !v3)
    config.fail(other ? "conv_kernel_size" : "share_att_key", "Of DeBERTa only v3 is replayed.",
                "relative_attention and share_att_key true, no convolution");
  EncoderTraits traits = deberta;
  traits.types = config.count("type_vocab_size", 0);
  traits.learned_positions = config.flag("position_biased_input", true);
  Stack& encoder = read_encoder(config, traits, network);
  uint64_t span = network.max_position_embeddings;
  for (const char* key :
       {"max_relative_positions", "position_buckets"}) {  // the latter decides; -1 says nothing
    if (const double own = config.number(key, -1, {-1, 1e6}); own > 0) span = static_cast<uint64_t>(own);
  }
  encoder.groups.front().relative_rows = times(2, span);
  add_table(encoder, "deberta.encoder.rel_embeddings", times(2, span), encoder.hidden);
  if (config.text("norm_rel_ebd", "none").find("layer_norm") != std::string::npos)
    add_layer_norm(encoder.norms, NormPlace::other, encoder.hidden);
}

void read_nomic_bert(ConfigReader& config, const Frame&, Architecture& network) {
  EncoderTraits traits = nomic;
  // The hub's file has GPT-2's names for its fields, Transformers' own class those of BERT.
  if (config.has("n_embd")) {
    traits.hidden_key = "n_embd";
    traits.intermediate_key = "n_inner";
    traits.layers_key = "n_layer";
    traits.heads_key = "n_head";
    traits.activation_key = "activation_function";
    traits.attention_dropout_key = "attn_pdrop";
    traits.dropout_key = "resid_pdrop";
  }
  read_encoder(config, traits, network);
  if (config.has("n_positions")) network.max_position_embeddings = config.size("n_positions", 2048);
}

}  // namespace plimsoll::model::families
