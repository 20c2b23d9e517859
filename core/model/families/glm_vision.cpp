// GLM-4.1V, 4.5V and 4.6V: a tower of RMS-normed blocks, a strided convolution that merges squares of patches
// and a gated projector before GLM-4's text model. Transformers 5.15, models/glm4v, glm4v_moe, glm46v.
#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

void read_glm4v(ConfigReader& config, const Frame&, Architecture& network) {
  const bool experts = config.text("model_type", "glm4v") == "glm4v_moe";
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, experts ? "glm4v_moe_text" : "glm4v_text", {"model.language_model.", true, "lm_head"},
                  network);
  const uint64_t hidden = network.stacks.back().hidden;

  ConfigReader vision = config.part("vision_config");
  const uint64_t width = vision.size("hidden_size", 1536);
  const uint64_t patch = vision.size("patch_size", 14), merge = vision.size("spatial_merge_size", 2);
  const uint64_t out = vision.size("out_hidden_size", 4096);
  const uint64_t side = vision.size("image_size", 336) / patch;
  LayerGroup group;
  group.name = "vision layers";
  group.layers = vision.depth("depth", 24);
  group.attention = AttentionKind::bidirectional;
  group.rotary_casts_first = true;
  group.heads = group.kv_heads = vision.size("num_heads", 12);
  group.head_dim = group.value_head_dim = head_width(vision, width, group.heads, "num_heads");
  group.activation = activation(vision, "hidden_act", "silu", network);
  const std::string layer = "model.visual.blocks.#.";
  const bool bias = vision.flag("attention_bias", false);
  add_linear(group.linears, layer + "attn.qkv", width, times(3, width), bias, Role::qkv);
  add_linear(group.linears, layer + "attn.proj", width, width, false, Role::o);
  add_gated_mlp(group, layer + "mlp.", width, out);
  add_rms(group.norms, NormPlace::before_attention, width);
  add_rms(group.norms, NormPlace::before_mlp, width);
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = width;
  const uint64_t frames = vision.size("temporal_patch_size", 2);
  const uint64_t pixels = times(3, times(frames, times(patch, patch)));
  stack.other_parameters = plus(times(plus(pixels, 1), width),
                                times(plus(times(width, times(merge, merge)), 1), out));  // and the merging
  add_table(stack, "model.visual.embeddings.position_embedding", times(side, side), width, true);
  add_rms(stack.norms, NormPlace::other, width);
  add_rms(stack.norms, NormPlace::other, width);
  stack.groups.push_back(std::move(group));
  network.stacks.push_back(std::move(stack));

  Stack projector = projector_stack("merger", hidden);
  const uint64_t wide = vision.size("intermediate_size", 13696);
  const std::string at = "model.visual.merger.";
  add_linear(projector.linears, at + "proj", out, out, false, Role::other);
  add_linear(projector.linears, at + "gate_proj", out, wide, false, Role::other);
  add_linear(projector.linears, at + "up_proj", out, wide, false, Role::other);
  add_linear(projector.linears, at + "down_proj", wide, out, false, Role::other);
  add_layer_norm(projector.norms, NormPlace::other, out);
  network.stacks.push_back(std::move(projector));
  Tower tower;
  tower.hidden = width;
  tower.patch = patch;
  network.image = grid_tokens(tower, merge);
  network.image.frames = frames;
}

}  // namespace plimsoll::model::families
