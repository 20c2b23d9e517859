// GPT-2 (its linears are Conv1D, a transposed nn.Linear), GPT-Neo, GPT-J and GPT-NeoX/Pythia.
// Transformers 4.57, models/gpt2, gpt_neo, gptj, gpt_neox.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

namespace {

struct Opening {
  Stack text;
  LayerGroup group;
};

// What a configuration leaves out.
struct GptDefaults {
  uint64_t hidden, layers, heads, vocab, positions;
  double dropout;
};

// What GPT-2 and GPT-J have in common: the names of their fields.
Opening read_gpt(ConfigReader& config, const GptDefaults& defaults, Architecture& network) {
  Opening opening;
  Stack& text = opening.text;
  text.part = Part::text;
  text.name = "text";
  text.hidden = config.core(config.spelling({"n_embd", "hidden_size"}), defaults.hidden);
  text.embedding_dropout = config.share("embd_pdrop", defaults.dropout);
  network.vocab_size = config.core("vocab_size", defaults.vocab);
  network.max_position_embeddings =
      config.core(config.spelling({"n_positions", "max_position_embeddings"}), defaults.positions);

  LayerGroup& group = opening.group;
  const std::string_view heads_key = config.spelling({"n_head", "num_attention_heads"});
  group.name = "decoder layers";
  group.layers = config.depth(config.spelling({"n_layer", "num_hidden_layers"}), defaults.layers);
  group.heads = group.kv_heads = config.core(heads_key, defaults.heads);
  group.head_dim = group.value_head_dim = head_width(config, text.hidden, group.heads, heads_key);
  group.activation = activation(config, "activation_function", "gelu_new", network);
  group.attention_dropout = config.share("attn_pdrop", defaults.dropout);
  group.residual_dropout = config.share("resid_pdrop", defaults.dropout);
  group.dropout_modules = true;
  return opening;
}

// A norm before each half of a layer, one behind all of them, and the head.
void close_gpt(Architecture& network, Stack& text, LayerGroup& group, const Frame& frame) {
  add_layer_norm(group.norms, NormPlace::before_attention, text.hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, text.hidden);
  add_layer_norm(text.norms, NormPlace::other, text.hidden);
  text.groups.push_back(group);
  add_head(network, text, frame.head, text.hidden);
  network.stacks.push_back(text);
}

}  // namespace

void read_gpt2(ConfigReader& config, const Frame& frame, Architecture& network) {
  auto [text, group] = read_gpt(
      config, {.hidden = 768, .layers = 12, .heads = 12, .vocab = 50257, .positions = 1024, .dropout = 0.1},
      network);
  const uint64_t hidden = text.hidden;
  const uint64_t inner = config.size("n_inner", times(4, hidden));
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  group.rotary_share = 0;
  group.scores = Scores::own_type;

  const std::string base = frame.base("transformer");
  const std::string layer = base + "h.#.";
  add_table(text, base + "wte", network.vocab_size, hidden);
  add_table(text, base + "wpe", network.max_position_embeddings, hidden, true);
  add_linear(group.linears, layer + "attn.c_attn", hidden, times(3, hidden), true, Role::qkv);
  add_linear(group.linears, layer + "attn.c_proj", hidden, hidden, true, Role::o);
  add_plain_mlp(group, layer + "mlp.c_fc", layer + "mlp.c_proj", hidden, inner, true);
  for (Linear& linear : group.linears) linear.module = Module::conv1d;
  close_gpt(network, text, group, frame);
}

// Half of its layers see 256 tokens back, which makes no tensor smaller.
void read_gpt_neo(ConfigReader& config, const Frame& frame, Architecture& network) {
  Stack text = text_stack(config.core("hidden_size", 2048));
  const uint64_t hidden = text.hidden;
  network.vocab_size = config.core("vocab_size", 50257);
  network.max_position_embeddings = config.core("max_position_embeddings", 2048);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  text.embedding_dropout = config.share("embed_dropout", 0);

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth("num_layers", 24);
  group.heads = group.kv_heads = config.core("num_heads", 16);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "num_heads");
  group.activation = activation(config, "activation_function", "gelu_new", network);
  group.attention_dropout = config.share("attention_dropout", 0);
  group.residual_dropout = config.share("resid_dropout", 0);
  group.dropout_modules = true;
  group.rotary_share = 0;
  group.scores = Scores::fp32;

  const std::string base = frame.base("transformer");
  const std::string layer = base + "h.#.";
  add_table(text, base + "wte", network.vocab_size, hidden);
  add_table(text, base + "wpe", network.max_position_embeddings, hidden, true);
  add_attention(group, layer + "attn.attention.", hidden, false, true,
                {"q_proj", "k_proj", "v_proj", "out_proj"});
  const uint64_t inner = config.size("intermediate_size", times(4, hidden));
  add_plain_mlp(group, layer + "mlp.c_fc", layer + "mlp.c_proj", hidden, inner, true);
  close_gpt(network, text, group, frame);
}

void read_gptj(ConfigReader& config, const Frame& frame, Architecture& network) {
  auto [text, group] = read_gpt(
      config, {.hidden = 4096, .layers = 28, .heads = 16, .vocab = 50400, .positions = 2048, .dropout = 0.0},
      network);
  const uint64_t hidden = text.hidden;
  const uint64_t inner = config.size("n_inner", times(4, hidden));
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  const uint64_t rotated = config.is_null("rotary_dim") ? group.head_dim : config.count("rotary_dim", 64);
  if (rotated > group.head_dim) {
    config.fail("rotary_dim",
                "More of a head is rotated than it is wide (" + std::to_string(group.head_dim) + ").",
                "at most the width of a head");
  }
  group.rotary_share = static_cast<double>(rotated) / static_cast<double>(group.head_dim);
  group.parallel = true;
  group.scores = Scores::fp32;

  const std::string base = frame.base("transformer");
  const std::string layer = base + "h.#.";
  add_table(text, base + "wte", network.vocab_size, hidden);
  add_attention(group, layer + "attn.", hidden, false, false, {"q_proj", "k_proj", "v_proj", "out_proj"});
  add_plain_mlp(group, layer + "mlp.fc_in", layer + "mlp.fc_out", hidden, inner, true);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  add_layer_norm(text.norms, NormPlace::other, hidden);
  text.groups.push_back(group);
  add_head(network, text, frame.head, hidden, true);
  network.stacks.push_back(text);
}

void read_gpt_neox(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 6144);
  const uint64_t intermediate = config.core("intermediate_size", 24576);
  const bool bias = config.flag("attention_bias", true);
  network.vocab_size = config.core("vocab_size", 50432);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 2048);

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth("num_hidden_layers", 44);
  group.heads = group.kv_heads = config.core("num_attention_heads", 64);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "num_attention_heads");
  group.rotary_share = config.share("rotary_pct", 0.25);
  group.parallel = config.flag("use_parallel_residual", true);
  group.activation = activation(config, "hidden_act", "gelu", network);
  group.attention_dropout = config.share("attention_dropout", 0);
  group.residual_dropout = config.share("hidden_dropout", 0);
  group.dropout_modules = true;

  Stack text = text_stack(hidden);
  text.embedding_dropout = group.residual_dropout;
  const std::string base = frame.base("gpt_neox");
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_in", network.vocab_size, hidden);
  add_linear(group.linears, layer + "attention.query_key_value", hidden, times(3, hidden), bias, Role::qkv);
  add_linear(group.linears, layer + "attention.dense", hidden, hidden, bias, Role::o);
  add_plain_mlp(group, layer + "mlp.dense_h_to_4h", layer + "mlp.dense_4h_to_h", hidden, intermediate, true);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden);
  add_layer_norm(text.norms, NormPlace::other, hidden);
  text.groups.push_back(group);
  add_head(network, text, frame.outer + "embed_out", hidden);
  network.stacks.push_back(text);
}

}  // namespace plimsoll::model::families
