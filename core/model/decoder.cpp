#include "core/model/decoder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/model/saturating.h"

namespace plimsoll::model {

using saturating::plus;
using saturating::times;

std::vector<LayerKind> layer_kinds(ConfigReader& config, uint64_t layers, AttentionKind most,
                                   uint64_t period) {
  static constexpr struct {
    std::string_view name;
    AttentionKind attention;
  } known[] = {{"full_attention", AttentionKind::full},
               {"sliding_attention", AttentionKind::sliding},
               {"chunked_attention", AttentionKind::sliding},
               {"linear_attention", AttentionKind::linear_delta}};
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
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    auto same = std::find_if(counted.begin(), counted.end(),
                             [&](const CountedKind& candidate) { return candidate.kind == kinds[i]; });
    if (same == counted.end()) same = counted.insert(same, {kinds[i], {}});
    same->indices.push_back(i);
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

// What the layers of a decoder have in common.
struct DecoderSizes {
  uint64_t hidden, layers, heads, intermediate;
  bool bias = false, mlp_bias = false, qk_norm = false;
};

// A layer without its linears.
LayerGroup read_shape(ConfigReader& config, const DecoderTraits& traits, const DecoderSizes& sizes,
                      Architecture& network) {
  LayerGroup shape;
  shape.heads = sizes.heads;
  shape.kv_heads = kv_head_count(config, "num_key_value_heads", sizes.heads, traits.kv_heads);
  shape.head_dim = traits.head_dim != 0 && !config.is_null("head_dim") && !config.has("head_dim")
                       ? traits.head_dim
                       : head_width(config, sizes.hidden, sizes.heads, "num_attention_heads");
  shape.value_head_dim = shape.head_dim;
  ConfigReader rope = config.part("rope_parameters");
  shape.rotary_share = config.share(config.spelling({"partial_rotary_factor", "rope_pct"}),
                                    rope.share("partial_rotary_factor", traits.rotary_share));
  shape.rotary_in_fp32 = traits.rotary_in_fp32;
  shape.scaled_branches = traits.scaled_branches;
  shape.soft_capped = traits.soft_capped;
  shape.parallel = traits.layout == NormLayout::single;
  shape.activation = activation(config, traits.activation_key, traits.activation, network);
  shape.attention_dropout = config.share("attention_dropout", traits.dropout);
  if (!traits.residual_dropout_key.empty()) {
    shape.residual_dropout = config.share(traits.residual_dropout_key, traits.dropout);
  }
  return shape;
}

// Which attention and which MLP each layer has. `window` is 0 where no layer has one.
std::vector<LayerKind> read_kinds(ConfigReader& config, const DecoderTraits& traits, uint64_t layers,
                                  uint64_t& window) {
  window = window_size(config, "sliding_window", traits.window);
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
  return kinds;
}

void add_decoder_attention(LayerGroup& group, const std::string& layer, const DecoderTraits& traits,
                           const DecoderSizes& sizes) {
  if (group.attention == AttentionKind::linear_delta) {
    add_delta_net(group, layer + "linear_attn.", sizes.hidden, traits.delta);
  } else if (traits.fused_qkv) {
    const uint64_t queries = times(sizes.heads, group.head_dim);
    add_linear(group.linears, layer + "self_attn." + std::string(traits.fused_qkv_name), sizes.hidden,
               plus(queries, times(2, times(group.kv_heads, group.head_dim))), sizes.bias, Role::qkv);
    add_linear(group.linears, layer + "self_attn.o_proj", queries, sizes.hidden, sizes.bias && traits.o_bias,
               Role::o);
  } else {
    add_attention(group, layer + "self_attn.", sizes.hidden, sizes.bias, sizes.bias && traits.o_bias);
    if (traits.output_gate) {
      group.linears.front().out = times(2, group.linears.front().out);
      group.attention_output_gate = true;
    }
    if (traits.gate_proj) {
      add_linear(group.linears, layer + "self_attn.gate_proj", sizes.hidden,
                 times(sizes.heads, group.head_dim), false, Role::attention_gate);
      group.attention_output_gate = true;
    }
  }
}

void add_decoder_mlp(LayerGroup& group, const std::string& layer, const DecoderTraits& traits,
                     const DecoderSizes& sizes, bool experts) {
  if (experts) {
    add_experts(group, layer, sizes.hidden, traits.experts);
  } else if (traits.fused_gate_up) {
    add_linear(group.linears, layer + "mlp.gate_up_proj", sizes.hidden, times(2, sizes.intermediate),
               sizes.mlp_bias, Role::gate_up);
    add_linear(group.linears, layer + "mlp.down_proj", sizes.intermediate, sizes.hidden, sizes.mlp_bias,
               Role::down);
    group.intermediate = sizes.intermediate;
  } else if (traits.plain_mlp) {
    add_plain_mlp(group, layer + "mlp.up_proj", layer + "mlp.down_proj", sizes.hidden, sizes.intermediate,
                  sizes.mlp_bias);
  } else {
    add_gated_mlp(group, layer + "mlp.", sizes.hidden, sizes.intermediate, sizes.mlp_bias);
  }
}

}  // namespace

void read_decoder(ConfigReader& config, const Frame& frame, const DecoderTraits& traits,
                  Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", traits.hidden);
  const uint64_t layers = config.depth("num_hidden_layers", traits.layers);
  const uint64_t heads = config.core("num_attention_heads", traits.heads);
  // A network of experts alone publishes no dense width (Qwen3.5-35B-A3B).
  const bool all_experts =
      traits.experts.count > 0 && traits.dense_layers.empty() && traits.expert_period == 1;
  const uint64_t intermediate = all_experts ? config.size("intermediate_size", traits.intermediate)
                                            : config.core("intermediate_size", traits.intermediate);
  DecoderSizes sizes{hidden, layers, heads, intermediate};
  network.vocab_size = config.core("vocab_size", traits.vocab);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", traits.tied);
  network.max_position_embeddings = config.size("max_position_embeddings", traits.positions);

  const LayerGroup shape = read_shape(config, traits, sizes, network);
  sizes.bias = traits.bias_key.empty() ? traits.bias : config.flag(traits.bias_key, traits.bias);
  sizes.mlp_bias = !traits.mlp_bias_key.empty() && config.flag(traits.mlp_bias_key, false);
  sizes.qk_norm = traits.qk_norm != QkNorm::none &&
                  (traits.qk_norm_key.empty() || config.flag(traits.qk_norm_key, false));

  uint64_t window = 0;
  const std::vector<LayerKind> kinds = read_kinds(config, traits, layers, window);

  Stack text = text_stack(hidden);
  const std::string base = frame.base(traits.base);
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);

  const std::vector<CountedKind> counted = count_kinds(kinds);
  for (const CountedKind& at : counted) {
    LayerGroup group = shape;
    group.name = group_name(at.kind, counted);
    group.layers = at.layers();
    group.indices = at.indices;
    group.attention = at.kind.attention;
    group.window = group.attention == AttentionKind::sliding ? window : 0;
    add_decoder_attention(group, layer, traits, sizes);
    add_decoder_mlp(group, layer, traits, sizes, at.kind.experts);
    add_decoder_norms(group, hidden, traits);
    if (sizes.qk_norm && group.attention != AttentionKind::linear_delta) add_qk_norms(group, traits);
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
