// Falcon 7B (one key/value head, one norm), 40B and 180B (new_decoder_architecture: groups and two norms side
// by side). Its early configs write n_layer, n_head and n_head_kv. Transformers 4.57, models/falcon.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

void read_falcon(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4544);
  const uint64_t intermediate = config.size("ffn_hidden_size", times(4, hidden));
  const bool grouped = config.flag("new_decoder_architecture", config.has("n_head_kv"));
  const bool bias = config.flag("bias", false);
  network.vocab_size = config.core("vocab_size", 65024);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_position_embeddings", 2048);

  const std::string_view heads_key = config.spelling({"num_attention_heads", "n_head"});
  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth(config.spelling({"num_hidden_layers", "n_layer"}), 32);
  group.heads = config.core(heads_key, 71);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, heads_key);
  if (grouped) {
    group.kv_heads =
        kv_head_count(config, config.spelling({"num_kv_heads", "n_head_kv"}), group.heads, group.heads);
  } else {
    group.kv_heads = config.flag("multi_query", true) ? 1 : group.heads;
  }
  group.rotary_share = config.flag("alibi", false) ? 0 : 1;
  group.parallel = grouped || config.flag("parallel_attn", true);
  group.activation = activation(config, "activation", "gelu", network);
  group.returns_weights = true;
  group.attention_dropout = config.share("attention_dropout", 0);
  group.residual_dropout = config.share("hidden_dropout", 0);

  Stack text = text_stack(hidden);
  const std::string base = frame.base("transformer");
  const std::string layer = base + "h.#.";
  add_table(text, base + "word_embeddings", network.vocab_size, hidden);
  add_linear(group.linears, layer + "self_attention.query_key_value", hidden,
             times(plus(group.heads, times(2, group.kv_heads)), group.head_dim), bias, Role::qkv);
  add_linear(group.linears, layer + "self_attention.dense", hidden, hidden, bias, Role::o);
  add_plain_mlp(group, layer + "mlp.dense_h_to_4h", layer + "mlp.dense_4h_to_h", hidden, intermediate, bias);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  const bool two = grouped ? config.size("num_ln_in_parallel_attn", 2) == 2 : !group.parallel;
  if (two) add_layer_norm(group.norms, NormPlace::before_mlp, hidden);
  add_layer_norm(text.norms, NormPlace::other, hidden);
  text.groups.push_back(group);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(text);
}

}  // namespace plimsoll::model::families
