// Phi-1.5 and 2: attention and MLP side by side behind one LayerNorm, biases everywhere. Phi-3 and 4: Llama's
// layer with q, k, v in one matrix and gate, up in another. Transformers 4.57, models/phi, phi3.
#include "core/model/families.h"

namespace plimsoll::model::families {

void read_phi(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 2048);
  const uint64_t intermediate = config.core("intermediate_size", 8192);
  network.vocab_size = config.core("vocab_size", 51200);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 2048);

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth("num_hidden_layers", 24);
  group.heads = config.core("num_attention_heads", 32);
  group.kv_heads = kv_head_count(config, "num_key_value_heads", group.heads, 0);
  group.head_dim = group.value_head_dim = head_width(config, hidden, group.heads, "num_attention_heads");
  group.rotary_share = config.share("partial_rotary_factor", 0.5);
  group.parallel = true;
  group.activation = activation(config, "hidden_act", "gelu_new", network);
  group.attention_dropout = config.share("attention_dropout", 0);
  group.residual_dropout = config.share("resid_pdrop", 0);
  group.dropout_modules = true;

  Stack text = text_stack(hidden);
  text.embedding_dropout = config.share("embd_pdrop", 0);
  const std::string base = frame.base("model");
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  add_attention(group, layer + "self_attn.", hidden, true, true, {"q_proj", "k_proj", "v_proj", "dense"});
  add_plain_mlp(group, layer + "mlp.fc1", layer + "mlp.fc2", hidden, intermediate, true);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  if (config.flag("qk_layernorm", false)) {
    add_layer_norm(group.norms, NormPlace::q, group.head_dim);
    add_layer_norm(group.norms, NormPlace::k, group.head_dim);
  }
  text.groups.push_back(group);
  add_layer_norm(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden, true);
  network.stacks.push_back(text);
}

void read_phi3(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.hidden = 3072;
  traits.intermediate = 8192;
  traits.vocab = 32064;
  traits.positions = 4096;
  traits.fused_qkv = true;
  traits.fused_gate_up = true;
  traits.residual_dropout_key = "resid_pdrop";
  read_decoder(config, frame, traits, network);
}

}  // namespace plimsoll::model::families
