#include "core/model/families/vision_towers.h"

#include "core/model/saturating.h"

namespace plimsoll::model {

using saturating::plus;
using saturating::times;

uint64_t patch_count(ConfigReader& vision, uint64_t image_size, uint64_t patch) {
  const uint64_t side = image_size / patch;
  if (side == 0) {
    vision.fail("patch_size",
                "A patch of " + std::to_string(patch) + " pixels is larger than the image of " +
                    std::to_string(image_size) + ".",
                "at most image_size");
  }
  return times(side, side);
}

Tower read_tower_shape(ConfigReader& vision, const VisionTraits& traits, LayerGroup& group,
                       Architecture& network) {
  Tower tower;
  tower.hidden = vision.size(traits.hidden_key, traits.hidden);
  tower.image_size = vision.size("image_size", traits.image_size);
  tower.patch = vision.size("patch_size", traits.patch);
  tower.patches = patch_count(vision, tower.image_size, tower.patch);
  tower.class_tokens = traits.class_token ? 1 : 0;
  const std::string_view heads_key = vision.spelling({"num_attention_heads", "attention_heads"});
  group.name = "vision layers";
  group.layers = vision.depth("num_hidden_layers", traits.layers);
  group.attention = AttentionKind::bidirectional;
  group.heads = group.kv_heads = vision.size(heads_key, traits.heads);
  group.head_dim = group.value_head_dim = head_width(vision, tower.hidden, group.heads, heads_key);
  group.rotary_share = 0;
  group.activation = activation(vision, "hidden_act", traits.activation, network);
  group.attention_dropout = vision.share("attention_dropout", 0);
  group.intermediate = vision.size("intermediate_size", traits.intermediate);
  return tower;
}

Tower add_vit(ConfigReader& vision, const VisionTraits& traits, const std::string& base,
              Architecture& network) {
  LayerGroup group;
  const Tower tower = read_tower_shape(vision, traits, group, network);
  const uint64_t hidden = tower.hidden;
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = hidden;
  const uint64_t pixels = times(3, times(tower.patch, tower.patch));
  stack.other_parameters = times(plus(pixels, traits.patch_bias ? 1 : 0), hidden);
  stack.patch_pixels = pixels;
  if (traits.class_token) stack.other_parameters = plus(stack.other_parameters, hidden);
  if (traits.positions) {
    add_table(stack, base + "embeddings.position_embedding", plus(tower.patches, tower.class_tokens), hidden,
              true);
  }
  const std::string layer = base + "encoder.layers.#.";
  add_attention(group, layer + "self_attn.", hidden, true, true, {"q_proj", "k_proj", "v_proj", "out_proj"});
  add_plain_mlp(group, layer + "mlp.fc1", layer + "mlp.fc2", hidden, group.intermediate, true);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden);
  stack.groups.push_back(group);
  if (traits.pre_norm) add_layer_norm(stack.norms, NormPlace::other, hidden);
  if (traits.post_norm) add_layer_norm(stack.norms, NormPlace::other, hidden);
  network.stacks.push_back(stack);
  return tower;
}

VisionTraits clip_large_336() {
  VisionTraits traits;
  traits.hidden = 1024;
  traits.intermediate = 4096;
  traits.layers = 24;
  traits.heads = 16;
  traits.image_size = 336;
  traits.patch = 14;
  traits.activation = "quick_gelu";
  traits.class_token = true;
  traits.patch_bias = false;
  traits.pre_norm = true;
  return traits;
}

namespace {

Tower add_clip(ConfigReader& vision, const std::string& path, Architecture& network) {
  VisionTraits traits = clip_large_336();  // LlavaConfig's own default; CLIPVisionConfig is smaller
  if (vision.has("model_type")) {
    traits.hidden = 768;
    traits.intermediate = 3072;
    traits.layers = 12;
    traits.heads = 12;
    traits.image_size = 224;
    traits.patch = 32;
  }
  return add_vit(vision, traits, path + "vision_model.", network);
}

// SigLIP's pooling head is a learned query, one attention and one MLP; language models switch it off.
void add_pooling_head(ConfigReader& vision, const Tower& tower, const std::string& base, Stack& stack) {
  if (!vision.flag("vision_use_head", true)) return;
  const uint64_t hidden = tower.hidden;
  const uint64_t intermediate = stack.groups.front().intermediate;
  stack.other_parameters = plus(stack.other_parameters, hidden);
  Linear& fused =
      add_linear(stack.linears, base + "head.attention.in_proj", hidden, times(3, hidden), true, Role::other);
  fused.module = Module::parameter;
  add_linear(stack.linears, base + "head.attention.out_proj", hidden, hidden, true, Role::other);
  add_layer_norm(stack.norms, NormPlace::other, hidden);
  add_linear(stack.linears, base + "head.mlp.fc1", hidden, intermediate, true, Role::other);
  add_linear(stack.linears, base + "head.mlp.fc2", intermediate, hidden, true, Role::other);
}

Tower add_siglip(ConfigReader& vision, const std::string& path, Architecture& network) {
  const Tower tower = add_vit(vision, VisionTraits{}, path + "vision_model.", network);
  add_pooling_head(vision, tower, path + "vision_model.", network.stacks.back());
  return tower;
}

Tower add_pixtral(ConfigReader& vision, const std::string& path, Architecture& network) {
  VisionTraits traits;
  traits.hidden = 1024;
  traits.intermediate = 4096;
  traits.layers = 24;
  traits.heads = 16;
  traits.image_size = 1024;
  traits.activation = "gelu";
  LayerGroup group;
  const Tower tower = read_tower_shape(vision, traits, group, network);
  const uint64_t hidden = tower.hidden;
  group.rotary_share = 1;
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = hidden;
  stack.other_parameters = times(times(3, times(tower.patch, tower.patch)), hidden);
  const std::string layer = path + "transformer.layers.#.";
  add_attention(group, layer + "attention.", hidden, false, false);
  add_gated_mlp(group, layer + "feed_forward.", hidden, group.intermediate);
  add_rms(group.norms, NormPlace::before_attention, hidden);
  add_rms(group.norms, NormPlace::before_mlp, hidden);
  stack.groups.push_back(group);
  add_rms(stack.norms, NormPlace::other, hidden);
  network.stacks.push_back(stack);
  return tower;
}

}  // namespace

Tower add_tower(ConfigReader& vision, std::string_view fallback_type, const std::string& path,
                Architecture& network) {
  static constexpr struct {
    std::string_view model_type;
    Tower (*add)(ConfigReader&, const std::string&, Architecture&);
  } known[] = {{"clip_vision_model", add_clip},
               {"siglip_vision_model", add_siglip},
               {"siglip", add_siglip},
               {"pixtral", add_pixtral}};
  const std::string model_type = vision.text("model_type", fallback_type);
  for (const auto& row : known) {
    if (row.model_type == model_type) return row.add(vision, path, network);
  }
  vision.fail("model_type", "The vision tower \"" + model_type + "\" is not known.",
              "clip_vision_model, siglip_vision_model, pixtral");
  return {};
}

ImageTokens fixed_tokens(const Tower& tower, uint64_t tokens) {
  ImageTokens image;
  image.rule = ImageTokens::Rule::fixed;
  image.tokens = tokens;
  image.tower_tokens = plus(tower.patches, tower.class_tokens);
  image.patch = tower.patch;
  image.default_size = tower.image_size;
  return image;
}

ImageTokens grid_tokens(const Tower& tower, uint64_t merge) {
  ImageTokens image;
  image.rule = ImageTokens::Rule::grid;
  image.tower_tokens = tower.patches;
  image.tokens = tower.patches / times(merge, merge);
  image.patch = tower.patch;
  image.merge = merge;
  image.default_size = tower.image_size;
  return image;
}

Stack projector_stack(const std::string& name, uint64_t hidden) {
  Stack stack;
  stack.part = Part::projector;
  stack.name = name;
  stack.hidden = hidden;
  return stack;
}

}  // namespace plimsoll::model
