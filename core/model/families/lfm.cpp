// LFM2: short convolutions in most layers, attention in the rest; LFM2-MoE has experts after the first
// layers, LFM2-VL a SigLIP-2 tower. Transformers 5.15, models/lfm2, lfm2_moe, lfm2_vl.
#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

// Lfm2MLP: two thirds of the width, times a factor, rounded up.
uint64_t mlp_width(ConfigReader& config) {
  const uint64_t stated = config.core(config.spelling({"intermediate_size", "block_ff_dim"}), 12288);
  if (!config.flag("block_auto_adjust_ff_dim", true)) return stated;
  const uint64_t two_thirds = times(2, stated) / 3;
  double width = static_cast<double>(two_thirds);
  if (!config.is_null("block_ffn_dim_multiplier")) {
    width = static_cast<double>(
        static_cast<uint64_t>(config.number("block_ffn_dim_multiplier", 1.0, {0, 1e6}) * width));
  }
  const uint64_t multiple = config.size("block_multiple_of", 256);
  return times((static_cast<uint64_t>(width) + multiple - 1) / multiple, multiple);
}

void add_lfm_mlp(LayerGroup& group, const std::string& at, uint64_t hidden, uint64_t width) {
  add_linear(group.linears, at + "w1", hidden, width, false, Role::gate);
  add_linear(group.linears, at + "w3", hidden, width, false, Role::up);
  add_linear(group.linears, at + "w2", width, hidden, false, Role::down);
  group.intermediate = width;
  group.gated = true;
}

void read(ConfigReader& config, const Frame& frame, bool moe, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", moe ? 2048 : 2560);
  const uint64_t layers = config.depth("num_hidden_layers", 32);
  const uint64_t heads = config.core("num_attention_heads", 32);
  const uint64_t kernel = config.size("conv_L_cache", 3);
  const bool conv_bias = config.flag("conv_bias", false);
  const uint64_t dense = moe ? config.count("num_dense_layers", 2) : layers;
  const uint64_t width = moe ? config.core("intermediate_size", 7168) : mlp_width(config);
  network.vocab_size = config.core("vocab_size", 65536);
  network.tied_head = config.flag_or_outer(config.spelling({"tie_word_embeddings", "tie_embedding"}), true);
  network.max_position_embeddings = config.size("max_position_embeddings", 128000);
  const std::vector<std::string> types = config.texts("layer_types");
  Experts experts;
  if (moe) {
    experts.count = config.core("num_experts", 32);
    experts.per_token = config.size("num_experts_per_tok", 4);
    experts.width = config.size("moe_intermediate_size", 1792);
    experts.at = "feed_forward.experts.";
    experts.fused = true;
    experts.router = "feed_forward.gate";
  }

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model");
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  for (const bool routed : {false, true}) {
    for (const bool attends : {true, false}) {
      LayerGroup group;
      for (uint64_t i = 0; i < layers; ++i) {
        const bool full = i >= types.size() || types[i] == "full_attention";
        if (full == attends && (i >= dense) == routed) group.indices.push_back(i);
      }
      group.layers = group.indices.size();
      if (group.layers == 0) continue;
      group.name =
          std::string(attends ? "full-attention" : "convolution") + (routed ? " expert layers" : " layers");
      group.heads = heads;
      group.kv_heads = attends ? kv_head_count(config, "num_key_value_heads", heads, 8) : heads;
      group.head_dim = group.value_head_dim = head_width(config, hidden, heads, "num_attention_heads");
      if (attends) {
        add_attention(group, layer + "self_attn.", hidden, false, false,
                      {"q_proj", "k_proj", "v_proj", "out_proj"});
        add_rms(group.norms, NormPlace::q, group.head_dim);
        add_rms(group.norms, NormPlace::k, group.head_dim);
      } else {  // in_proj gives the two gates and the signal, as wide as queries, keys and values
        group.attention = AttentionKind::short_convolution;
        group.rotary_share = 0;
        add_linear(group.linears, layer + "conv.in_proj", hidden, times(3, hidden), conv_bias, Role::qkv);
        add_linear(group.linears, layer + "conv.out_proj", hidden, hidden, conv_bias, Role::o);
        group.other_parameters = times(hidden, plus(kernel, conv_bias ? 1 : 0));
      }
      if (routed) {
        add_experts(group, layer, hidden, experts);
      } else {
        add_lfm_mlp(group, layer + "feed_forward.", hidden, width);
      }
      add_rms(group.norms, NormPlace::before_attention, hidden);
      add_rms(group.norms, NormPlace::before_mlp, hidden);
      text.groups.push_back(std::move(group));
    }
  }
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

}  // namespace

void read_lfm2(ConfigReader& config, const Frame& frame, Architecture& network) {
  read(config, frame, false, network);
}

void read_lfm2_moe(ConfigReader& config, const Frame& frame, Architecture& network) {
  read(config, frame, true, network);
}

void read_lfm2_vl(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, "lfm2", {"model.language_model.", true, "lm_head"}, network);
  const uint64_t hidden = network.stacks.back().hidden;
  ConfigReader vision = config.part("vision_config");
  VisionTraits traits;
  traits.image_size = 512;
  traits.positions = false;  // a table of num_patches, stretched to the image
  const Tower tower = add_vit(vision, traits, "model.vision_tower.vision_model.", network);
  Stack& seen = network.stacks.back();
  add_table(seen, "model.vision_tower.vision_model.embeddings.position_embedding",
            vision.size("num_patches", 256), tower.hidden, true);
  if (vision.flag("vision_use_head", true)) {  // a pooling head that no image token passes
    const uint64_t wide = tower.hidden, inner = seen.groups.front().intermediate;
    const uint64_t attention = plus(times(4, times(wide, wide)), times(4, wide));
    const uint64_t mlp = plus(times(2, times(wide, inner)), plus(wide, inner));
    seen.other_parameters = plus(seen.other_parameters, plus(plus(attention, mlp), times(3, wide)));
  }
  const uint64_t factor = config.size("downsample_factor", 2);
  const uint64_t from = times(tower.hidden, times(factor, factor));
  const uint64_t wide = config.size("projector_hidden_size", 2560);
  const bool bias = config.flag("projector_bias", true);
  Stack projector = projector_stack("projector", hidden);
  if (config.flag("projector_use_layernorm", true)) add_layer_norm(projector.norms, NormPlace::other, from);
  add_linear(projector.linears, "model.multi_modal_projector.linear_1", from, wide, bias, Role::other);
  add_linear(projector.linears, "model.multi_modal_projector.linear_2", wide, hidden, bias, Role::other);
  network.stacks.push_back(std::move(projector));
  network.image = grid_tokens(tower, factor);
  network.image.cut = ImageTokens::Cut::closest_ratio;
  network.image.least_tiles = 2;
  network.image.most_tiles = 10;
  network.image.whole_tokens = 256;
}

}  // namespace plimsoll::model::families
