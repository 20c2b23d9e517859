// The pieces that families are put together from: attention, MLP, experts, norms, embedding and head.
//
//     LayerGroup group;
//     group.heads = group.kv_heads = 32;
//     group.head_dim = 128;
//     add_attention(group, "model.layers.#.self_attn.", 4096, false, false);
//     add_gated_mlp(group, "model.layers.#.mlp.", 4096, 11008);
//     add_rms(group.norms, NormPlace::before_attention, 4096);
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

/// The stack of a language model, still without layers.
Stack text_stack(uint64_t hidden);
Linear& add_linear(std::vector<Linear>& linears, std::string path, uint64_t in, uint64_t out, bool bias,
                   Role role);
void add_rms(std::vector<Norm>& norms, NormPlace place, uint64_t width);
/// Gemma's: (1 + weight) multiplied in fp32.
void add_scaled_rms(std::vector<Norm>& norms, NormPlace place, uint64_t width);
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
void add_cross_attention(LayerGroup& group, const std::string& at, uint64_t hidden, uint64_t from, bool bias,
                         const AttentionNames& names = {});
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
/// Mixtral's names, as Transformers 4 has them: modules w1 (gate), w3 (up) and w2 (down) under
/// block_sparse_moe.
void name_as_mixtral(Experts& experts);
void add_experts(LayerGroup& group, const std::string& layer, uint64_t hidden, const Experts& experts);

/// Gated delta-net: linear attention over a state of fixed size (Qwen3.5).
struct DeltaNet {
  uint64_t key_heads = 0, key_dim = 0, value_heads = 0, value_dim = 0, kernel = 0;
};
void add_delta_net(LayerGroup& group, const std::string& at, uint64_t hidden, const DeltaNet& delta);

}  // namespace plimsoll::model
