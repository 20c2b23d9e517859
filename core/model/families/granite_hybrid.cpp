// Granite 4: Mamba-2 layers and attention layers in one network, a shared MLP in each, experts in some sizes.
// The smallest have attention alone. Transformers 5.15, models/granitemoehybrid.
#include "core/model/families.h"
#include "core/model/families/state_space.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

namespace {

void add_mamba(ConfigReader& config, const std::string& at, uint64_t hidden, LayerGroup& group) {
  group.attention = AttentionKind::none;
  group.rotary_share = 0;
  StateSpace& s = group.state_space;
  s.inner = times(config.size("mamba_expand", 2), hidden);
  s.heads = config.size("mamba_n_heads", 128);
  s.state = config.size("mamba_d_state", 256);
  s.groups = config.size("mamba_n_groups", 1);
  s.kernel = config.size("mamba_d_conv", 4);
  s.chunk = config.size("mamba_chunk_size", 256);
  const bool bias = config.flag("mamba_proj_bias", false);
  add_state_space(group, at, hidden, {bias, bias, config.flag("mamba_conv_bias", true)});
}

}  // namespace

void read_granite_hybrid(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4096);
  const uint64_t layers = config.depth("num_hidden_layers", 32);
  const uint64_t heads = config.core("num_attention_heads", 32);
  const bool bias = config.flag("attention_bias", false);
  const uint64_t shared = config.size("shared_intermediate_size", 1024);
  const uint64_t experts_count = config.core_count("num_local_experts", 8);
  network.vocab_size = config.core("vocab_size", 32000);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 2048);
  const std::vector<std::string> types = config.texts("layer_types");
  Stack text = text_stack(hidden);
  const std::string base = frame.base("model"), layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  const Activation active = activation(config, "hidden_act", "silu", network);
  for (const bool attends : {true, false}) {
    LayerGroup group;
    for (uint64_t i = 0; i < layers; ++i) {
      const bool attention = i < types.size() && types[i] == "attention";
      if (attention == attends) group.indices.push_back(i);
    }
    group.layers = group.indices.size();
    if (group.layers == 0) continue;
    group.name = attends ? "full-attention layers" : "mamba layers";
    group.activation = active;
    group.scaled_branches = true;
    if (attends) {
      group.heads = heads;
      group.kv_heads = kv_head_count(config, "num_key_value_heads", heads, heads);
      group.head_dim = group.value_head_dim = head_width(config, hidden, heads, "num_attention_heads");
      group.rotary_share = config.text("position_embedding_type", "") == "rope" ? 1 : 0;
      group.attention_dropout = config.share("attention_dropout", 0);
      add_attention(group, layer + "self_attn.", hidden, bias, bias);
    } else {
      add_mamba(config, layer + "mamba.", hidden, group);
    }
    if (experts_count > 0) {
      Experts experts;
      experts.count = experts_count;
      experts.per_token = config.size("num_experts_per_tok", 2);
      experts.width = config.core("intermediate_size", 11008);
      experts.at = "block_sparse_moe.experts.";
      experts.fused = true;
      experts.router = "block_sparse_moe.router";
      experts.router_is_linear = false;
      add_experts(group, layer, hidden, experts);
      add_linear(group.linears, layer + "shared_mlp.input_linear", hidden, times(2, shared), false,
                 Role::other);
      add_linear(group.linears, layer + "shared_mlp.output_linear", shared, hidden, false, Role::other);
    } else {
      add_linear(group.linears, layer + "shared_mlp.input_linear", hidden, times(2, shared), false,
                 Role::gate_up);
      add_linear(group.linears, layer + "shared_mlp.output_linear", shared, hidden, false, Role::down);
      group.intermediate = shared;
      group.gated = true;
    }
    add_rms(group.norms, NormPlace::before_attention, hidden);
    add_rms(group.norms, NormPlace::before_mlp, hidden);
    text.groups.push_back(std::move(group));
  }
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model::families
