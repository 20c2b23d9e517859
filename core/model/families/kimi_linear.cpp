// Kimi Linear: three of four layers keep a state of fixed size (Kimi delta attention: a gated delta rule with
// a decay for each channel), the fourth attends through latents; experts after the first layer.
// moonshotai/Kimi-Linear-48B-A3B-Instruct configuration_kimi.py, modeling_kimi.py; fla-org
// flash-linear-attention fla/layers/kda.py.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/families/latent_attention.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

// Beside its linears: a short convolution over each of q, k and v, one decay a head and one step a channel.
void add_delta_attention(ConfigReader& linear, const std::string& at, uint64_t hidden, LayerGroup& group) {
  group.heads = group.kv_heads = linear.size("num_heads", 32);
  group.head_dim = group.value_head_dim = linear.size("head_dim", 128);
  group.rotary_share = 0;
  group.attention = AttentionKind::linear_delta;
  group.attention_output_gate = true;
  const uint64_t wide = times(group.heads, group.head_dim);
  add_attention(group, at, hidden, false, false);
  add_linear(group.linears, at + "f_a_proj", hidden, group.head_dim, false, Role::other);
  add_linear(group.linears, at + "f_b_proj", group.head_dim, wide, false, Role::other);
  add_linear(group.linears, at + "b_proj", hidden, group.heads, false, Role::other);
  add_linear(group.linears, at + "g_a_proj", hidden, group.head_dim, false, Role::other);
  add_linear(group.linears, at + "g_b_proj", group.head_dim, wide, false, Role::other);
  add_rms(group.norms, NormPlace::other, group.head_dim);
  group.other_parameters =
      plus(times(times(3, wide), linear.size("short_conv_kernel_size", 4)), plus(wide, group.heads));
}

}  // namespace

void read_kimi_linear(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 2304);
  const uint64_t intermediate = config.core("intermediate_size", 9216);
  const uint64_t layers = config.depth("num_hidden_layers", 27);
  const uint64_t first_dense = config.count("first_k_dense_replace", 1);
  network.vocab_size = config.core("vocab_size", 163840);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("model_max_length", 1048576);
  ConfigReader linear = config.part("linear_attn_config");

  Experts experts;
  experts.count = config.core("num_experts", 256);
  experts.per_token = config.size("num_experts_per_token", 8);
  experts.width = config.size("moe_intermediate_size", 1024);
  experts.at = "block_sparse_moe.experts.*.";
  experts.gate = "w1";
  experts.up = "w3";
  experts.down = "w2";
  experts.router = "block_sparse_moe.gate";
  experts.router_is_linear = false;
  experts.shared = "block_sparse_moe.shared_experts.";
  experts.shared_width = times(config.count("num_shared_experts", 1), experts.width);

  std::vector<LayerKind> kinds(layers);  // its layers are counted from 1
  const std::vector<uint64_t> full = linear.counts("full_attn_layers");
  for (uint64_t i = 0; i < layers; ++i) {
    const bool attends = std::find(full.begin(), full.end(), i + 1) != full.end();
    kinds[i].attention = attends ? AttentionKind::full : AttentionKind::linear_delta;
    kinds[i].experts = i >= first_dense;
  }

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model"), layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  const std::vector<CountedKind> counted = count_kinds(kinds);
  for (const CountedKind& at : counted) {
    LayerGroup group;
    group.name = group_name(at.kind, counted);
    group.layers = at.layers();
    group.indices = at.indices;
    group.activation = activation(config, "hidden_act", "silu", network);
    add_rms(group.norms, NormPlace::before_attention, hidden);
    if (at.kind.attention == AttentionKind::full) {
      group.heads = config.core("num_attention_heads", 32);
      add_latent_attention(config, layer + "self_attn.", hidden, {0, 512, 128, 128}, group);
    } else {
      add_delta_attention(linear, layer + "self_attn.", hidden, group);
    }
    add_rms(group.norms, NormPlace::before_mlp, hidden);
    if (at.kind.experts) {
      add_experts(group, layer, hidden, experts);
      Table correction;  // of the router's scores
      correction.path = layer + "block_sparse_moe.gate.e_score_correction_bias";
      correction.rows = at.layers();
      correction.width = experts.count;
      text.tables.push_back(correction);
    } else {
      add_gated_mlp(group, layer + "mlp.", hidden, intermediate);
    }
    text.groups.push_back(std::move(group));
  }
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model::families
