// InternLM and Baichuan, which come with code of their own: InternLM2 fuses q, k, v as wqkv and calls the MLP
// w1, w2, w3; Baichuan fuses q, k, v as W_pack. internlm/internlm2-7b modeling_internlm2.py,
// baichuan-inc/Baichuan2-7B-Base modeling_baichuan.py.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

void read_internlm(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.vocab = 103168;
  traits.bias_key = "bias";
  traits.bias = true;
  read_decoder(config, frame, traits, network);
}

void read_internlm2(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4096);
  const uint64_t intermediate = config.core("intermediate_size", 11008);
  const bool bias = config.flag("bias", true);
  network.vocab_size = config.core("vocab_size", 103168);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 2048);

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth("num_hidden_layers", 32);
  group.heads = config.core("num_attention_heads", 32);
  group.kv_heads = kv_head_count(config, "num_key_value_heads", group.heads, 0);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "num_attention_heads");
  group.activation = activation(config, "hidden_act", "silu", network);
  group.intermediate = intermediate;

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model");
  const std::string layer = base + "layers.#.";
  const uint64_t queries = times(group.heads, group.head_dim);
  add_table(text, base + "tok_embeddings", network.vocab_size, hidden);
  add_linear(group.linears, layer + "attention.wqkv", hidden,
             plus(queries, times(2, times(group.kv_heads, group.head_dim))), bias, Role::qkv);
  add_linear(group.linears, layer + "attention.wo", queries, hidden, bias, Role::o);
  add_linear(group.linears, layer + "feed_forward.w1", hidden, intermediate, false, Role::gate);
  add_linear(group.linears, layer + "feed_forward.w3", hidden, intermediate, false, Role::up);
  add_linear(group.linears, layer + "feed_forward.w2", intermediate, hidden, false, Role::down);
  add_rms(group.norms, NormPlace::before_attention, hidden);
  add_rms(group.norms, NormPlace::before_mlp, hidden);
  add_rms(text.norms, NormPlace::other, hidden);
  text.groups.push_back(group);
  add_head(network, text, frame.outer + "output", hidden);
  network.stacks.push_back(text);
}

void read_baichuan(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.vocab = 125696;
  traits.positions = config.size("model_max_length", 4096);
  traits.fused_qkv = true;
  traits.fused_qkv_name = "W_pack";
  read_decoder(config, frame, traits, network);
}

}  // namespace plimsoll::model::families
