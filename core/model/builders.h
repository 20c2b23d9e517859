// The pieces that families are put together from: attention, MLP, experts, norms, embedding and head, and the
// decoder layer that Llama made common.
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

#include "core/model/architecture.h"
#include "core/model/config_reader.h"

namespace plimsoll::model {

/// Where a text model sits. Alone its base model is at "model." (or whatever its class calls it) and its head
/// at "lm_head"; inside a vision-language model both lie elsewhere.
struct Frame {
  std::string outer;  ///< module path in front, with its dot: "language_model."
  bool bare = false;  ///< the base model lies at `outer` itself (Transformers 4.52 and later)
  std::string head = "lm_head";
  /// "model." for the own name "model"
  std::string base(std::string_view own) const { return bare ? outer : outer + std::string(own) + "."; }
};

Linear& add_linear(std::vector<Linear>& linears, std::string path, uint64_t in, uint64_t out, bool bias,
                   Role role);
void add_rms(std::vector<Norm>& norms, NormPlace place, uint64_t width);
void add_layer_norm(std::vector<Norm>& norms, NormPlace place, uint64_t width, bool bias = true);
void add_table(Stack& stack, std::string path, uint64_t rows, uint64_t width, bool positions = false);
/// The output layer, unless it is the embedding itself.
void add_head(Architecture& network, Stack& stack, const std::string& path, uint64_t in, bool bias = false);

/// heads x head_dim and the rest of a group's attention from its own numbers. Names are leaf names below
/// `at`.
struct AttentionNames {
  std::string q = "q_proj", k = "k_proj", v = "v_proj", o = "o_proj";
};
void add_attention(LayerGroup& group, const std::string& at, uint64_t hidden, bool qkv_bias, bool o_bias,
                   const AttentionNames& names = {});
/// Attention that reads `from` wide states of another sequence.
void add_cross_attention(LayerGroup& group, const std::string& at, uint64_t hidden, uint64_t from,
                         bool qkv_bias, bool o_bias, const AttentionNames& names = {});
void add_gated_mlp(LayerGroup& group, const std::string& at, uint64_t hidden, uint64_t width,
                   bool bias = false);
/// up, activation, down: "mlp.fc1", "mlp.fc2"
void add_plain_mlp(LayerGroup& group, const std::string& up, const std::string& down, uint64_t hidden,
                   uint64_t width, bool bias);

/// "gelu_pytorch_tanh" and its many spellings. An unknown one is read as gelu, with a note.
Activation activation(ConfigReader& config, std::string_view key, std::string_view fallback,
                      Architecture& network);

/// head_dim of the config, or hidden / heads; an error when neither is whole.
uint64_t head_width(ConfigReader& config, uint64_t hidden, uint64_t heads, std::string_view heads_key);
/// Key/value heads; `fallback` 0 means as many as heads.
uint64_t kv_head_count(ConfigReader& config, std::string_view key, uint64_t heads, uint64_t fallback);
/// sliding_window, where null means none and absence the class default.
uint64_t window_size(ConfigReader& config, std::string_view key, uint64_t fallback);

/// torch_dtype or dtype: "bfloat16".
void read_checkpoint_dtype(ConfigReader& config, Architecture& network);

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
  uint64_t layers;
};
std::vector<CountedKind> count_kinds(const std::vector<LayerKind>& kinds);
/// "decoder layers", "sliding-window layers", ... as a group is called.
std::string group_name(const LayerKind& kind, const std::vector<CountedKind>& all);

enum class QkNorm { none, per_head, full_width };
/// pre: before attention and before the MLP; sandwich: also after each; post: only after each; single: one
/// norm for attention and MLP, which run side by side.
enum class NormLayout { pre, sandwich, post, single };

struct Experts {
  uint64_t count = 0;
  uint64_t per_token = 0;
  uint64_t width = 0;
  std::string at = "mlp.experts.";  ///< below the layer
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";
  bool fused = false;  ///< one 3-D parameter for all experts, gate and up in one
  bool bias = false;
  std::string router = "mlp.gate";
  bool router_is_linear = true;  ///< an nn.Linear that PEFT can see, or a bare parameter
  bool router_bias = false;
  uint64_t shared_width = 0;
  std::string shared = "mlp.shared_expert.";
  std::string shared_switch;  ///< "mlp.shared_expert_gate": hidden -> 1
};
void add_experts(LayerGroup& group, const std::string& layer, uint64_t hidden, const Experts& experts);

/// Gated delta-net: linear attention over a state of fixed size (Qwen3.5).
struct DeltaNet {
  uint64_t key_heads = 0, key_dim = 0, value_heads = 0, value_dim = 0, kernel = 0;
};
void add_delta_net(LayerGroup& group, const std::string& at, uint64_t hidden, const DeltaNet& delta);

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
  QkNorm qk_norm = QkNorm::none;
  std::string_view qk_norm_key;  ///< the field that turns qk_norm on
  bool fused_qkv = false, fused_gate_up = false;
  std::string_view fused_qkv_name = "qkv_proj";
  NormKind norm = NormKind::rms;
  bool norm_weight = true, norm_bias = false, fp32_norm_product = false;
  NormLayout layout = NormLayout::pre;

  double rotary_share = 1.0;              ///< default of partial_rotary_factor
  std::string_view residual_dropout_key;  ///< "resid_pdrop"
  uint64_t window = 0;                    ///< class default of sliding_window
  bool window_needs_switch = false;       ///< Qwen: only with use_sliding_window
  AttentionKind most_layers = AttentionKind::full;
  uint64_t full_period = 0;  ///< every n-th layer is full, the others `most_layers`

  bool output_gate = false;  ///< q_proj gives the query and a gate on the output
  DeltaNet delta;            ///< of the linear_attention layers

  Experts experts;                     ///< count 0: a dense MLP in every layer
  std::vector<uint64_t> dense_layers;  ///< of a network with experts
  uint64_t expert_period = 1;          ///< every n-th layer has experts
};
void read_decoder(ConfigReader& config, const Frame& frame, const DecoderTraits& traits,
                  Architecture& network);

}  // namespace plimsoll::model
