#include "core/model/builders.h"

#include <algorithm>
#include <utility>

#include "core/model/saturating.h"

namespace plimsoll::model {

using saturating::plus;
using saturating::times;

Stack text_stack(uint64_t hidden) {
  Stack text;
  text.part = Part::text;
  text.name = "text";
  text.hidden = hidden;
  return text;
}

Linear& add_linear(std::vector<Linear>& linears, std::string path, uint64_t in, uint64_t out, bool bias,
                   Role role) {
  Linear linear;
  linear.path = std::move(path);
  linear.in = in;
  linear.out = out;
  linear.bias = bias;
  linear.role = role;
  linears.push_back(std::move(linear));
  return linears.back();
}

void add_rms(std::vector<Norm>& norms, NormPlace place, uint64_t width) {
  Norm norm;
  norm.place = place;
  norm.width = width;
  norms.push_back(norm);
}

void add_scaled_rms(std::vector<Norm>& norms, NormPlace place, uint64_t width) {
  add_rms(norms, place, width);
  norms.back().fp32_weight_product = true;
}

void add_layer_norm(std::vector<Norm>& norms, NormPlace place, uint64_t width, bool bias) {
  Norm norm;
  norm.kind = NormKind::layer;
  norm.place = place;
  norm.width = width;
  norm.bias = bias;
  norms.push_back(norm);
}

void add_table(Stack& stack, std::string path, uint64_t rows, uint64_t width, bool positions) {
  Table table;
  table.path = std::move(path);
  table.rows = rows;
  table.width = width;
  table.positions = positions;
  stack.tables.push_back(std::move(table));
}

void add_head(Architecture& network, Stack& stack, const std::string& path, uint64_t in, bool bias) {
  if (network.tied_head) return;
  add_linear(stack.linears, path, in, network.vocab_size, bias, Role::head);
}

void add_attention(LayerGroup& group, const std::string& at, uint64_t hidden, bool qkv_bias, bool o_bias,
                   const AttentionNames& names) {
  const uint64_t queries = times(group.heads, group.head_dim);
  const uint64_t keys = times(group.kv_heads, group.head_dim);
  add_linear(group.linears, at + names.q, hidden, queries, qkv_bias, Role::q);
  add_linear(group.linears, at + names.k, hidden, keys, qkv_bias, Role::k);
  add_linear(group.linears, at + names.v, hidden, keys, qkv_bias, Role::v);
  add_linear(group.linears, at + names.o, queries, hidden, o_bias, Role::o);
}

void add_cross_attention(LayerGroup& group, const std::string& at, uint64_t hidden, uint64_t from, bool bias,
                         const AttentionNames& names) {
  const uint64_t queries = times(group.heads, group.head_dim);
  const uint64_t keys = times(group.kv_heads, group.head_dim);
  add_linear(group.linears, at + names.q, hidden, queries, bias, Role::cross_q);
  add_linear(group.linears, at + names.k, from, keys, bias, Role::cross_k);
  add_linear(group.linears, at + names.v, from, keys, bias, Role::cross_v);
  add_linear(group.linears, at + names.o, queries, hidden, bias, Role::cross_o);
}

void add_gated_mlp(LayerGroup& group, const std::string& at, uint64_t hidden, uint64_t width, bool bias) {
  add_linear(group.linears, at + "gate_proj", hidden, width, bias, Role::gate);
  add_linear(group.linears, at + "up_proj", hidden, width, bias, Role::up);
  add_linear(group.linears, at + "down_proj", width, hidden, bias, Role::down);
  group.gated = true;
  group.intermediate = width;
}

void add_plain_mlp(LayerGroup& group, const std::string& up, const std::string& down, uint64_t hidden,
                   uint64_t width, bool bias) {
  add_linear(group.linears, up, hidden, width, bias, Role::up);
  add_linear(group.linears, down, width, hidden, bias, Role::down);
  group.gated = false;
  group.intermediate = width;
}

void name_as_mixtral(Experts& experts) {
  experts.at = "block_sparse_moe.experts.*.";
  experts.gate = "w1";
  experts.up = "w3";
  experts.down = "w2";
  experts.router = "block_sparse_moe.gate";
}

void add_experts(LayerGroup& group, const std::string& layer, uint64_t hidden, const Experts& experts) {
  group.experts = experts.count;
  group.experts_per_token = std::min(experts.per_token, experts.count);
  group.intermediate = experts.width;
  group.shared_intermediate = experts.shared_width;
  group.gated = true;
  const auto routed = [&](const std::string& name, uint64_t in, uint64_t out, Role role) {
    Linear& linear = add_linear(group.linears, layer + experts.at + name, in, out, experts.bias, role);
    linear.count = experts.count;
    linear.expert = true;
    if (experts.fused) linear.module = Module::parameter;
  };
  if (experts.fused) {
    routed("gate_up_proj", hidden, times(2, experts.width), Role::gate_up);
    routed("down_proj", experts.width, hidden, Role::down);
  } else {
    routed(experts.gate, hidden, experts.width, Role::gate);
    routed(experts.up, hidden, experts.width, Role::up);
    routed(experts.down, experts.width, hidden, Role::down);
  }
  Linear& router = add_linear(group.linears, layer + experts.router, hidden, experts.count,
                              experts.router_bias, Role::router);
  router.module = experts.router_is_linear ? Module::linear_until_5 : Module::parameter;
  if (experts.shared_width == 0) return;
  const std::string shared = layer + experts.shared;
  add_linear(group.linears, shared + "gate_proj", hidden, experts.shared_width, false, Role::shared_gate);
  add_linear(group.linears, shared + "up_proj", hidden, experts.shared_width, false, Role::shared_up);
  add_linear(group.linears, shared + "down_proj", experts.shared_width, hidden, false, Role::shared_down);
  if (!experts.shared_switch.empty()) {
    add_linear(group.linears, layer + experts.shared_switch, hidden, 1, false, Role::shared_switch);
  }
}

// Beside its linears: a depthwise convolution over q, k and v, and for each value head a decay and a time
// step.
void add_delta_net(LayerGroup& group, const std::string& at, uint64_t hidden, const DeltaNet& delta) {
  const uint64_t keys = times(delta.key_heads, delta.key_dim);
  const uint64_t values = times(delta.value_heads, delta.value_dim);
  const uint64_t all = plus(times(2, keys), values);
  group.heads = delta.value_heads;
  group.kv_heads = delta.key_heads;
  group.head_dim = delta.key_dim;
  group.value_head_dim = delta.value_dim;
  group.rotary_share = 0;
  group.attention_output_gate = true;
  add_linear(group.linears, at + "in_proj_qkv", hidden, all, false, Role::qkv);
  add_linear(group.linears, at + "in_proj_z", hidden, values, false, Role::attention_gate);
  add_linear(group.linears, at + "in_proj_b", hidden, delta.value_heads, false, Role::delta_beta);
  add_linear(group.linears, at + "in_proj_a", hidden, delta.value_heads, false, Role::delta_decay);
  add_linear(group.linears, at + "out_proj", values, hidden, false, Role::o);
  add_rms(group.norms, NormPlace::other, delta.value_dim);
  group.other_parameters = plus(times(all, delta.kernel), times(2, delta.value_heads));
}

Activation activation(ConfigReader& config, std::string_view key, std::string_view fallback,
                      Architecture& network) {
  static constexpr struct {
    std::string_view name;
    Activation activation;
  } known[] = {{"silu", Activation::silu},
               {"swish", Activation::silu},
               {"swiglu", Activation::silu},
               {"gelu", Activation::gelu},
               {"gelu_new", Activation::gelu_new},
               {"gelu_fast", Activation::gelu_new},
               {"gelu_pytorch_tanh", Activation::gelu_tanh},
               {"gelu_tanh", Activation::gelu_tanh},
               {"quick_gelu", Activation::quick_gelu},
               {"relu", Activation::relu},
               {"relu2", Activation::squared_relu},
               {"xielu", Activation::xielu}};
  const std::string name = config.text(key, fallback);
  for (const auto& row : known) {
    if (row.name == name) return row.activation;
  }
  network.notes.push_back(
      {"unknown_activation",
       "The activation \"" + name + "\" is not known; its memory is taken as that of gelu.",
       config.pointer(key)});
  return Activation::gelu;
}

uint64_t head_width(ConfigReader& config, uint64_t hidden, uint64_t heads, std::string_view heads_key) {
  if (config.has("head_dim")) return config.size("head_dim", 1);
  if (hidden % heads != 0) {
    config.fail(heads_key,
                std::string(heads_key) + " (" + std::to_string(heads) +
                    ") does not divide the hidden size (" + std::to_string(hidden) +
                    "), and there is no head_dim.",
                "a divisor of the hidden size");
    return 1;
  }
  return hidden / heads;
}

uint64_t kv_head_count(ConfigReader& config, std::string_view key, uint64_t heads, uint64_t fallback) {
  // A class default that cannot belong to this number of heads is none.
  const bool as_heads = fallback == 0 || config.is_null(key) || heads % fallback != 0;
  const uint64_t kv_heads = config.size(key, as_heads ? heads : fallback);
  if (heads % kv_heads == 0) return kv_heads;
  config.fail(key,
              std::string(key) + " (" + std::to_string(kv_heads) + ") does not divide the number of heads (" +
                  std::to_string(heads) + ").",
              "a divisor of the number of attention heads");
  return heads;
}

uint64_t window_size(ConfigReader& config, std::string_view key, uint64_t fallback) {
  return config.is_null(key) ? 0 : config.count(key, fallback);
}

void read_checkpoint_dtype(ConfigReader& config, Architecture& network) {
  const std::string dtype = config.text(config.spelling({"dtype", "torch_dtype"}), "");
  if (!dtype.empty() && network.checkpoint_dtype.empty()) network.checkpoint_dtype = dtype;
}

}  // namespace plimsoll::model
