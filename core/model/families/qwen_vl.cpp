// Qwen2-VL, 2.5-VL, 3-VL and Qwen3.5, which sees too. Early configs hold the text fields at the top, later
// ones in text_config. Transformers 4.57, models/qwen2_vl, qwen2_5_vl, qwen3_vl, qwen3_vl_moe; 5.x,
// models/qwen3_5.
#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

const Frame& text_frame() {
  static const Frame frame{"model.language_model.", true, "lm_head"};
  return frame;
}

uint64_t read_text(ConfigReader& config, FamilyReader reader, Architecture& network) {
  if (config.has("text_config")) {
    ConfigReader text = config.required_part("text_config");
    read_checkpoint_dtype(text, network);
    reader(text, text_frame(), network);
  } else {
    reader(config, text_frame(), network);
  }
  return network.stacks.back().hidden;
}

struct Blocks {
  uint64_t hidden, merged;  // merged: width of a square of patches that becomes one token
  Stack stack;
};

struct BlockTraits {
  std::string_view hidden_key;
  uint64_t hidden, depth, patch;
  bool patch_bias;
  std::string_view activation;
};

// Patch embedding and the attention of every block; the caller adds MLP and norms.
Blocks read_blocks(ConfigReader& vision, const BlockTraits& traits, LayerGroup& group,
                   Architecture& network) {
  Blocks blocks;
  blocks.hidden = vision.size(traits.hidden_key, traits.hidden);
  const uint64_t patch = vision.size("patch_size", traits.patch);
  const uint64_t merge = vision.size("spatial_merge_size", 2);
  const uint64_t frames = vision.size("temporal_patch_size", 2);
  blocks.merged = times(blocks.hidden, times(merge, merge));
  Stack& stack = blocks.stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = blocks.hidden;
  const uint64_t pixels = times(3, times(frames, times(patch, patch)));
  stack.patch_pixels = pixels;
  stack.other_parameters = times(plus(pixels, traits.patch_bias ? 1 : 0), blocks.hidden);

  group.name = "vision layers";
  group.layers = vision.depth("depth", traits.depth);
  group.attention = AttentionKind::bidirectional;
  group.rotary_casts_first = true;
  group.heads = group.kv_heads = vision.size("num_heads", 16);
  group.head_dim = group.value_head_dim = head_width(vision, blocks.hidden, group.heads, "num_heads");
  group.activation = activation(vision, "hidden_act", traits.activation, network);
  const std::string layer = "model.visual.blocks.#.";
  add_linear(group.linears, layer + "attn.qkv", blocks.hidden, times(3, blocks.hidden), true, Role::qkv);
  add_linear(group.linears, layer + "attn.proj", blocks.hidden, blocks.hidden, true, Role::o);

  Tower tower;
  tower.hidden = blocks.hidden;
  tower.patch = patch;
  network.image = grid_tokens(tower, merge);
  network.image.frames = frames;
  return blocks;
}

void add_merger(Stack& projector, const std::string& first, const std::string& second, uint64_t merged,
                uint64_t hidden, uint64_t count) {
  add_linear(projector.linears, first, merged, merged, true, Role::other).count = count;
  add_linear(projector.linears, second, merged, hidden, true, Role::other).count = count;
}

// The layers of Qwen3-VL's tower, which others took over.
Blocks read_qwen3_blocks(ConfigReader& vision, Architecture& network) {
  LayerGroup group;
  Blocks blocks =
      read_blocks(vision, {"hidden_size", 1152, 27, 16, true, "gelu_pytorch_tanh"}, group, network);
  const std::string layer = "model.visual.blocks.#.mlp.linear_fc";
  add_plain_mlp(group, layer + "1", layer + "2", blocks.hidden, vision.size("intermediate_size", 4304), true);
  add_layer_norm(group.norms, NormPlace::before_attention, blocks.hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, blocks.hidden);
  blocks.stack.groups.push_back(std::move(group));
  return blocks;
}

void read_qwen3_vision(ConfigReader& config, uint64_t hidden, const std::vector<uint64_t>& default_levels,
                       Architecture& network) {
  ConfigReader vision = config.part("vision_config");
  Blocks blocks = read_qwen3_blocks(vision, network);
  add_table(blocks.stack, "model.visual.pos_embed", vision.size("num_position_embeddings", 2304),
            blocks.hidden, true);
  network.stacks.push_back(blocks.stack);

  Stack projector = projector_stack("merger", hidden);
  const uint64_t out = vision.size("out_hidden_size", hidden);
  add_merger(projector, "model.visual.merger.linear_fc1", "model.visual.merger.linear_fc2", blocks.merged,
             out, 1);
  add_layer_norm(projector.norms, NormPlace::other, blocks.hidden);
  // Deepstack: states of some earlier blocks enter the text model too, each through a merger of its own.
  const uint64_t levels = vision.length("deepstack_visual_indexes", default_levels.size());
  if (levels > 0) {
    add_merger(projector, "model.visual.deepstack_merger_list.*.linear_fc1",
               "model.visual.deepstack_merger_list.*.linear_fc2", blocks.merged, out, levels);
    for (uint64_t i = 0; i < levels; ++i) add_layer_norm(projector.norms, NormPlace::other, blocks.merged);
  }
  network.stacks.push_back(projector);
}

}  // namespace

void read_qwen2_vl(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, read_qwen2_vl_text, network);
  ConfigReader vision = config.part("vision_config");
  LayerGroup group;
  Blocks blocks = read_blocks(vision, {"embed_dim", 1280, 32, 14, false, "quick_gelu"}, group, network);
  const double ratio = vision.number("mlp_ratio", 4, {0.01, 100});
  const auto width = static_cast<uint64_t>(static_cast<double>(blocks.hidden) * ratio);
  const std::string layer = "model.visual.blocks.#.mlp.";
  add_plain_mlp(group, layer + "fc1", layer + "fc2", blocks.hidden, width, true);
  add_layer_norm(group.norms, NormPlace::before_attention, blocks.hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, blocks.hidden);
  blocks.stack.groups.push_back(group);
  network.stacks.push_back(blocks.stack);
  Stack projector = projector_stack("merger", hidden);
  add_merger(projector, "model.visual.merger.mlp.0", "model.visual.merger.mlp.2", blocks.merged, hidden, 1);
  add_layer_norm(projector.norms, NormPlace::other, blocks.hidden);
  network.stacks.push_back(projector);
}

void read_qwen2_5_vl(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, read_qwen2_vl_text, network);
  ConfigReader vision = config.part("vision_config");
  LayerGroup group;
  Blocks blocks = read_blocks(vision, {"hidden_size", 3584, 32, 14, false, "silu"}, group, network);
  add_gated_mlp(group, "model.visual.blocks.#.mlp.", blocks.hidden, vision.size("intermediate_size", 3420),
                true);
  add_rms(group.norms, NormPlace::before_attention, blocks.hidden);
  add_rms(group.norms, NormPlace::before_mlp, blocks.hidden);
  // Most blocks see a window of 112 pixels; the listed ones see the whole image.
  const uint64_t full = vision.length("fullatt_block_indexes", 4);
  const uint64_t side = vision.size("window_size", 112) / vision.size("patch_size", 14);
  if (full < group.layers) {
    LayerGroup windowed = group;
    windowed.name = "windowed vision layers";
    windowed.layers = group.layers - full;
    windowed.window = times(side, side);
    blocks.stack.groups.push_back(windowed);
    group.layers = full;
  }
  if (group.layers > 0) blocks.stack.groups.push_back(group);
  network.stacks.push_back(blocks.stack);
  Stack projector = projector_stack("merger", hidden);
  const uint64_t out = vision.size("out_hidden_size", hidden);
  add_merger(projector, "model.visual.merger.mlp.0", "model.visual.merger.mlp.2", blocks.merged, out, 1);
  add_rms(projector.norms, NormPlace::other, blocks.hidden);
  network.stacks.push_back(projector);
}

void read_qwen3_vl(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, read_qwen3, network);
  read_qwen3_vision(config, hidden, {8, 16, 24}, network);
}

void read_qwen3_vl_moe(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, read_qwen3_vl_moe_text, network);
  read_qwen3_vision(config, hidden, {8, 16, 24}, network);
}

void read_qwen3_5(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, read_qwen3_5_text, network);
  read_qwen3_vision(config, hidden, {}, network);
}

void read_qwen3_5_moe(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, read_qwen3_5_moe_text, network);
  read_qwen3_vision(config, hidden, {}, network);
}

// MOSS-VL: Qwen3-VL's parts, but the text reads the image in layers of its own, and one merger takes all
// levels. OpenMOSS/MOSS-VL sglang/srt/models/moss_vl.py.
void read_moss_vl(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, read_qwen3, network);
  ConfigReader text = config.required_part("text_config");
  std::vector<uint64_t> crossing = text.counts("cross_attention_layers");
  std::vector<LayerGroup>& groups = network.stacks.front().groups;
  if (crossing.size() >= groups.front().layers) {
    text.fail("cross_attention_layers", "More layers cross-attend than the network has.",
              "fewer than num_hidden_layers");
    return;
  }
  LayerGroup cross = groups.front();
  groups.front().layers -= crossing.size();
  cross.name = "cross-attention layers";
  cross.layers = crossing.size();
  cross.attention = AttentionKind::cross;
  cross.linears.clear();
  const std::string layer = "model.language_model.layers.#.";
  add_cross_attention(cross, layer + "cross_attn.", hidden, hidden, false);
  add_gated_mlp(cross, layer + "mlp.", hidden, cross.intermediate);
  cross.other_parameters = 2;  // the gates of attention and MLP
  if (cross.layers > 0) groups.push_back(std::move(cross));

  ConfigReader vision = config.part("vision_config");
  Blocks blocks = read_qwen3_blocks(vision, network);
  add_table(blocks.stack, "model.visual.pos_embed", vision.size("num_position_embeddings", 2304),
            blocks.hidden, true);
  network.stacks.push_back(std::move(blocks.stack));
  Stack projector = projector_stack("merger", hidden);
  const uint64_t levels = plus(vision.length("deepstack_visual_indexes", 3), 1);
  const uint64_t wide = times(levels, blocks.merged);
  add_linear(projector.linears, "model.visual.merger.linear_fc1", wide, wide, true, Role::other);
  add_linear(projector.linears, "model.visual.merger.linear_fc2", wide, hidden, true, Role::other);
  for (uint64_t i = 0; i < levels; ++i) add_layer_norm(projector.norms, NormPlace::other, blocks.hidden);
  network.stacks.push_back(std::move(projector));
  network.image.rule = ImageTokens::Rule::cross;
}

}  // namespace plimsoll::model::families
