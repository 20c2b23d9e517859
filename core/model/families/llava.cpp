// A tower, a projector of one or two linears, a text model: LLaVA 1.5, LLaVA-NeXT, Pixtral (as "llava"),
// Mistral 3, PaliGemma and Gemma 3. Paths are those of Transformers 4.52 and later, where all three sit below
// "model.".
#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::times;

namespace {

// Appended to a named string: GCC 12 takes the sum of a temporary for a write out of bounds (bug 105651).
std::string in_projector(const char* name) {
  std::string path = "model.multi_modal_projector.";
  path.append(name);
  return path;
}

uint64_t read_text(ConfigReader& config, std::string_view fallback_type, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, fallback_type, {"model.language_model.", true, "lm_head"}, network);
  return network.stacks.back().hidden;
}

Tower read_vision(ConfigReader& config, std::string_view fallback_type, Architecture& network) {
  ConfigReader vision = config.part("vision_config");
  return add_tower(vision, fallback_type, "model.vision_tower.", network);
}

void add_two_linears(ConfigReader& config, Stack& projector, uint64_t from, uint64_t hidden,
                     bool bias_default) {
  const bool bias = config.flag("multimodal_projector_bias", bias_default);
  add_linear(projector.linears, in_projector("linear_1"), from, hidden, bias, Role::other);
  add_linear(projector.linears, in_projector("linear_2"), hidden, hidden, bias, Role::other);
}

// "default" drops the class token before the projector.
uint64_t selected_tokens(ConfigReader& config, const Tower& tower) {
  const bool drop = config.text("vision_feature_select_strategy", "default") == "default";
  return tower.patches + (drop ? 0 : tower.class_tokens);
}

// vision_feature_layer counts from the end, -1 the last one; the others of a list are read besides.
uint64_t unread_layers(ConfigReader& config) {
  if (config.is_list("vision_feature_layer")) return 0;
  const double read = config.number("vision_feature_layer", -2, {-1000, 1000});
  return read < 0 ? static_cast<uint64_t>(-1 - read) : 0;
}

}  // namespace

void read_llava(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, "llama", network);
  const Tower tower = read_vision(config, "clip_vision_model", network);
  network.stacks.back().unread_layers = unread_layers(config);
  Stack projector = projector_stack("projector", hidden);
  add_two_linears(config, projector, tower.hidden, hidden, true);
  network.stacks.push_back(projector);
  network.image =
      tower.class_tokens > 0 ? fixed_tokens(tower, selected_tokens(config, tower)) : grid_tokens(tower, 1);
}

void read_llava_next(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_llava(config, frame, network);
  network.stacks.back().other_parameters = network.stacks.back().hidden;  // image_newline
  network.image.cut = ImageTokens::Cut::listed;  // image_grid_pinpoints of all published models
  static constexpr TileGrid grids[] = {{1, 2}, {2, 1}, {2, 2}, {3, 1}, {1, 3}};
  network.image.grids = grids;
}

void read_mistral3(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, "mistral", network);
  const Tower tower = read_vision(config, "pixtral", network);
  const uint64_t merge = config.size("spatial_merge_size", 2);
  Stack projector = projector_stack("projector", hidden);
  add_rms(projector.norms, NormPlace::other, tower.hidden);
  add_linear(projector.linears, in_projector("patch_merger.merging_layer"),
             times(tower.hidden, times(merge, merge)), tower.hidden, false, Role::other);
  add_two_linears(config, projector, tower.hidden, hidden, false);
  network.stacks.push_back(projector);
  network.image = grid_tokens(tower, merge);
}

namespace {

// models/paligemma and gemma3, modeling files: block_sequence_ids, of the token_type_ids that their
// processors make.
void put_images_in_mask(Architecture& network) {
  for (LayerGroup& group : network.stacks.front().groups) group.images_in_mask = true;
}

}  // namespace

void read_paligemma(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, "gemma", network);
  const Tower tower = read_vision(config, "siglip_vision_model", network);
  network.stacks.back().read_behind_norm = true;
  ConfigReader vision = config.part("vision_config");
  const uint64_t out = vision.size("projection_dim", config.size("projection_dim", hidden));
  Stack projector = projector_stack("projector", out);
  add_linear(projector.linears, in_projector("linear"), tower.hidden, out, true, Role::other);
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, tower.patches);
  put_images_in_mask(network);
}

void read_gemma3(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, "gemma3_text", network);
  const Tower tower = read_vision(config, "siglip_vision_model", network);
  network.stacks.back().read_behind_norm = network.stacks.back().averaged = true;
  Stack projector = projector_stack("projector", hidden);
  Linear& matrix = add_linear(projector.linears, in_projector("mm_input_projection_weight"), tower.hidden,
                              hidden, false, Role::other);
  matrix.module = Module::parameter;
  add_rms(projector.norms, NormPlace::other, tower.hidden);
  projector.norms.back().fp32_weight_product = true;
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, config.size("mm_tokens_per_image", 256));
  put_images_in_mask(network);
}

// InternVL as Transformers has it: q, k and v apart, two linears after a pixel shuffle. models/internvl.
void read_internvl(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_text(config, "qwen2", network);
  ConfigReader vision = config.part("vision_config");
  VisionTraits traits;
  traits.hidden = 1024;
  traits.intermediate = 4096;
  traits.layers = 24;
  traits.heads = 16;
  traits.image_size = 448;
  traits.patch = 14;
  traits.activation = "gelu";
  traits.class_token = true;
  LayerGroup group;
  const Tower tower = read_tower_shape(vision, traits, group, network);
  const std::string base = "model.vision_tower.", layer = base + "encoder.layer.#.";
  const bool bias = vision.flag("attention_bias", false);
  add_attention(group, layer + "attention.", tower.hidden, bias, true,
                {"q_proj", "k_proj", "v_proj", "projection_layer"});
  add_plain_mlp(group, layer + "mlp.fc1", layer + "mlp.fc2", tower.hidden, group.intermediate, true);
  const bool layers_norm = vision.text("norm_type", "layer_norm") == "layer_norm";
  for (NormPlace place : {NormPlace::before_attention, NormPlace::before_mlp}) {
    if (layers_norm) {
      add_layer_norm(group.norms, place, tower.hidden);
    } else {
      add_rms(group.norms, place, tower.hidden);
    }
  }
  if (vision.flag("use_qk_norm", false)) {
    add_rms(group.norms, NormPlace::q, tower.hidden);
    add_rms(group.norms, NormPlace::k, tower.hidden);
  }
  group.other_parameters = times(2, tower.hidden);  // layer scales
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = tower.hidden;
  // class token, patch convolution with bias
  stack.other_parameters = times(tower.hidden, 3 * tower.patch * tower.patch + 2);
  add_table(stack, base + "embeddings.position_embeddings", tower.patches + 1, tower.hidden, true);
  stack.groups.push_back(group);
  network.stacks.push_back(stack);
  const uint64_t wide = times(tower.hidden, 4);
  Stack projector = projector_stack("projector", hidden);
  add_layer_norm(projector.norms, NormPlace::other, wide);
  add_linear(projector.linears, in_projector("linear_1"), wide, hidden, true, Role::other);
  add_linear(projector.linears, in_projector("linear_2"), hidden, hidden, true, Role::other);
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, config.size("image_seq_length", 256));
  network.image.cut = ImageTokens::Cut::closest_ratio;
  network.image.most_tiles = 12;
}

}  // namespace plimsoll::model::families
