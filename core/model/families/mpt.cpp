// MPT: ALiBi, no biases anywhere, dropouts inside attn_config. Transformers 4.57, models/mpt. Replit's first
// model is MPT before it came there: other names for the MLP and its ratio (replit/replit-code-v1-3b
// configuration_replit_lm.py, gpt_blocks.py).
#include <string>
#include <string_view>

#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

namespace {

struct Names {
  std::string_view up, down, ratio;
};

void read_mpt_like(ConfigReader& config, const Frame& frame, const Names& names, Architecture& network) {
  const uint64_t hidden = config.core("d_model", 2048);
  ConfigReader attention = config.part("attn_config");
  network.vocab_size = config.core("vocab_size", 50368);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_seq_len", 2048);

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth("n_layers", 24);
  group.heads = group.kv_heads = config.core("n_heads", 16);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "n_heads");
  group.rotary_share = 0;
  group.activation = Activation::gelu;
  group.attention_dropout = attention.share("attn_pdrop", 0);
  group.residual_dropout = config.share("resid_pdrop", 0);

  Stack text = text_stack(hidden);
  const std::string base = frame.base("transformer");
  const std::string layer = base + "blocks.#.";
  add_table(text, base + "wte", network.vocab_size, hidden);
  add_linear(group.linears, layer + "attn.Wqkv", hidden, times(3, hidden), false, Role::qkv);
  add_linear(group.linears, layer + "attn.out_proj", hidden, hidden, false, Role::o);
  add_plain_mlp(group, layer + std::string(names.up), layer + std::string(names.down), hidden,
                times(config.size(names.ratio, 4), hidden), false);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden, false);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden, false);
  add_layer_norm(text.norms, NormPlace::other, hidden, false);
  text.groups.push_back(group);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(text);
}

}  // namespace

void read_mpt(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_mpt_like(config, frame, {"ffn.up_proj", "ffn.down_proj", "expansion_ratio"}, network);
}

void read_replit(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_mpt_like(config, frame, {"mlp.mlp_up", "mlp.mlp_down", "mlp_ratio"}, network);
}

}  // namespace plimsoll::model::families
