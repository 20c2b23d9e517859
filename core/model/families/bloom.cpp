// BLOOM: ALiBi, one fused projection, a norm right after the embedding. Transformers 4.57, models/bloom.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

void read_bloom(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core(config.spelling({"n_embed", "hidden_size"}), 64);
  network.vocab_size = config.core("vocab_size", 250880);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.count("seq_length", 0);

  const std::string_view heads_key = config.spelling({"n_head", "num_attention_heads"});
  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth(config.spelling({"n_layer", "num_hidden_layers"}), 2);
  group.heads = group.kv_heads = config.core(heads_key, 8);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, heads_key);
  group.rotary_share = 0;
  group.activation = Activation::bloom_gelu;
  group.copied_heads = group.returns_weights = true;
  group.attention_dropout = config.share("attention_dropout", 0);
  group.residual_dropout = config.share("hidden_dropout", 0);

  Stack text = text_stack(hidden);
  const std::string base = frame.base("transformer");
  const std::string layer = base + "h.#.";
  add_table(text, base + "word_embeddings", network.vocab_size, hidden);
  add_linear(group.linears, layer + "self_attention.query_key_value", hidden, times(3, hidden), true,
             Role::qkv);
  add_linear(group.linears, layer + "self_attention.dense", hidden, hidden, true, Role::o);
  add_plain_mlp(group, layer + "mlp.dense_h_to_4h", layer + "mlp.dense_4h_to_h", hidden, times(4, hidden),
                true);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden);
  text.embedding_norm = true;
  add_layer_norm(text.norms, NormPlace::other, hidden);  // word_embeddings_layernorm
  add_layer_norm(text.norms, NormPlace::other, hidden);  // ln_f
  text.groups.push_back(group);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(text);
}

}  // namespace plimsoll::model::families
