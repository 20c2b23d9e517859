// Encoder-decoders of the BART line: BART itself (norms behind the branches) and mBART (norms before them),
// Whisper (sound in, text out), and with sinusoidal positions NLLB-200 (m2m_100), Pegasus and Marian. Transformers
// 4.57, models/bart, mbart, whisper, m2m_100, pegasus, marian.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

struct Side {
  Part part;
  std::string name;               // "encoder": its fields are encoder_layers, encoder_ffn_dim, ...
  uint64_t layers, heads, width;  // class defaults
};

Stack read_side(ConfigReader& config, const Side& side, uint64_t hidden, bool key_bias,
                const LayerGroup& shape) {
  const bool decoder = side.part == Part::decoder;
  const std::string heads_key = side.name + "_attention_heads";
  LayerGroup group = shape;
  group.name = side.name + " layers";
  group.layers = config.depth(side.name + "_layers", side.layers);
  group.attention = decoder ? AttentionKind::full : AttentionKind::bidirectional;
  group.heads = group.kv_heads = config.core(heads_key, side.heads);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, heads_key);
  group.rotary_share = 0;

  const std::string base = "model." + side.name + ".";
  const std::string layer = base + "layers.#.";
  const AttentionNames names{"q_proj", "k_proj", "v_proj", "out_proj"};
  add_attention(group, layer + "self_attn.", hidden, true, true, names);
  const bool post = group.post_norm;
  add_layer_norm(group.norms, post ? NormPlace::after_attention : NormPlace::before_attention, hidden);
  if (decoder) {
    add_cross_attention(group, layer + "encoder_attn.", hidden, hidden, true, names);
    add_layer_norm(group.norms, post ? NormPlace::after_cross : NormPlace::before_cross, hidden);
  }
  for (Linear& linear : group.linears) {
    if (linear.role == Role::k || linear.role == Role::cross_k) linear.bias = key_bias;
  }
  add_plain_mlp(group, layer + "fc1", layer + "fc2", hidden, config.core(side.name + "_ffn_dim", side.width),
                true);
  add_layer_norm(group.norms, post ? NormPlace::after_mlp : NormPlace::before_mlp, hidden);

  Stack stack;
  stack.part = side.part;
  stack.name = side.name;
  stack.hidden = hidden;
  stack.embedding_dropout = shape.residual_dropout;
  stack.groups.push_back(group);
  if (!post) add_layer_norm(stack.norms, NormPlace::other, hidden);
  return stack;
}

LayerGroup read_shape(ConfigReader& config, std::string_view act, double dropout, double attention_dropout,
                      Architecture& network) {
  LayerGroup shape;
  shape.activation = activation(config, "activation_function", act, network);
  shape.scores = Scores::own_type_cast_late;
  shape.residual_dropout = config.share("dropout", dropout);
  shape.attention_dropout = config.share("attention_dropout", attention_dropout);
  return shape;
}

}  // namespace

void read_whisper(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = config.core("d_model", 384);
  const uint64_t mel = config.size("num_mel_bins", 80);
  network.vocab_size = config.core("vocab_size", 51865);
  network.tied_head = config.flag("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_target_positions", 448);
  LayerGroup shape = read_shape(config, "gelu", 0, 0, network);
  shape.heads_first = true;

  Stack encoder = read_side(config, {Part::encoder, "encoder", 4, 6, 1536}, hidden, false, shape);
  const uint64_t first = plus(times(3, times(mel, hidden)), hidden);      // conv1: kernel of 3
  const uint64_t second = plus(times(3, times(hidden, hidden)), hidden);  // conv2
  encoder.other_parameters = plus(first, second);
  encoder.frames = config.size("max_source_positions", 1500);
  encoder.frame_features = times(2, mel);
  encoder.frame_width = plus(times(2, mel), times(5, hidden));  // the second convolution halves their number
  add_table(encoder, "model.encoder.embed_positions", encoder.frames, hidden, true);
  encoder.tables.back().trained = false;

  Stack decoder = read_side(config, {Part::decoder, "decoder", 4, 6, 1536}, hidden, false, shape);
  add_table(decoder, "model.decoder.embed_tokens", network.vocab_size, hidden);
  add_table(decoder, "model.decoder.embed_positions", network.max_position_embeddings, hidden, true);
  add_head(network, decoder, "proj_out", hidden);
  network.stacks.push_back(encoder);
  network.stacks.push_back(decoder);
}

namespace {

// Learned positions, two more than are asked for, and a norm behind each embedding.
void read_bart_line(ConfigReader& config, bool post_norm, Architecture& network) {
  const uint64_t hidden = config.core("d_model", 1024);
  network.vocab_size = config.core("vocab_size", 50265);
  network.tied_head = config.flag("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_position_embeddings", 1024);
  LayerGroup shape = read_shape(config, "gelu", 0.1, 0, network);
  shape.activation_dropout = config.share("activation_dropout", 0);
  shape.post_norm = post_norm;

  Stack encoder = read_side(config, {Part::encoder, "encoder", 12, 16, 4096}, hidden, true, shape);
  Stack decoder = read_side(config, {Part::decoder, "decoder", 12, 16, 4096}, hidden, true, shape);
  for (Stack* side : {&encoder, &decoder}) {
    side->embedding_norm = true;
    Norm behind_embedding{.kind = NormKind::layer, .width = hidden, .bias = true};
    side->norms.insert(side->norms.begin(), behind_embedding);
    add_table(*side, "model." + side->name + ".embed_positions", plus(network.max_position_embeddings, 2),
              hidden, true);
  }
  add_table(encoder, "model.shared", network.vocab_size, hidden);
  add_head(network, decoder, "lm_head", hidden);
  network.stacks.push_back(encoder);
  network.stacks.push_back(decoder);
}

}  // namespace

void read_bart(ConfigReader& config, const Frame&, Architecture& network) {
  read_bart_line(config, true, network);
}

void read_mbart(ConfigReader& config, const Frame&, Architecture& network) {
  read_bart_line(config, false, network);
}

namespace {

// No norm behind the embeddings, and positions of sines: which of them are parameters differs.
struct Sinusoidal {
  uint64_t vocab;
  std::string_view activation;
  double attention_dropout;
  bool post_norm, stored_positions;
};

void read_sinusoidal(ConfigReader& config, const Sinusoidal& own, Architecture& network) {
  const uint64_t hidden = config.core("d_model", 1024);
  network.vocab_size = config.core("vocab_size", own.vocab);
  network.tied_head = config.flag("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_position_embeddings", 1024);
  LayerGroup shape = read_shape(config, own.activation, 0.1, own.attention_dropout, network);
  shape.post_norm = own.post_norm;
  if (own.stored_positions) shape.activation_dropout = config.share("activation_dropout", 0);

  Stack encoder = read_side(config, {Part::encoder, "encoder", 12, 16, 4096}, hidden, true, shape);
  Stack decoder = read_side(config, {Part::decoder, "decoder", 12, 16, 4096}, hidden, true, shape);
  if (own.stored_positions) {
    for (Stack* side : {&encoder, &decoder}) {
      add_table(*side, "model." + side->name + ".embed_positions", network.max_position_embeddings, hidden,
                true);
      side->tables.back().trained = false;
    }
  }
  add_table(encoder, "model.shared", network.vocab_size, hidden);
  add_head(network, decoder, "lm_head", hidden);
  network.stacks.push_back(encoder);
  network.stacks.push_back(decoder);
}

}  // namespace

void read_m2m_100(ConfigReader& config, const Frame&, Architecture& network) {
  read_sinusoidal(config, {128112, "relu", 0.1, false, false}, network);
}

void read_pegasus(ConfigReader& config, const Frame&, Architecture& network) {
  read_sinusoidal(config, {50265, "gelu", 0, false, true}, network);
}

void read_marian(ConfigReader& config, const Frame&, Architecture& network) {
  if (!config.flag("share_encoder_decoder_embeddings", true))
    config.fail("share_encoder_decoder_embeddings", "Only a Marian with one vocabulary is replayed.", "true");
  read_sinusoidal(config, {58101, "gelu", 0, true, true}, network);
}

}  // namespace plimsoll::model::families
