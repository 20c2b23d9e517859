// GLM-4 (Llama's layer, gate and up fused; 0414 adds norms after attention and MLP) and the older ChatGLM
// 2/3, whose config has names of its own. Transformers 4.57, models/glm, glm4; THUDM/chatglm3-6b
// modeling_chatglm.py.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

DecoderTraits glm() {
  DecoderTraits traits;
  traits.intermediate = 13696;
  traits.layers = 40;
  traits.kv_heads = 2;
  traits.head_dim = 128;
  traits.vocab = 151552;
  traits.positions = 131072;
  traits.bias_key = "attention_bias";
  traits.bias = true;
  traits.o_bias = false;
  traits.fused_gate_up = true;
  traits.rotary_share = 0.5;
  return traits;
}

}  // namespace

void read_glm(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_decoder(config, frame, glm(), network);
}

void read_glm4(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = glm();
  traits.layout = NormLayout::sandwich;
  read_decoder(config, frame, traits, network);
}

// The text of GLM-4.1V and 4.6V-Flash; its class always has the biases.
void read_glm4v_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = glm();
  traits.layout = NormLayout::sandwich;
  traits.bias_key = "";
  traits.positions = 32768;
  read_decoder(config, frame, traits, network);
}

// GLM-4.5: experts after the first layers, biases on q, k and v alone. Transformers 4.57, models/glm4_moe.
void read_glm4_moe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits = glm();
  traits.intermediate = 10944;
  traits.layers = 46;
  traits.heads = 96;
  traits.kv_heads = 8;
  traits.head_dim = 0;
  traits.bias = false;
  traits.fused_gate_up = false;
  traits.qk_norm = QkNorm::per_head;
  traits.qk_norm_key = "use_qk_norm";
  traits.experts.count = config.core("n_routed_experts", 128);
  traits.experts.per_token = config.size("num_experts_per_tok", 8);
  traits.experts.width = config.size("moe_intermediate_size", 1408);
  traits.experts.at = "mlp.experts.*.";
  traits.experts.router_is_linear = false;
  traits.experts.shared_width = times(config.count("n_shared_experts", 1), traits.experts.width);
  traits.experts.shared = "mlp.shared_experts.";
  for (uint64_t i = 0; i < std::min<uint64_t>(1000, config.count("first_k_dense_replace", 1)); ++i) {
    traits.dense_layers.push_back(i);
  }
  read_decoder(config, frame, traits, network);
}

void read_chatglm(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4096);
  const uint64_t intermediate = config.core("ffn_hidden_size", 13696);
  const bool bias = config.flag("add_bias_linear", false);
  const bool qkv_bias = bias || config.flag("add_qkv_bias", false);
  network.vocab_size = config.core(config.spelling({"padded_vocab_size", "vocab_size"}), 65024);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("seq_length", 2048);

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth(config.spelling({"num_layers", "num_hidden_layers"}), 28);
  group.heads = config.core("num_attention_heads", 32);
  group.kv_heads = config.flag("multi_query_attention", false)
                       ? kv_head_count(config, "multi_query_group_num", group.heads, 1)
                       : group.heads;
  group.head_dim = config.has("kv_channels") ? config.size("kv_channels", 128)
                                             : head_width(config, hidden, group.heads, "num_attention_heads");
  group.value_head_dim = group.head_dim;
  group.rotary_share = 0.5;
  group.attention_dropout = config.share("attention_dropout", 0);
  group.residual_dropout = config.share("hidden_dropout", 0);

  Stack text = text_stack(hidden);
  const std::string base = frame.base("transformer");
  const std::string layer = base + "encoder.layers.#.";
  const uint64_t queries = times(group.heads, group.head_dim);
  add_table(text, base + "embedding.word_embeddings", network.vocab_size, hidden);
  add_linear(group.linears, layer + "self_attention.query_key_value", hidden,
             plus(queries, times(2, times(group.kv_heads, group.head_dim))), qkv_bias, Role::qkv);
  add_linear(group.linears, layer + "self_attention.dense", queries, hidden, bias, Role::o);
  add_linear(group.linears, layer + "mlp.dense_h_to_4h", hidden, times(2, intermediate), bias, Role::gate_up);
  add_linear(group.linears, layer + "mlp.dense_4h_to_h", intermediate, hidden, bias, Role::down);
  group.intermediate = intermediate;
  const bool rms = config.flag("rmsnorm", true);
  const auto add_norm = [rms, hidden](std::vector<Norm>& norms, NormPlace place) {
    if (rms) {
      add_rms(norms, place, hidden);
    } else {
      add_layer_norm(norms, place, hidden);
    }
  };
  add_norm(group.norms, NormPlace::before_attention);
  add_norm(group.norms, NormPlace::before_mlp);
  if (config.flag("post_layer_norm", true)) add_norm(text.norms, NormPlace::other);
  text.groups.push_back(group);
  add_head(network, text, base + "output_layer", hidden, bias);
  network.stacks.push_back(text);
}

}  // namespace plimsoll::model::families
