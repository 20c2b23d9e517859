// DeepSeek V2 and V3: attention through low-rank latents, then a few dense layers and many with routed and
// shared experts. Transformers 4.57, models/deepseek_v2, deepseek_v3.
#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

struct DeepSeek {
  uint64_t hidden, intermediate, layers, heads, vocab, positions;
  uint64_t experts, per_token, expert_width, shared, first_dense;
  bool score_bias;  // V3 keeps one correction a router output, which is stored and never trained
};

// Leaves the widths of the group's heads set.
void add_latent_attention(ConfigReader& config, const std::string& at, uint64_t hidden, LayerGroup& group) {
  const bool bias = config.flag("attention_bias", false);
  const uint64_t plain = config.size("qk_nope_head_dim", 128);
  const uint64_t rotated = config.size("qk_rope_head_dim", 64);
  const uint64_t query_rank = config.is_null("q_lora_rank") ? 0 : config.count("q_lora_rank", 1536);
  const uint64_t key_rank = config.size("kv_lora_rank", 512);
  group.attention = AttentionKind::latent;
  group.kv_heads = group.heads;
  group.head_dim = plus(plain, rotated);
  group.value_head_dim = config.size("v_head_dim", 128);
  group.rotary_share = static_cast<double>(rotated) / static_cast<double>(group.head_dim);

  const uint64_t queries = times(group.heads, group.head_dim);
  if (query_rank == 0) {
    add_linear(group.linears, at + "q_proj", hidden, queries, false, Role::q);
  } else {
    add_linear(group.linears, at + "q_a_proj", hidden, query_rank, bias, Role::q_a);
    add_rms(group.norms, NormPlace::q_a, query_rank);
    add_linear(group.linears, at + "q_b_proj", query_rank, queries, false, Role::q_b);
  }
  add_linear(group.linears, at + "kv_a_proj_with_mqa", hidden, plus(key_rank, rotated), bias, Role::kv_a);
  add_rms(group.norms, NormPlace::kv_a, key_rank);
  add_linear(group.linears, at + "kv_b_proj", key_rank, times(group.heads, plus(plain, group.value_head_dim)),
             false, Role::kv_b);
  add_linear(group.linears, at + "o_proj", times(group.heads, group.value_head_dim), hidden, bias, Role::o);
}

void read(ConfigReader& config, const Frame& frame, const DeepSeek& defaults, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", defaults.hidden);
  const uint64_t intermediate = config.core("intermediate_size", defaults.intermediate);
  const uint64_t layers = config.depth("num_hidden_layers", defaults.layers);
  network.vocab_size = config.core("vocab_size", defaults.vocab);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", defaults.positions);

  Experts experts;
  experts.count = config.count("n_routed_experts", defaults.experts);
  experts.per_token = config.size("num_experts_per_tok", defaults.per_token);
  experts.width = config.size("moe_intermediate_size", defaults.expert_width);
  experts.at = "mlp.experts.*.";
  experts.router_is_linear = false;
  experts.shared = "mlp.shared_experts.";
  const uint64_t shared =
      config.is_null("n_shared_experts") ? 0 : config.count("n_shared_experts", defaults.shared);
  experts.shared_width = times(shared, experts.width);
  const uint64_t first_dense = config.count("first_k_dense_replace", defaults.first_dense);
  const uint64_t every = config.size("moe_layer_freq", 1);

  std::vector<LayerKind> kinds = layer_kinds(config, layers, AttentionKind::full, 0);
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].experts = experts.count > 0 && i >= first_dense && i % every == 0;
  }

  Stack text;
  text.part = Part::text;
  text.name = "text";
  text.hidden = hidden;
  const std::string base = frame.base("model");
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  const std::vector<CountedKind> counted = count_kinds(kinds);
  for (const CountedKind& at : counted) {
    LayerGroup group;
    group.name = group_name(at.kind, counted);
    group.layers = at.layers;
    group.heads = config.core("num_attention_heads", defaults.heads);
    group.activation = activation(config, "hidden_act", "silu", network);
    group.attention_dropout = config.share("attention_dropout", 0);
    add_rms(group.norms, NormPlace::before_attention, hidden);
    add_latent_attention(config, layer + "self_attn.", hidden, group);
    add_rms(group.norms, NormPlace::before_mlp, hidden);
    if (at.kind.experts) {
      add_experts(group, layer, hidden, experts);
      if (defaults.score_bias) {
        Table correction;
        correction.path = layer + "mlp.gate.e_score_correction_bias";
        correction.rows = at.layers;
        correction.width = experts.count;
        correction.trained = false;
        text.tables.push_back(correction);
      }
    } else {
      add_gated_mlp(group, layer + "mlp.", hidden, intermediate);
    }
    text.groups.push_back(group);
  }
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(text);
}

}  // namespace

void read_deepseek_v2(ConfigReader& config, const Frame& frame, Architecture& network) {
  read(config, frame, {4096, 11008, 32, 32, 32000, 2048, 64, 6, 1407, 2, 0, false}, network);
}

// The same layers without the correction of the router's scores among the parameters.
void read_glm4_moe_lite(ConfigReader& config, const Frame& frame, Architecture& network) {
  read(config, frame, {2048, 10240, 47, 20, 154880, 202752, 64, 4, 1536, 1, 1, false}, network);
}

void read_deepseek_v3(ConfigReader& config, const Frame& frame, Architecture& network) {
  read(config, frame, {7168, 18432, 61, 128, 129280, 4096, 256, 8, 2048, 1, 3, true}, network);
}

}  // namespace plimsoll::model::families
