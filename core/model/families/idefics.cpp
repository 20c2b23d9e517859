// Idefics 1 (gated cross-attention beside the text layers), 2 (perceiver resampler) and 3, which is SmolVLM
// too. Transformers 4.57, models/idefics, idefics2, idefics3, smolvlm.
#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

void add_gated_cross_layers(ConfigReader& config, uint64_t from, Stack& text) {
  const LayerGroup& shape = text.groups.front();
  const uint64_t hidden = text.hidden;
  const uint64_t every = config.size("cross_layer_interval", 1);
  LayerGroup cross = shape;
  cross.name = "gated cross-attention layers";
  cross.layers = shape.layers / every;
  if (cross.layers == 0) return;
  cross.attention = AttentionKind::cross;
  cross.rotary_share = 0;
  cross.linears.clear();
  const std::string layer = "model.gated_cross_attn_layers.#.";
  add_cross_attention(cross, layer + "cross_attn.", hidden, from, false);
  add_gated_mlp(cross, layer + "mlp.", hidden, shape.intermediate);
  if (config.flag("qk_layer_norms", false)) {
    add_rms(cross.norms, NormPlace::q, cross.head_dim);
    add_rms(cross.norms, NormPlace::k, cross.head_dim);
  }
  cross.other_parameters = config.text("alpha_type", "float") == "vector" ? times(2, hidden) : 2;
  text.groups.push_back(cross);
}

// Latents that read the image: queries from the latents, keys and values from both.
Stack perceiver(ConfigReader& config, uint64_t width) {
  const uint64_t latents = config.size("resampler_n_latents", 64);
  const std::string block = "model.perceiver_resampler.blocks.#.";
  LayerGroup group;
  group.name = "perceiver layers";
  group.layers = config.depth("resampler_depth", 6);
  group.attention = AttentionKind::cross;
  group.heads = group.kv_heads = config.size("resampler_n_heads", 16);
  group.head_dim = group.value_head_dim = config.size("resampler_head_dim", 96);
  group.rotary_share = 0;
  group.activation = Activation::relu;
  add_cross_attention(group, block + "0.", width, width, false,
                      {"q_proj", "k_proj", "v_proj", "output_proj"});
  add_plain_mlp(group, block + "1.fc", block + "1.c_proj", width, times(4, width), false);
  add_layer_norm(group.norms, NormPlace::before_cross, width);  // of the image
  add_layer_norm(group.norms, NormPlace::before_cross, width);  // of the latents
  add_layer_norm(group.norms, NormPlace::before_mlp, width);
  if (config.flag("qk_layer_norms_perceiver", false)) {
    add_layer_norm(group.norms, NormPlace::q, group.head_dim);
    add_layer_norm(group.norms, NormPlace::k, group.head_dim);
  }
  Stack stack = projector_stack("perceiver", width);
  stack.groups.push_back(group);
  stack.other_parameters = times(latents, width);
  add_layer_norm(stack.norms, NormPlace::other, width);
  return stack;
}

const Frame& idefics_text() {
  static const Frame frame{"model.text_model.", true, "lm_head"};
  return frame;
}

uint64_t read_idefics_text(ConfigReader& config, std::string_view fallback_type, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, fallback_type, idefics_text(), network);
  return network.stacks.back().hidden;
}

}  // namespace

void read_idefics(ConfigReader& config, const Frame&, Architecture& network) {
  DecoderTraits traits;
  traits.positions = 2048;
  read_decoder(config, {}, traits, network);
  ConfigReader vision = config.part("vision_config");
  VisionTraits tower_traits;
  tower_traits.hidden_key = "embed_dim";
  tower_traits.intermediate = 5120;
  tower_traits.layers = 32;
  tower_traits.heads = 16;
  tower_traits.patch = 14;
  tower_traits.activation = "gelu";
  tower_traits.class_token = true;
  tower_traits.patch_bias = false;
  tower_traits.pre_norm = true;
  const uint64_t hidden = network.stacks.front().hidden;
  const uint64_t extra = config.count("additional_vocab_size", 0);
  const Tower tower = add_vit(vision, tower_traits, "model.vision_model.", network);
  Stack& text = network.stacks.front();
  add_gated_cross_layers(config, tower.hidden, text);
  if (extra > 0) {  // rows for the image tokens, apart so that they can be trained alone
    add_table(text, "model.embed_tokens.additional_embedding", extra, hidden);
    if (!network.tied_head) {
      add_linear(text.linears, "lm_head.additional_fc", hidden, extra, false, Role::other);
    }
  }
  network.image = fixed_tokens(tower, plus(tower.patches, 1));
  network.image.rule = ImageTokens::Rule::cross;
  if (config.flag("use_resampler", false)) {
    ConfigReader perceiver_config = config.part("perceiver_config");
    network.image.tokens = perceiver_config.size("resampler_n_latents", 64);
    network.stacks.push_back(perceiver(perceiver_config, tower.hidden));
  }
}

void read_idefics2(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_idefics_text(config, "mistral", network);
  const uint64_t intermediate = network.stacks.front().groups.front().intermediate;
  ConfigReader vision = config.part("vision_config");
  VisionTraits traits;
  traits.patch = 32;
  const Tower tower = add_vit(vision, traits, "model.vision_model.", network);
  network.stacks.back().read_behind_norm = true;

  ConfigReader resampler = config.part("perceiver_config");
  const std::string base = "model.connector.";
  LayerGroup group;
  group.name = "perceiver layers";
  group.layers = resampler.depth("resampler_depth", 3);
  group.attention = AttentionKind::cross;
  group.heads = resampler.size("resampler_n_heads", 16);
  group.kv_heads = kv_head_count(resampler, "num_key_value_heads", group.heads, 4);
  group.head_dim = group.value_head_dim = resampler.size("resampler_head_dim", 96);
  group.rotary_share = 0;
  const std::string layer = base + "perceiver_resampler.layers.#.";
  add_cross_attention(group, layer + "self_attn.", hidden, hidden, false);
  add_gated_mlp(group, layer + "mlp.", hidden, times(4, hidden));
  add_rms(group.norms, NormPlace::before_cross, hidden);  // of the latents
  add_rms(group.norms, NormPlace::before_cross, hidden);  // of the image
  add_rms(group.norms, NormPlace::before_mlp, hidden);
  Stack connector = projector_stack("connector", hidden);
  connector.groups.push_back(group);
  const uint64_t latents = resampler.size("resampler_n_latents", 64);
  connector.other_parameters = times(latents, hidden);
  add_linear(connector.linears, base + "modality_projection.gate_proj", tower.hidden, intermediate, false,
             Role::other);
  add_linear(connector.linears, base + "modality_projection.up_proj", tower.hidden, intermediate, false,
             Role::other);
  add_linear(connector.linears, base + "modality_projection.down_proj", intermediate, hidden, false,
             Role::other);
  add_rms(connector.norms, NormPlace::other, hidden);
  network.stacks.push_back(connector);
  network.image = fixed_tokens(tower, latents);
  network.image.cut = ImageTokens::Cut::padded;  // do_image_splitting: four crops and the whole image
  network.image.most_tiles = 5;
}

void read_idefics3(ConfigReader& config, const Frame&, Architecture& network) {
  const uint64_t hidden = read_idefics_text(config, "llama", network);
  ConfigReader vision = config.part("vision_config");
  VisionTraits traits;
  traits.hidden = 1152;
  traits.heads = 16;
  traits.patch = 32;
  const Tower tower = add_vit(vision, traits, "model.vision_model.", network);
  network.stacks.back().read_behind_norm = true;
  const uint64_t scale = config.size("scale_factor", 2);
  Stack connector = projector_stack("connector", hidden);
  add_linear(connector.linears, "model.connector.modality_projection.proj",
             times(tower.hidden, times(scale, scale)), hidden, false, Role::other);
  network.stacks.push_back(connector);
  network.image = fixed_tokens(tower, tower.patches / times(scale, scale));
  network.image.cut = ImageTokens::Cut::longest_side;
  network.image.most_tiles = 4;
}

}  // namespace plimsoll::model::families
