// DBRX: one fused projection, LayerNorms without biases, sixteen experts that are parameters. The copy that
// Axolotl's example trains (LnL-AI/dbrx-base-converted-v2) has linears in their place, and q, k, v apart: its
// config says so with "converted". Transformers 5.23, models/dbrx.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

void read_dbrx(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core(config.spelling({"d_model", "hidden_size"}), 2048);
  const std::string_view heads_key = config.spelling({"n_heads", "num_attention_heads"});
  ConfigReader attention = config.part("attn_config");
  ConfigReader experts = config.part("ffn_config");
  const bool converted = config.flag("converted", false);
  network.vocab_size = config.core("vocab_size", 32000);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_seq_len", 2048);

  LayerGroup group;
  group.name = "expert layers";
  group.layers = config.depth(config.spelling({"n_layers", "num_hidden_layers"}), 24);
  group.heads = config.core(heads_key, 16);
  group.kv_heads = kv_head_count(attention, "kv_n_heads", group.heads, 1);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, heads_key);
  group.attention_dropout = attention.share("attn_pdrop", 0);
  group.residual_dropout = config.share("resid_pdrop", 0);
  group.experts = experts.size("moe_num_experts", 4);
  group.experts_per_token = std::min(experts.size("moe_top_k", 1), group.experts);
  group.intermediate = experts.size("ffn_hidden_size", 3584);

  Stack text = text_stack(hidden);
  text.embedding_dropout = config.share("emb_pdrop", 0);
  const std::string base = frame.base("transformer"), layer = base + "blocks.#.";
  const std::string at = layer + "norm_attn_norm.attn.";
  const uint64_t keys = times(group.kv_heads, group.head_dim);
  add_table(text, base + "wte", network.vocab_size, hidden);
  if (converted) {
    add_attention(group, at, hidden, false, false, {"q_proj", "k_proj", "v_proj", "out_proj"});
  } else {
    add_linear(group.linears, at + "Wqkv", hidden, plus(hidden, times(2, keys)), false, Role::qkv);
    add_linear(group.linears, at + "out_proj", hidden, hidden, false, Role::o);
  }
  const auto routed = [&](const char* name, uint64_t in, uint64_t out, Role role) {
    const std::string path = layer + (converted ? "ffn.experts.mlp.*." : "ffn.experts.mlp.") + name;
    Linear& linear = add_linear(group.linears, path, in, out, false, role);
    linear.count = group.experts;
    linear.expert = true;
    if (!converted) linear.module = Module::parameter;
  };
  routed("w1", hidden, group.intermediate, Role::gate);
  routed("v1", hidden, group.intermediate, Role::up);
  routed("w2", group.intermediate, hidden, Role::down);
  add_linear(group.linears, layer + "ffn.router.layer", hidden, group.experts, false, Role::router);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden, false);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden, false);
  text.groups.push_back(std::move(group));
  add_layer_norm(text.norms, NormPlace::other, hidden, false);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model::families
