// DeepSeek V2 and V3: attention through low-rank latents, then a few dense layers and many with routed and
// shared experts. V3.2 and GLM-5 pick the keys of each query by a small indexer beside it; Mistral 4 has
// experts in every layer. Transformers 4.57, models/deepseek_v2, deepseek_v3; 5.15, models/deepseek_v32,
// glm_moe_dsa, mistral4.
#include "core/model/families.h"
#include "core/model/families/latent_attention.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

struct DeepSeek {
  uint64_t hidden, intermediate, layers, heads, vocab, positions;
  uint64_t experts, per_token, expert_width, shared, first_dense;
  bool score_bias;           // V3 keeps one correction a router output, which is stored and never trained
  uint64_t index_heads = 0;  // 0: attention reads every earlier token
  LatentWidths latent = {};
};

// A few heads of their own score every earlier token, and attention reads the best of them. Its weights are
// trained only by a loss of their own, so the step has nothing of it but the weights.
void add_indexer(ConfigReader& config, const std::string& at, uint64_t hidden, uint64_t heads,
                 LayerGroup& group) {
  const uint64_t count = config.size("index_n_heads", heads);
  const uint64_t width = config.size("index_head_dim", 128);
  add_linear(group.linears, at + "wq_b", config.count("q_lora_rank", 1536), times(count, width), false,
             Role::other);
  add_linear(group.linears, at + "wk", hidden, width, false, Role::other);
  add_linear(group.linears, at + "weights_proj", hidden, count, false, Role::other);
  add_layer_norm(group.norms, NormPlace::other, width);
}

// Of the layers of each kind, those that have an indexer; the others read the choice of the one before.
uint64_t indexed_layers(ConfigReader& config, const std::vector<LayerKind>& kinds, bool experts) {
  const std::vector<std::string> types = config.texts("indexer_types");
  const uint64_t every = config.size("index_topk_freq", 1);
  const uint64_t first = config.count("index_skip_topk_offset", 2);
  uint64_t count = 0;
  for (uint64_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].experts != experts) continue;
    const uint64_t turn = i + 1 > first ? i + 1 - first : 0;
    count += types.size() == kinds.size() ? types[i] == "full" : turn % every == 0;
  }
  return count;
}

void read(ConfigReader& config, const Frame& frame, const DeepSeek& defaults, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", defaults.hidden);
  const uint64_t intermediate = config.core("intermediate_size", defaults.intermediate);
  const uint64_t layers = config.depth("num_hidden_layers", defaults.layers);
  network.vocab_size = config.core("vocab_size", defaults.vocab);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", defaults.positions);

  Experts experts;
  experts.count = config.core_count("n_routed_experts", defaults.experts);
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

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model");
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  const std::vector<CountedKind> counted = count_kinds(kinds);
  for (const CountedKind& at : counted) {
    LayerGroup group;
    group.name = group_name(at.kind, counted);
    group.layers = at.layers();
    group.heads = config.core("num_attention_heads", defaults.heads);
    group.activation = activation(config, "hidden_act", "silu", network);
    group.attention_dropout = config.share("attention_dropout", 0);
    add_rms(group.norms, NormPlace::before_attention, hidden);
    add_latent_attention(config, layer + "self_attn.", hidden, defaults.latent, group);
    add_rms(group.norms, NormPlace::before_mlp, hidden);
    if (at.kind.experts) {
      add_experts(group, layer, hidden, experts);
      if (defaults.score_bias) {
        Table correction;
        correction.path = layer + "mlp.gate.e_score_correction_bias";
        correction.rows = at.layers();
        correction.width = experts.count;
        correction.trained = false;
        text.tables.push_back(correction);
      }
    } else {
      add_gated_mlp(group, layer + "mlp.", hidden, intermediate);
    }
    const uint64_t indexed = defaults.index_heads > 0 ? indexed_layers(config, kinds, at.kind.experts) : 0;
    if (indexed > 0) {
      LayerGroup chooses = group;
      chooses.name = indexed < group.layers ? group.name + " with an indexer" : group.name;
      chooses.layers = indexed;
      add_indexer(config, layer + "self_attn.indexer.", hidden, defaults.index_heads, chooses);
      text.groups.push_back(std::move(chooses));
      group.layers -= indexed;
    }
    if (group.layers > 0) text.groups.push_back(std::move(group));
  }
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(text);
}

}  // namespace

void add_latent_attention(ConfigReader& config, const std::string& at, uint64_t hidden,
                          const LatentWidths& defaults, LayerGroup& group) {
  const bool bias = config.flag("attention_bias", false);
  const uint64_t plain = config.size("qk_nope_head_dim", defaults.plain);
  const uint64_t rotated = config.size("qk_rope_head_dim", 64);
  const uint64_t query_rank =
      config.is_null("q_lora_rank") ? 0 : config.count("q_lora_rank", defaults.query_rank);
  const uint64_t key_rank = config.size("kv_lora_rank", defaults.key_rank);
  group.attention = AttentionKind::latent;
  group.kv_heads = group.heads;
  group.head_dim = plus(plain, rotated);
  group.value_head_dim = config.size("v_head_dim", defaults.value);
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

void read_deepseek_v32(ConfigReader& config, const Frame& frame, Architecture& network) {
  read(config, frame, {7168, 18432, 61, 128, 129280, 163840, 256, 8, 2048, 1, 3, false, 64}, network);
}

void read_glm_moe_dsa(ConfigReader& config, const Frame& frame, Architecture& network) {
  DeepSeek glm{6144, 12288, 78, 64, 154880, 202752, 256, 8, 2048, 1, 3, false, 32};
  glm.latent = {2048, 512, 192, 256};
  read(config, frame, glm, network);
}

void read_mistral4(ConfigReader& config, const Frame& frame, Architecture& network) {
  DeepSeek mistral{4096, 12288, 36, 32, 131072, 1048576, 128, 4, 2048, 1, 0, false};
  mistral.latent = {1024, 256, 64, 128};
  read(config, frame, mistral, network);
}

}  // namespace plimsoll::model::families
