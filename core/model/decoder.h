// The decoder layer that Llama made common, with the switches by which its many relatives differ.
//
//     void read_qwen3(ConfigReader& config, const Frame& frame, Architecture& network) {
//       DecoderTraits traits;
//       traits.bias_key = "attention_bias";
//       traits.qk_norm = QkNorm::per_head;
//       read_decoder(config, frame, traits, network);
//     }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/builders.h"

namespace plimsoll::model {

/// What makes one layer unlike the next.
struct LayerKind {
  AttentionKind attention = AttentionKind::full;
  bool experts = false;
  bool operator==(const LayerKind& other) const {
    return attention == other.attention && experts == other.experts;
  }
};
/// The kinds in the order of the network: `layer_types` where the config lists it, else every `period`-th
/// layer full and the others `most` (period 0: all full).
std::vector<LayerKind> layer_kinds(ConfigReader& config, uint64_t layers, AttentionKind most,
                                   uint64_t period);
/// Equal kinds folded together, in order of first appearance.
struct CountedKind {
  LayerKind kind;
  std::vector<uint64_t> indices;
  uint64_t layers() const { return indices.size(); }
};
std::vector<CountedKind> count_kinds(const std::vector<LayerKind>& kinds);
/// "decoder layers", "sliding-window layers", ... as a group is called.
std::string group_name(const LayerKind& kind, const std::vector<CountedKind>& all);

enum class QkNorm { none, per_head, full_width };
/// pre: before attention and before the MLP; sandwich: also after each; post: only after each; single: one
/// norm for attention and MLP, which run side by side.
enum class NormLayout { pre, sandwich, post, single };

/// How a family's decoder differs from Llama's. Sizes are the defaults of its configuration class.
struct DecoderTraits {
  uint64_t hidden = 4096, intermediate = 11008, layers = 32, heads = 32, vocab = 32000, positions = 2048;
  uint64_t kv_heads = 0;  ///< 0: as many as heads
  uint64_t head_dim = 0;  ///< 0: hidden / heads
  bool tied = false;
  std::string_view base = "model";
  std::string_view activation_key = "hidden_act", activation = "silu";

  std::string_view bias_key;  ///< the field that turns attention biases on
  bool bias = false;          ///< without that field, or when it is absent
  bool o_bias = true;         ///< whether o_proj has a bias when the others do
  std::string_view mlp_bias_key;
  bool plain_mlp = false;  ///< up and down, without a gate
  QkNorm qk_norm = QkNorm::none;
  std::string_view qk_norm_key;  ///< the field that turns qk_norm on
  bool fused_qkv = false, fused_gate_up = false;
  std::string_view fused_qkv_name = "qkv_proj";
  NormKind norm = NormKind::rms;
  bool norm_weight = true, norm_bias = false, fp32_norm_product = false;
  NormLayout layout = NormLayout::pre;

  bool rotary_in_fp32 = false, soft_capped = false, scaled_branches = false;
  double rotary_share = 1.0;              ///< default of partial_rotary_factor
  std::string_view residual_dropout_key;  ///< "resid_pdrop"
  double dropout = 0;                     ///< class default of both dropouts
  uint64_t window = 0;                    ///< class default of sliding_window
  bool window_needs_switch = false;       ///< Qwen: only with use_sliding_window
  AttentionKind most_layers = AttentionKind::full;
  uint64_t full_period = 0;  ///< every n-th layer is full, the others `most_layers`

  bool output_gate = false;  ///< q_proj gives the query and a gate on the output
  bool gate_proj = false;    ///< self_attn.gate_proj gives the gate
  DeltaNet delta;            ///< of the linear_attention layers

  Experts experts;                     ///< count 0: a dense MLP in every layer
  std::vector<uint64_t> dense_layers;  ///< of a network with experts
  uint64_t expert_period = 1;          ///< every n-th layer has experts
};
void read_decoder(ConfigReader& config, const Frame& frame, const DecoderTraits& traits,
                  Architecture& network);

}  // namespace plimsoll::model
