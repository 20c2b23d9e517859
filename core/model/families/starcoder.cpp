// StarCoder: the first with one key and value for all heads and learned positions (gpt_bigcode), the second
// with grouped heads, rotary positions and biases everywhere. Transformers 5.15, models/gpt_bigcode,
// starcoder2.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

void read_starcoder2(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 3072);
  const bool bias = config.flag("use_bias", true);
  network.vocab_size = config.core("vocab_size", 49152);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_position_embeddings", 4096);
  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth("num_hidden_layers", 30);
  group.heads = config.core("num_attention_heads", 24);
  group.kv_heads = kv_head_count(config, "num_key_value_heads", group.heads, 2);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "num_attention_heads");
  group.activation = activation(config, "hidden_act", "gelu_pytorch_tanh", network);
  group.attention_dropout = config.share("attention_dropout", 0);
  group.residual_dropout = config.share("residual_dropout", 0);
  group.window = window_size(config, "sliding_window", 0);
  if (group.window > 0) group.attention = AttentionKind::sliding;
  Stack text = text_stack(hidden);
  const std::string base = frame.base("model"), layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  add_attention(group, layer + "self_attn.", hidden, bias, bias);
  add_plain_mlp(group, layer + "mlp.c_fc", layer + "mlp.c_proj", hidden,
                config.core("intermediate_size", 12288), bias);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden);
  add_layer_norm(text.norms, NormPlace::other, hidden);
  text.groups.push_back(std::move(group));
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

void read_gpt_bigcode(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core(config.spelling({"n_embd", "hidden_size"}), 768);
  const uint64_t positions = config.size(config.spelling({"n_positions", "max_position_embeddings"}), 1024);
  network.vocab_size = config.core("vocab_size", 50257);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = positions;
  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth(config.spelling({"n_layer", "num_hidden_layers"}), 12);
  group.heads = config.core(config.spelling({"n_head", "num_attention_heads"}), 12);
  group.kv_heads = config.flag("multi_query", true) ? 1 : group.heads;
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "n_head");
  group.rotary_share = 0;
  group.activation = activation(config, "activation_function", "gelu_pytorch_tanh", network);
  group.attention_dropout = config.share("attn_pdrop", 0.1);
  group.residual_dropout = config.share("resid_pdrop", 0.1);
  group.dropout_modules = true;
  Stack text = text_stack(hidden);
  text.embedding_dropout = config.share("embd_pdrop", 0.1);
  const std::string base = frame.base("transformer"), layer = base + "h.#.";
  add_table(text, base + "wte", network.vocab_size, hidden);
  add_table(text, base + "wpe", positions, hidden, true);
  add_linear(group.linears, layer + "attn.c_attn", hidden,
             plus(hidden, times(2, times(group.kv_heads, group.head_dim))), true, Role::qkv);
  add_linear(group.linears, layer + "attn.c_proj", hidden, hidden, true, Role::o);
  add_plain_mlp(group, layer + "mlp.c_fc", layer + "mlp.c_proj", hidden,
                config.is_null("n_inner") ? times(4, hidden) : config.size("n_inner", times(4, hidden)),
                true);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden);
  add_layer_norm(text.norms, NormPlace::other, hidden);
  text.groups.push_back(std::move(group));
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model::families
