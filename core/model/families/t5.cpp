// T5 and Flan-T5. The inner width of attention is d_kv x heads, which need not be d_model; the first block of
// each side owns the table of relative positions. Transformers 4.57, models/t5.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

namespace {

struct T5 {
  uint64_t hidden, inner, width, heads, buckets;
  bool gated;
  LayerGroup shape;
};

void add_norm(std::vector<Norm>& norms, NormPlace place, uint64_t width) {
  add_rms(norms, place, width);
  norms.back().kind = NormKind::rms_of_input;
}

Stack side(const T5& t5, Part part, const std::string& name, uint64_t layers) {
  const bool decoder = part == Part::decoder;
  const std::string layer = name + ".block.#.layer.";
  LayerGroup group = t5.shape;
  group.name = name + " layers";
  group.layers = layers;
  group.attention = decoder ? AttentionKind::full : AttentionKind::bidirectional;
  add_norm(group.norms, NormPlace::before_attention, t5.hidden);
  add_attention(group, layer + "0.SelfAttention.", t5.hidden, false, false, {"q", "k", "v", "o"});
  if (decoder) {
    add_norm(group.norms, NormPlace::before_cross, t5.hidden);
    add_cross_attention(group, layer + "1.EncDecAttention.", t5.hidden, t5.hidden, false,
                        {"q", "k", "v", "o"});
  }
  const std::string mlp = layer + (decoder ? "2" : "1") + ".DenseReluDense.";
  add_norm(group.norms, NormPlace::before_mlp, t5.hidden);
  if (t5.gated) {
    add_linear(group.linears, mlp + "wi_0", t5.hidden, t5.width, false, Role::gate);
    add_linear(group.linears, mlp + "wi_1", t5.hidden, t5.width, false, Role::up);
    add_linear(group.linears, mlp + "wo", t5.width, t5.hidden, false, Role::down);
  } else {
    add_plain_mlp(group, mlp + "wi", mlp + "wo", t5.hidden, t5.width, false);
  }

  Stack stack;
  stack.part = part;
  stack.name = name;
  stack.hidden = t5.hidden;
  stack.embedding_dropout = stack.output_dropout = t5.shape.residual_dropout;
  stack.groups.push_back(group);
  add_table(stack, name + ".block.0.layer.0.SelfAttention.relative_attention_bias", t5.buckets, t5.heads,
            true);
  add_norm(stack.norms, NormPlace::other, t5.hidden);
  return stack;
}

// What a configuration leaves out.
struct T5Defaults {
  uint64_t vocab, layers, heads, width;
  bool tied;
  std::string_view feed_forward;
};

void read(ConfigReader& config, const T5Defaults& defaults, Architecture& network) {
  T5 t5;
  t5.hidden = config.core("d_model", 512);
  t5.width = config.core("d_ff", defaults.width);
  t5.heads = config.core("num_heads", defaults.heads);
  t5.buckets = config.size("relative_attention_num_buckets", 32);
  // "gated-gelu" means the tanh approximation (T5Config: BC for gated-gelu).
  std::string kind = config.text("feed_forward_proj", defaults.feed_forward);
  t5.gated = kind.rfind("gated-", 0) == 0;
  if (t5.gated) kind = kind.substr(6);
  t5.shape.activation = kind == "gelu"   ? (t5.gated ? Activation::gelu_new : Activation::gelu)
                        : kind == "silu" ? Activation::silu
                                         : Activation::relu;
  t5.shape.heads = t5.shape.kv_heads = t5.heads;
  t5.shape.head_dim = t5.shape.value_head_dim = config.size("d_kv", 64);
  t5.shape.rotary_share = 0;
  t5.shape.scores = Scores::own_type_cast_late;
  t5.shape.gated = t5.gated;
  t5.shape.position_bias = true;
  t5.shape.intermediate = t5.width;
  t5.shape.attention_dropout = t5.shape.residual_dropout = t5.shape.activation_dropout =
      config.share("dropout_rate", 0.1);
  network.vocab_size = config.core("vocab_size", defaults.vocab);
  network.tied_head = config.flag("tie_word_embeddings", defaults.tied);

  const uint64_t encoder_layers = config.depth("num_layers", defaults.layers);
  Stack encoder = side(t5, Part::encoder, "encoder", encoder_layers);
  const uint64_t decoder_layers =
      config.has("num_decoder_layers") ? config.depth("num_decoder_layers", encoder_layers) : encoder_layers;
  Stack decoder = side(t5, Part::decoder, "decoder", decoder_layers);
  add_table(encoder, "shared", network.vocab_size, t5.hidden);
  add_head(network, decoder, "lm_head", t5.hidden);
  network.stacks.push_back(encoder);
  network.stacks.push_back(decoder);
}

}  // namespace

void read_t5(ConfigReader& config, const Frame&, Architecture& network) {
  read(config, {.vocab = 32128, .layers = 6, .heads = 8, .width = 2048, .tied = true, .feed_forward = "relu"},
       network);
}

void read_mt5(ConfigReader& config, const Frame&, Architecture& network) {
  read(config,
       {.vocab = 250112, .layers = 8, .heads = 6, .width = 1024, .tied = false, .feed_forward = "gated-gelu"},
       network);
}

}  // namespace plimsoll::model::families
