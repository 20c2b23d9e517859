// Vision-language models that come with code of their own on the hub: InternVL, MiniCPM-V, Phi-3.5-vision and
// the first Qwen (text alone, or Qwen-VL). modeling_*.py of OpenGVLab/InternVL2_5-8B, openbmb/MiniCPM-V-2_6,
// microsoft/Phi-3.5-vision-instruct and Qwen/Qwen-VL-Chat.
#include <algorithm>
#include <cmath>

#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

// nn.MultiheadAttention: q, k, v in one bare parameter, which neither PEFT nor bitsandbytes touches.
void add_resampler(Stack& stack, const std::string& base, uint64_t from, uint64_t hidden) {
  add_linear(stack.linears, base + "kv_proj", from, hidden, false, Role::other);
  Linear& fused =
      add_linear(stack.linears, base + "attn.in_proj", hidden, times(3, hidden), true, Role::other);
  fused.module = Module::parameter;
  add_linear(stack.linears, base + "attn.out_proj", hidden, hidden, true, Role::other);
  add_layer_norm(stack.norms, NormPlace::other, hidden);
  add_layer_norm(stack.norms, NormPlace::other, hidden);
}

}  // namespace

void read_internvl_chat(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text = config.required_part("llm_config");
  read_text_model(text, "llama", {"language_model.", false, "language_model.lm_head"}, network);
  const uint64_t hidden = network.stacks.front().hidden;

  ConfigReader vision = config.part("vision_config");
  VisionTraits traits;
  traits.hidden = 3200;
  traits.intermediate = 12800;
  traits.layers = 48;
  traits.heads = 25;
  traits.patch = 14;
  traits.activation = "gelu";
  traits.class_token = true;
  LayerGroup group;
  const Tower tower = read_tower_shape(vision, traits, group, network);
  const uint64_t width = tower.hidden;
  const std::string layer = "vision_model.encoder.layers.#.";
  add_linear(group.linears, layer + "attn.qkv", width, times(3, width), vision.flag("qkv_bias", false),
             Role::qkv);
  add_linear(group.linears, layer + "attn.proj", width, width, true, Role::o);
  add_plain_mlp(group, layer + "mlp.fc1", layer + "mlp.fc2", width, group.intermediate, true);
  const bool rms = vision.text("norm_type", "rms_norm") == "rms_norm";
  for (NormPlace place : {NormPlace::before_attention, NormPlace::before_mlp}) {
    if (rms) {
      add_rms(group.norms, place, width);
    } else {
      add_layer_norm(group.norms, place, width);
    }
  }
  if (vision.flag("qk_normalization", true)) {
    add_rms(group.norms, NormPlace::q, width);
    add_rms(group.norms, NormPlace::k, width);
  }
  group.other_parameters = times(2, width);  // layer scales
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = width;
  const uint64_t convolution = times(plus(times(3, times(tower.patch, tower.patch)), 1), width);
  stack.other_parameters = plus(convolution, width);  // and the class token
  add_table(stack, "vision_model.embeddings.position_embedding", plus(tower.patches, 1), width, true);
  stack.groups.push_back(group);
  network.stacks.push_back(stack);

  const double shuffle = config.number("downsample_ratio", 0.5, {0.01, 1});
  const auto merge = static_cast<uint64_t>(std::llround(1 / shuffle));
  const uint64_t merged = times(width, times(merge, merge));
  Stack projector = projector_stack("projector", hidden);
  add_layer_norm(projector.norms, NormPlace::other, merged);
  add_linear(projector.linears, "mlp1.1", merged, hidden, true, Role::other);
  add_linear(projector.linears, "mlp1.3", hidden, hidden, true, Role::other);
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, tower.patches / times(merge, merge));
  network.image.cut = ImageTokens::Cut::closest_ratio;
  network.image.most_tiles = config.tiles("max_dynamic_patch", 12);
}

void read_minicpmv(ConfigReader& config, const Frame&, Architecture& network) {
  read_qwen2(config, {"llm.", false, "llm.lm_head"}, network);
  const uint64_t hidden = network.stacks.front().hidden;
  ConfigReader vision = config.part("vision_config");
  const Tower tower = add_vit(vision, VisionTraits{}, "vpm.", network);
  const uint64_t queries = config.size("query_num", 64);
  Stack projector = projector_stack("resampler", hidden);
  add_resampler(projector, "resampler.", tower.hidden, hidden);
  add_layer_norm(projector.norms, NormPlace::other, hidden);
  projector.other_parameters = plus(times(queries, hidden), times(hidden, hidden));  // queries, output matrix
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, queries);
  ConfigReader slices = config.part("slice_config");
  network.image.cut = ImageTokens::Cut::sliced;
  network.image.most_tiles = slices.tiles("max_slice_nums", 9);
  network.image.default_size = slices.size("scale_resolution", 448);  // the tower's position table is wider
  const uint64_t patches = network.image.default_size / std::max<uint64_t>(tower.patch, 1);
  network.image.tower_tokens = times(patches, patches);
}

void read_phi3_v(ConfigReader& config, const Frame& frame, Architecture& network) {
  read_phi3(config, frame, network);
  const uint64_t hidden = network.stacks.front().hidden;
  ConfigReader processor = config.part("img_processor");
  const std::string base = "model.vision_embed_tokens.";
  // The tower's sizes are written into the code (CLIP_VIT_LARGE_PATCH14_336_CONFIG), not into the config.
  const json::Json nothing = json::Json::object();
  json::Errors none;
  ConfigReader fixed(nothing, "", none);
  const Tower tower = add_vit(fixed, clip_large_336(), base + "img_processor.vision_model.", network);
  const uint64_t merged = times(processor.size("image_dim_out", 1024), 4);
  Stack projector = projector_stack("projector", hidden);
  add_linear(projector.linears, base + "img_projection.0", merged, hidden, true, Role::other);
  add_linear(projector.linears, base + "img_projection.2", hidden, hidden, true, Role::other);
  projector.other_parameters = times(2, merged);  // separators of the crops
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, processor.size("num_img_tokens", 144));
  network.image.cut = ImageTokens::Cut::padded;  // num_crops of Phi-3.5's processor, and the whole image
  network.image.most_tiles = 5;
}

void read_qwen(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 4096);
  const uint64_t intermediate = config.core("intermediate_size", 22016) / 2;  // the file counts both halves
  const bool bias = !config.flag("no_bias", true);
  network.vocab_size = config.core("vocab_size", 151936);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings =
      config.size(config.spelling({"seq_length", "max_position_embeddings"}), 8192);

  LayerGroup group;
  group.name = "decoder layers";
  group.layers = config.depth("num_hidden_layers", 32);
  group.heads = group.kv_heads = config.core("num_attention_heads", 32);
  group.head_dim = config.has("kv_channels") ? config.size("kv_channels", 128)
                                             : head_width(config, hidden, group.heads, "num_attention_heads");
  group.value_head_dim = group.head_dim;
  group.attention_dropout = config.share("attn_dropout_prob", 0);
  group.intermediate = intermediate;
  Stack text = text_stack(hidden);
  text.embedding_dropout = config.share("emb_dropout_prob", 0);
  const std::string base = frame.base("transformer");
  const std::string layer = base + "h.#.";
  const uint64_t queries = times(group.heads, group.head_dim);
  add_table(text, base + "wte", network.vocab_size, hidden);
  add_linear(group.linears, layer + "attn.c_attn", hidden, times(3, queries), true, Role::qkv);
  add_linear(group.linears, layer + "attn.c_proj", queries, hidden, bias, Role::o);
  add_linear(group.linears, layer + "mlp.w1", hidden, intermediate, bias, Role::up);
  add_linear(group.linears, layer + "mlp.w2", hidden, intermediate, bias, Role::gate);
  add_linear(group.linears, layer + "mlp.c_proj", intermediate, hidden, bias, Role::down);
  add_rms(group.norms, NormPlace::before_attention, hidden);
  add_rms(group.norms, NormPlace::before_mlp, hidden);
  add_rms(text.norms, NormPlace::other, hidden);
  text.groups.push_back(group);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(text);
  if (!config.has("visual")) return;

  network.kind = NetworkKind::vlm;
  ConfigReader visual = config.part("visual");
  Tower tower;
  tower.hidden = visual.size("width", 1664);
  tower.image_size = visual.size("image_size", 448);
  tower.patch = visual.size("patch_size", 14);
  tower.patches = patch_count(visual, tower.image_size, tower.patch);
  const uint64_t width = tower.hidden;
  const uint64_t out = visual.size("output_dim", hidden);
  const uint64_t queries_of_image = visual.size("n_queries", 256);
  const double ratio = visual.number("mlp_ratio", 4.9231, {0.01, 100});
  LayerGroup blocks;
  blocks.name = "vision layers";
  blocks.layers = visual.depth("layers", 48);
  blocks.attention = AttentionKind::bidirectional;
  blocks.heads = blocks.kv_heads = visual.size("heads", 16);
  blocks.head_dim = blocks.value_head_dim = head_width(visual, width, blocks.heads, "heads");
  blocks.rotary_share = 0;
  blocks.activation = Activation::gelu;
  const std::string tower_base = base + "visual.";
  const std::string block = tower_base + "transformer.resblocks.#.";
  add_linear(blocks.linears, block + "attn.in_proj", width, times(3, width), true, Role::qkv);
  add_linear(blocks.linears, block + "attn.out_proj", width, width, true, Role::o);
  add_plain_mlp(blocks, block + "mlp.c_fc", block + "mlp.c_proj", width,
                static_cast<uint64_t>(static_cast<double>(width) * ratio), true);
  add_layer_norm(blocks.norms, NormPlace::before_attention, width);
  add_layer_norm(blocks.norms, NormPlace::before_mlp, width);
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = width;
  // Patch convolution without bias, and the output matrix.
  stack.other_parameters = plus(times(times(3, times(tower.patch, tower.patch)), width), times(out, out));
  add_table(stack, tower_base + "positional_embedding", 256, width, true);  // 16 x 16, stretched to the image
  stack.groups.push_back(blocks);
  add_layer_norm(stack.norms, NormPlace::other, width);  // ln_pre
  add_layer_norm(stack.norms, NormPlace::other, out);    // ln_post
  network.stacks.push_back(stack);

  Stack projector = projector_stack("resampler", out);
  add_resampler(projector, tower_base + "attn_pool.", width, out);
  projector.other_parameters = times(queries_of_image, out);
  add_table(projector, tower_base + "attn_pool.pos_embed", queries_of_image, out, true);
  projector.tables.back().trained = false;
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, queries_of_image);
}

}  // namespace plimsoll::model::families
