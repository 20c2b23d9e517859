// Decoders with experts that differ from Mixtral and Qwen3-MoE in names, norms and biases alone.
// Transformers 5.23, models/minimax_m2, ernie4_5_moe, granitemoe, phimoe, hunyuan_v1_moe.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

// MiniMax M2: q and k normalised over their whole width.
void read_minimax_m2(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.hidden = 3072;
  traits.intermediate = 1536;
  traits.layers = 62;
  traits.heads = 48;
  traits.kv_heads = 8;
  traits.head_dim = 128;
  traits.vocab = 200064;
  traits.positions = 196608;
  traits.rotary_share = 0.5;
  traits.qk_norm = QkNorm::full_width;
  traits.experts.count = config.core("num_local_experts", 256);
  traits.experts.per_token = config.size("num_experts_per_tok", 8);
  traits.experts.width = config.core("intermediate_size", traits.intermediate);
  name_as_mixtral(traits.experts);
  read_decoder(config, frame, traits, network);
}

// ERNIE 4.5 with experts: the first layers are dense, one wide shared expert stands for several.
void read_ernie4_5_moe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.hidden = 2560;
  traits.intermediate = 12288;
  traits.layers = 28;
  traits.heads = 20;
  traits.kv_heads = 4;
  traits.vocab = 103424;
  traits.positions = 131072;
  traits.tied = true;
  traits.bias_key = "use_bias";
  traits.mlp_bias_key = "use_bias";
  traits.experts.count = config.core("moe_num_experts", 64);
  traits.experts.per_token = config.size("moe_k", 6);
  traits.experts.width = config.size("moe_intermediate_size", 1536);
  traits.experts.at = "mlp.experts.*.";
  traits.experts.shared = "mlp.shared_experts.";
  traits.experts.shared_width = times(config.count("moe_num_shared_experts", 2), traits.experts.width);
  const uint64_t first = config.count("moe_layer_start_index", 1);
  for (uint64_t i = 0; i < first; ++i) traits.dense_layers.push_back(i);
  read_decoder(config, frame, traits, network);
}

// Granite 3 with experts: each expert's gate and up are one parameter.
void read_granite_moe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.scaled_branches = true;
  traits.bias_key = "attention_bias";
  traits.experts.count = config.core("num_local_experts", 8);
  traits.experts.per_token = config.size("num_experts_per_tok", 2);
  traits.experts.width = config.core("intermediate_size", traits.intermediate);
  traits.experts.at = "block_sparse_moe.experts.";
  traits.experts.fused = true;
  traits.experts.router = "block_sparse_moe.router.layer";
  read_decoder(config, frame, traits, network);
}

// Phi-3.5-MoE: LayerNorms, and biases on attention and head.
void read_phimoe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.intermediate = 6400;
  traits.kv_heads = 8;
  traits.vocab = 32064;
  traits.positions = 131072;
  traits.bias_key = "attention_bias";
  traits.norm = NormKind::layer;
  traits.norm_bias = true;
  traits.experts.count = config.core("num_local_experts", 16);
  traits.experts.per_token = config.size("num_experts_per_tok", 2);
  traits.experts.width = config.core("intermediate_size", traits.intermediate);
  name_as_mixtral(traits.experts);
  read_decoder(config, frame, traits, network);
  for (Linear& linear : network.stacks.back().linears) {
    if (linear.role == Role::head) linear.bias = config.flag("lm_head_bias", false);
  }
}

// Hunyuan with experts: q and k normalised head by head, a shared expert of the routed ones' width.
void read_hunyuan_moe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.vocab = 290943;
  traits.bias_key = "attention_bias";
  traits.qk_norm = QkNorm::per_head;
  traits.experts.count = config.core("num_experts", 1);
  traits.experts.per_token = config.is_list("moe_topk") ? 8 : config.size("moe_topk", 1);
  traits.experts.width = config.core("intermediate_size", traits.intermediate);
  traits.experts.at = "mlp.experts.*.";
  traits.experts.router = "mlp.gate.wg";
  traits.experts.shared = "mlp.shared_mlp.";
  traits.experts.shared_width = traits.experts.width;
  read_decoder(config, frame, traits, network);
}

// Trinity: norms around attention and MLP, each head of q and k normalised, a gate on what attention found,
// three of four layers in a window. Transformers 5.15, models/afmoe.
void read_afmoe(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.hidden = 2048;
  traits.intermediate = 6144;
  traits.heads = 16;
  traits.head_dim = 128;
  traits.vocab = 200192;
  traits.positions = 16384;
  traits.qk_norm = QkNorm::per_head;
  traits.layout = NormLayout::sandwich;
  traits.window = 1024;
  traits.most_layers = AttentionKind::sliding;
  traits.full_period = config.size("global_attn_every_n_layers", 4);
  traits.gate_proj = true;
  traits.experts.count = config.core("num_experts", 64);
  traits.experts.per_token = config.size("num_experts_per_tok", 6);
  traits.experts.width = config.size("moe_intermediate_size", 1408);
  traits.experts.at = "mlp.experts.*.";
  traits.experts.router = "mlp.router.gate";
  traits.experts.shared = "mlp.shared_experts.";
  traits.experts.shared_width = times(config.count("num_shared_experts", 2), traits.experts.width);
  for (uint64_t i = 0; i < std::min<uint64_t>(1000, config.count("num_dense_layers", 1)); ++i) {
    traits.dense_layers.push_back(i);
  }
  read_decoder(config, frame, traits, network);
  Stack& text = network.stacks.back();
  for (const LayerGroup& group : text.groups) {
    if (group.experts == 0) continue;
    Table bias;  // of the router's scores: kept, moved by the balance of the experts, never by the optimizer
    bias.path = frame.base("model") + "layers.#.mlp.expert_bias";
    bias.rows = group.layers;
    bias.width = group.experts;
    bias.trained = false;
    text.tables.push_back(bias);
  }
}

}  // namespace plimsoll::model::families
