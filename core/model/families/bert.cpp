// Encoders: BERT, RoBERTa and ModernBERT. Counted as the base model (with BERT's pooler), as published; a
// task head belongs to the recipe. Transformers 4.57, models/bert, roberta, modernbert.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/families/encoders.h"
#include "core/model/saturating.h"

namespace plimsoll::model {

namespace {

LayerGroup encoder_layers(ConfigReader& config, const EncoderTraits& t, uint64_t hidden,
                          Architecture& network) {
  LayerGroup group;
  group.name = "encoder layers";
  group.layers = config.depth(t.layers_key, 12);
  group.attention = AttentionKind::bidirectional;
  group.heads = group.kv_heads = config.core(t.heads_key, 12);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, t.heads_key);
  group.rotary_share = t.rotary ? 1 : 0;
  group.scores = Scores::own_type_cast_late;
  group.post_norm = true;
  group.keeps_activation = t.keeps_activation;
  group.activation = activation(config, t.activation_key, t.activation, network);
  group.attention_dropout = config.share(t.attention_dropout_key, t.dropout);
  group.residual_dropout = config.share(t.dropout_key, t.dropout);
  const std::string layer = std::string(t.base) + t.layer;
  const uint64_t intermediate = config.core(t.intermediate_key, 3072);
  add_attention(group, layer + t.attention, hidden, t.bias, t.bias, {t.q, t.k, t.v, t.o});
  if (t.gated) {
    add_gated_mlp(group, layer + "mlp.", hidden, intermediate, t.bias);
  } else {
    add_plain_mlp(group, layer + t.up, layer + t.down, hidden, intermediate, t.bias);
  }
  add_layer_norm(group.norms, NormPlace::after_attention, hidden);
  add_layer_norm(group.norms, NormPlace::after_mlp, hidden);
  return group;
}

}  // namespace

Stack& read_encoder(ConfigReader& config, const EncoderTraits& t, Architecture& network) {
  const uint64_t hidden = config.core(t.hidden_key, 768);
  const uint64_t words = t.narrow_words ? config.size("embedding_size", hidden) : hidden;
  network.vocab_size = config.core("vocab_size", t.vocab);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_position_embeddings", 512);
  const LayerGroup group = encoder_layers(config, t, hidden, network);

  Stack encoder;
  encoder.part = Part::encoder;
  encoder.name = "encoder";
  encoder.hidden = hidden;
  encoder.embedding_norm = true;
  encoder.embedding_dropout = group.residual_dropout;
  const std::string base = t.base, at = base + "embeddings.";
  add_table(encoder, at + "word_embeddings", network.vocab_size, words);
  if (t.learned_positions)
    add_table(encoder, at + "position_embeddings", network.max_position_embeddings, words, true);
  if (t.types > 0)
    add_table(encoder, at + "token_type_embeddings", config.count("type_vocab_size", t.types), words);
  add_layer_norm(encoder.norms, NormPlace::other, words);
  if (words != hidden)
    add_linear(encoder.linears, base + "embeddings_project", words, hidden, true, Role::other);
  encoder.groups.push_back(group);
  if (t.pooler) add_linear(encoder.linears, base + "pooler.dense", hidden, hidden, true, Role::other);
  network.stacks.push_back(encoder);
  return network.stacks.back();
}

}  // namespace plimsoll::model

namespace plimsoll::model::families {

void read_bert(ConfigReader& config, const Frame&, Architecture& network) {
  read_encoder(config, {}, network);
}

void read_roberta(ConfigReader& config, const Frame&, Architecture& network) {
  constexpr EncoderTraits roberta{.base = "roberta.", .vocab = 50265};
  read_encoder(config, roberta, network);
  // Positions are counted from behind the padding token's, so the first two rows of the table are never read
  // (modeling_roberta.py create_position_ids_from_input_ids).
  uint64_t& positions = network.max_position_embeddings;
  positions -= std::min<uint64_t>(2, positions);
}

using saturating::times;

void read_modernbert(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 768);
  const uint64_t layers = config.depth("num_hidden_layers", 22);
  const uint64_t every = config.size("global_attn_every_n_layers", 3);
  const uint64_t intermediate = config.core("intermediate_size", 1152);
  const bool attention_bias = config.flag("attention_bias", false);
  const bool mlp_bias = config.flag("mlp_bias", false);
  const bool norm_bias = config.flag("norm_bias", false);
  network.vocab_size = config.core("vocab_size", 50368);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_position_embeddings", 8192);

  LayerGroup shape;
  shape.heads = shape.kv_heads = config.core("num_attention_heads", 12);
  shape.head_dim = shape.value_head_dim = head_width(config, hidden, shape.heads, "num_attention_heads");
  shape.activation = activation(config, "hidden_activation", "gelu", network);
  shape.attention_dropout = config.share("attention_dropout", 0);
  shape.intermediate = intermediate;
  const std::string layer = "model.layers.#.";
  add_linear(shape.linears, layer + "attn.Wqkv", hidden, times(3, hidden), attention_bias, Role::qkv);
  add_linear(shape.linears, layer + "attn.Wo", hidden, hidden, attention_bias, Role::o);
  add_linear(shape.linears, layer + "mlp.Wi", hidden, times(2, intermediate), mlp_bias, Role::gate_up);
  add_linear(shape.linears, layer + "mlp.Wo", intermediate, hidden, mlp_bias, Role::down);
  add_layer_norm(shape.norms, NormPlace::before_mlp, hidden, norm_bias);

  Stack encoder;
  encoder.part = Part::encoder;
  encoder.name = "encoder";
  encoder.hidden = hidden;
  encoder.embedding_norm = true;
  encoder.embedding_dropout = config.share("embedding_dropout", 0);
  add_table(encoder, "model.embeddings.tok_embeddings", network.vocab_size, hidden);
  add_layer_norm(encoder.norms, NormPlace::other, hidden, norm_bias);
  // Layers 0, n, 2n, ... see the whole text; layer 0 has no norm before its attention, the embedding has it.
  const uint64_t global = (layers - 1) / every;
  const auto add_group = [&](const char* name, uint64_t count, AttentionKind attention, bool norm) {
    if (count == 0) return;
    LayerGroup group = shape;
    group.name = name;
    group.layers = count;
    group.attention = attention;
    if (attention == AttentionKind::sliding) group.window = config.size("local_attention", 128);
    if (norm) add_layer_norm(group.norms, NormPlace::before_attention, hidden, norm_bias);
    encoder.groups.push_back(group);
  };
  add_group("first layer", 1, AttentionKind::bidirectional, false);
  add_group("global layers", global, AttentionKind::bidirectional, true);
  add_group("local layers", layers - 1 - global, AttentionKind::sliding, true);
  add_layer_norm(encoder.norms, NormPlace::other, hidden, norm_bias);
  network.stacks.push_back(encoder);
}

}  // namespace plimsoll::model::families
