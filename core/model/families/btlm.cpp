// BTLM-3B: GPT-2 with ALiBi in the place of learned positions and a gated MLP. cerebras/btlm-3b-8k-base
// modeling_btlm.py; arXiv 2309.11568, section 2.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

void read_btlm(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core(config.spelling({"n_embd", "hidden_size"}), 2560);
  const std::string_view heads_key = config.spelling({"n_head", "num_attention_heads"});
  network.vocab_size = config.core("vocab_size", 50257);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("n_positions", 8192);
  const uint64_t inner = config.size("n_inner", times(4, hidden));

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth(config.spelling({"n_layer", "num_hidden_layers"}), 32);
  group.heads = group.kv_heads = config.core(heads_key, 32);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, heads_key);
  group.rotary_share = 0;
  group.attention_dropout = config.share("attn_pdrop", 0);
  group.residual_dropout = config.share("resid_pdrop", 0);
  group.intermediate = inner;

  Stack text = text_stack(hidden);
  text.embedding_dropout = config.share("embd_pdrop", 0);
  const std::string base = frame.base("transformer"), layer = base + "h.#.";
  add_table(text, base + "wte", network.vocab_size, hidden);
  add_linear(group.linears, layer + "attn.c_attn", hidden, times(3, hidden), true, Role::qkv);
  add_linear(group.linears, layer + "attn.c_proj", hidden, hidden, true, Role::o);
  add_linear(group.linears, layer + "mlp.c_fc2", hidden, inner, true, Role::gate);
  add_linear(group.linears, layer + "mlp.c_fc", hidden, inner, true, Role::up);
  add_linear(group.linears, layer + "mlp.c_proj", inner, hidden, true, Role::down);
  for (Linear& linear : group.linears) linear.module = Module::conv1d;
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden);
  text.groups.push_back(std::move(group));
  add_layer_norm(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model::families
