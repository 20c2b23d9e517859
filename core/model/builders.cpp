#include "core/model/builders.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/model/saturating.h"

namespace plimsoll::model {

using saturating::plus;
using saturating::times;

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

void add_cross_attention(LayerGroup& group, const std::string& at, uint64_t hidden, uint64_t from,
                         bool qkv_bias, bool o_bias, const AttentionNames& names) {
  const uint64_t queries = times(group.heads, group.head_dim);
  const uint64_t keys = times(group.kv_heads, group.head_dim);
  add_linear(group.linears, at + names.q, hidden, queries, qkv_bias, Role::cross_q);
  add_linear(group.linears, at + names.k, from, keys, qkv_bias, Role::cross_k);
  add_linear(group.linears, at + names.v, from, keys, qkv_bias, Role::cross_v);
  add_linear(group.linears, at + names.o, queries, hidden, o_bias, Role::cross_o);
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
  if (!experts.router_is_linear) router.module = Module::parameter;
  if (experts.shared_width == 0) return;
  const std::string shared = layer + experts.shared;
  add_linear(group.linears, shared + "gate_proj", hidden, experts.shared_width, false, Role::shared_gate);
  add_linear(group.linears, shared + "up_proj", hidden, experts.shared_width, false, Role::shared_up);
  add_linear(group.linears, shared + "down_proj", experts.shared_width, hidden, false, Role::shared_down);
  if (!experts.shared_switch.empty()) {
    add_linear(group.linears, layer + experts.shared_switch, hidden, 1, false, Role::other);
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
  add_linear(group.linears, at + "in_proj_z", hidden, values, false, Role::other);
  add_linear(group.linears, at + "in_proj_b", hidden, delta.value_heads, false, Role::other);
  add_linear(group.linears, at + "in_proj_a", hidden, delta.value_heads, false, Role::other);
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
               {"relu2", Activation::squared_relu}};
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
  const bool as_heads = fallback == 0 || config.is_null(key);
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

std::vector<LayerKind> layer_kinds(ConfigReader& config, uint64_t layers, AttentionKind most,
                                   uint64_t period) {
  static constexpr struct {
    std::string_view name;
    AttentionKind attention;
  } known[] = {{"full_attention", AttentionKind::full},
               {"sliding_attention", AttentionKind::sliding},
               {"chunked_attention", AttentionKind::sliding},
               {"linear_attention", AttentionKind::linear_delta}};
  constexpr uint64_t deepest = 4096;  // the deepest published network has some 130 layers
  if (layers > deepest) {
    config.fail("num_hidden_layers", "A network of " + std::to_string(layers) + " layers cannot be computed.",
                "1 to 4096");
    layers = 1;
  }
  std::vector<LayerKind> kinds(layers);
  const std::vector<std::string> types = config.texts("layer_types");
  if (types.empty()) {
    for (uint64_t i = 0; period > 0 && i < layers; ++i) {
      if ((i + 1) % period != 0) kinds[i].attention = most;
    }
    return kinds;
  }
  if (types.size() != layers) {
    config.fail("layer_types",
                "layer_types names " + std::to_string(types.size()) + " layers; num_hidden_layers says " +
                    std::to_string(layers) + ".",
                "one name a layer");
    return kinds;
  }
  for (uint64_t i = 0; i < layers; ++i) {
    const auto row = std::find_if(std::begin(known), std::end(known),
                                  [&](const auto& candidate) { return candidate.name == types[i]; });
    if (row == std::end(known)) {
      config.fail("layer_types",
                  "The type of layer " + std::to_string(i) + ", \"" + types[i] + "\", is not known.",
                  "full_attention, sliding_attention, chunked_attention, linear_attention");
    } else {
      kinds[i].attention = row->attention;
    }
  }
  return kinds;
}

std::vector<CountedKind> count_kinds(const std::vector<LayerKind>& kinds) {
  std::vector<CountedKind> counted;
  for (const LayerKind& kind : kinds) {
    const auto same = std::find_if(counted.begin(), counted.end(),
                                   [&](const CountedKind& candidate) { return candidate.kind == kind; });
    if (same == counted.end()) {
      counted.push_back({kind, 1});
    } else {
      ++same->layers;
    }
  }
  return counted;
}

std::string group_name(const LayerKind& kind, const std::vector<CountedKind>& all) {
  std::string name;
  for (const CountedKind& other : all) {
    if (other.kind.attention != kind.attention && name.empty()) {
      name = kind.attention == AttentionKind::sliding        ? "sliding-window "
             : kind.attention == AttentionKind::linear_delta ? "linear-attention "
                                                             : "full-attention ";
    }
  }
  for (const CountedKind& other : all) {
    if (other.kind.experts != kind.experts) return name + (kind.experts ? "expert layers" : "dense layers");
  }
  return name.empty() ? "decoder layers" : name + "layers";
}

namespace {

void add_decoder_norms(LayerGroup& group, uint64_t hidden, const DecoderTraits& traits) {
  const auto add = [&](NormPlace place) {
    Norm norm;
    norm.kind = traits.norm;
    norm.place = place;
    norm.width = hidden;
    norm.weight = traits.norm_weight;
    norm.bias = traits.norm_bias;
    norm.fp32_weight_product = traits.fp32_norm_product;
    group.norms.push_back(norm);
  };
  const bool before = traits.layout != NormLayout::post;
  const bool after = traits.layout == NormLayout::post || traits.layout == NormLayout::sandwich;
  if (before) add(NormPlace::before_attention);
  if (after) add(NormPlace::after_attention);
  if (before && traits.layout != NormLayout::single) add(NormPlace::before_mlp);
  if (after) add(NormPlace::after_mlp);
}

void add_qk_norms(LayerGroup& group, const DecoderTraits& traits) {
  const auto add = [&](NormPlace place, uint64_t width) {
    Norm norm;
    norm.kind = traits.norm;
    norm.place = place;
    norm.width = width;
    norm.bias = false;
    norm.fp32_weight_product = traits.fp32_norm_product;
    group.norms.push_back(norm);
  };
  const bool full = traits.qk_norm == QkNorm::full_width;
  add(NormPlace::q, full ? times(group.heads, group.head_dim) : group.head_dim);
  add(NormPlace::k, full ? times(group.kv_heads, group.head_dim) : group.head_dim);
}

}  // namespace

void read_decoder(ConfigReader& config, const Frame& frame, const DecoderTraits& traits,
                  Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", traits.hidden);
  const uint64_t layers = config.core("num_hidden_layers", traits.layers);
  const uint64_t heads = config.core("num_attention_heads", traits.heads);
  // A network of experts alone publishes no dense width (Qwen3.5-35B-A3B).
  const bool all_experts =
      traits.experts.count > 0 && traits.dense_layers.empty() && traits.expert_period == 1;
  const uint64_t intermediate = all_experts ? config.size("intermediate_size", traits.intermediate)
                                            : config.core("intermediate_size", traits.intermediate);
  network.vocab_size = config.core("vocab_size", traits.vocab);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", traits.tied);
  network.max_position_embeddings = config.size("max_position_embeddings", traits.positions);

  LayerGroup shape;
  shape.heads = heads;
  shape.kv_heads = kv_head_count(config, "num_key_value_heads", heads, traits.kv_heads);
  shape.head_dim = traits.head_dim != 0 && !config.is_null("head_dim") && !config.has("head_dim")
                       ? traits.head_dim
                       : head_width(config, hidden, heads, "num_attention_heads");
  shape.value_head_dim = shape.head_dim;
  ConfigReader rope = config.part("rope_parameters");
  shape.rotary_share = config.share(config.spelling({"partial_rotary_factor", "rope_pct"}),
                                    rope.share("partial_rotary_factor", traits.rotary_share));
  shape.parallel = traits.layout == NormLayout::single;
  shape.activation = activation(config, traits.activation_key, traits.activation, network);
  shape.attention_dropout = config.share("attention_dropout", 0);
  if (!traits.residual_dropout_key.empty()) {
    shape.residual_dropout = config.share(traits.residual_dropout_key, 0);
  }
  const bool bias = traits.bias_key.empty() ? traits.bias : config.flag(traits.bias_key, traits.bias);
  const bool mlp_bias = !traits.mlp_bias_key.empty() && config.flag(traits.mlp_bias_key, false);
  const bool qk_norm = traits.qk_norm != QkNorm::none &&
                       (traits.qk_norm_key.empty() || config.flag(traits.qk_norm_key, false));

  uint64_t window = window_size(config, "sliding_window", traits.window);
  if (traits.window_needs_switch && !config.flag("use_sliding_window", false)) window = 0;
  const uint64_t first_windowed = traits.window_needs_switch ? config.count("max_window_layers", 28) : 0;
  std::vector<LayerKind> kinds = layer_kinds(config, layers, traits.most_layers, traits.full_period);
  const bool listed = traits.full_period > 0 || config.has("layer_types");
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (!listed && window > 0 && i >= first_windowed) kinds[i].attention = AttentionKind::sliding;
    if (window == 0 && kinds[i].attention == AttentionKind::sliding) kinds[i].attention = AttentionKind::full;
    kinds[i].experts =
        traits.experts.count > 0 && (i + 1) % traits.expert_period == 0 &&
        std::find(traits.dense_layers.begin(), traits.dense_layers.end(), i) == traits.dense_layers.end();
  }

  Stack text;
  text.part = Part::text;
  text.name = "text";
  text.hidden = hidden;
  const std::string base = frame.base(traits.base);
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);

  const std::vector<CountedKind> counted = count_kinds(kinds);
  for (const CountedKind& at : counted) {
    LayerGroup group = shape;
    group.name = group_name(at.kind, counted);
    group.layers = at.layers;
    group.attention = at.kind.attention;
    group.window = group.attention == AttentionKind::sliding ? window : 0;
    if (group.attention == AttentionKind::linear_delta) {
      add_delta_net(group, layer + "linear_attn.", hidden, traits.delta);
    } else if (traits.fused_qkv) {
      const uint64_t queries = times(heads, group.head_dim);
      add_linear(group.linears, layer + "self_attn." + std::string(traits.fused_qkv_name), hidden,
                 plus(queries, times(2, times(group.kv_heads, group.head_dim))), bias, Role::qkv);
      add_linear(group.linears, layer + "self_attn.o_proj", queries, hidden, bias && traits.o_bias, Role::o);
    } else {
      add_attention(group, layer + "self_attn.", hidden, bias, bias && traits.o_bias);
      if (traits.output_gate) {
        group.linears.front().out = times(2, group.linears.front().out);
        group.attention_output_gate = true;
      }
    }
    if (at.kind.experts) {
      add_experts(group, layer, hidden, traits.experts);
    } else if (traits.fused_gate_up) {
      add_linear(group.linears, layer + "mlp.gate_up_proj", hidden, times(2, intermediate), mlp_bias,
                 Role::gate_up);
      add_linear(group.linears, layer + "mlp.down_proj", intermediate, hidden, mlp_bias, Role::down);
      group.intermediate = intermediate;
    } else {
      add_gated_mlp(group, layer + "mlp.", hidden, intermediate, mlp_bias);
    }
    add_decoder_norms(group, hidden, traits);
    if (qk_norm && group.attention != AttentionKind::linear_delta) add_qk_norms(group, traits);
    text.groups.push_back(std::move(group));
  }

  Norm last;
  last.kind = traits.norm;
  last.width = hidden;
  last.weight = traits.norm_weight;
  last.bias = traits.norm_bias;
  last.fp32_weight_product = traits.fp32_norm_product;
  text.norms.push_back(last);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace plimsoll::model
