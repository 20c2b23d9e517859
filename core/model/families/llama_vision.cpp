// Llama 3.2 Vision (the text attends to the image in layers of its own) and Llama 4 (experts, own tower).
// Transformers 4.57, models/mllama, llama4.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

void read_mllama_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  DecoderTraits traits;
  traits.intermediate = 14336;
  traits.layers = 40;
  traits.kv_heads = 8;
  traits.vocab = 128256;
  traits.positions = 131072;
  read_decoder(config, frame, traits, network);
  Stack& text = network.stacks.back();
  text.tables.front().rows = plus(network.vocab_size, 8);  // the image token and its neighbours
  std::vector<uint64_t> crossing = config.counts("cross_attention_layers");
  if (!config.has("cross_attention_layers")) crossing = {3, 8, 13, 18, 23, 28, 33, 38};
  if (crossing.empty()) return;
  if (crossing.size() >= text.groups.front().layers) {
    config.fail("cross_attention_layers", "More layers cross-attend than the network has.",
                "fewer than num_hidden_layers");
    return;
  }
  LayerGroup cross = text.groups.front();
  text.groups.front().name = "self-attention layers";
  text.groups.front().layers -= crossing.size();
  cross.name = "cross-attention layers";
  cross.layers = crossing.size();
  cross.attention = AttentionKind::cross;
  cross.rotary_share = 0;
  cross.linears.clear();
  const std::string layer = frame.base("model") + "layers.#.";
  add_cross_attention(cross, layer + "cross_attn.", text.hidden, text.hidden, false);
  add_gated_mlp(cross, layer + "mlp.", text.hidden, cross.intermediate);
  add_rms(cross.norms, NormPlace::q, cross.head_dim);
  add_rms(cross.norms, NormPlace::k, cross.head_dim);
  cross.other_parameters = 2;  // the gates of attention and MLP
  text.groups.push_back(cross);
}

void read_mllama(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text_config = config.required_part("text_config");
  read_checkpoint_dtype(text_config, network);
  read_mllama_text(text_config, {"model.language_model.", true, "lm_head"}, network);
  const uint64_t hidden = network.stacks.back().hidden;

  ConfigReader vision = config.part("vision_config");
  VisionTraits traits;
  traits.hidden = 1280;
  traits.intermediate = 5120;
  traits.layers = 32;
  traits.heads = 16;
  traits.image_size = 448;
  traits.patch = 14;
  traits.activation = "gelu";
  traits.class_token = true;
  LayerGroup local;
  const Tower tower = read_tower_shape(vision, traits, local, network);
  const uint64_t width = tower.hidden;
  const uint64_t tiles = vision.tiles("max_num_tiles", 4);
  const uint64_t ratios = plus(vision.length("supported_aspect_ratios", 8), 1);
  const uint64_t tokens = plus(tower.patches, 1);
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = width;
  // Patch convolution, class token, and the gates of three position tables.
  stack.other_parameters = plus(times(times(3, times(tower.patch, tower.patch)), width), plus(width, 3));
  const std::string base = "model.vision_model.";
  add_table(stack, base + "gated_positional_embedding.embedding", tokens, width, true);
  add_table(stack, base + "gated_positional_embedding.tile_embedding", ratios,
            times(tiles, times(tokens, width)), true);
  add_table(stack, base + "pre_tile_positional_embedding.embedding", ratios, times(tiles, width), true);
  add_table(stack, base + "post_tile_positional_embedding.embedding", ratios, times(tiles, width), true);
  add_layer_norm(stack.norms, NormPlace::other, width);
  add_layer_norm(stack.norms, NormPlace::other, width);
  add_layer_norm(local.norms, NormPlace::before_attention, width);
  add_layer_norm(local.norms, NormPlace::before_mlp, width);
  LayerGroup global = local;
  global.name = "global vision layers";
  global.layers = vision.depth("num_global_layers", 8);
  global.other_parameters = 2;
  const auto fill = [&](LayerGroup& group, const std::string& layer) {
    add_attention(group, layer + "self_attn.", width, false, false);
    add_plain_mlp(group, layer + "mlp.fc1", layer + "mlp.fc2", width, group.intermediate, true);
    stack.groups.push_back(group);
  };
  fill(local, base + "transformer.layers.#.");
  fill(global, base + "global_transformer.layers.#.");
  network.stacks.push_back(stack);

  Stack projector = projector_stack("projector", hidden);
  add_linear(projector.linears, "model.multi_modal_projector", vision.size("vision_output_dim", 7680), hidden,
             true, Role::other);
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, tokens);
  network.image.rule = ImageTokens::Rule::cross;
  network.image.cut = ImageTokens::Cut::joined;
  network.image.most_tiles = tiles;
}

void read_llama4_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 5120);
  const uint64_t layers = config.depth("num_hidden_layers", 48);
  network.vocab_size = config.core("vocab_size", 202048);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", false);
  network.max_position_embeddings = config.size("max_position_embeddings", 131072);

  LayerGroup shape;
  shape.heads = config.core("num_attention_heads", 40);
  shape.kv_heads = kv_head_count(config, "num_key_value_heads", shape.heads, 8);
  shape.head_dim = shape.value_head_dim = config.size("head_dim", 128);
  shape.activation = activation(config, "hidden_act", "silu", network);
  shape.attention_dropout = config.share("attention_dropout", 0);
  shape.scores = Scores::own_type_cast_late;  // from Transformers 4.52 on
  const bool bias = config.flag("attention_bias", false);
  const uint64_t chunk = window_size(config, "attention_chunk_size", 8192);

  Experts experts;
  experts.count = config.core("num_local_experts", 16);
  experts.per_token = config.size("num_experts_per_tok", 1);
  experts.width = config.core("intermediate_size", 8192);
  experts.at = "feed_forward.experts.";
  experts.fused = true;
  experts.router = "feed_forward.router";
  experts.shared_width = experts.width;
  experts.shared = "feed_forward.shared_expert.";

  // Three of four layers attend in chunks with rotary positions, the fourth sees everything and has none.
  std::vector<LayerKind> kinds = layer_kinds(config, layers, AttentionKind::sliding, 4);
  const std::vector<uint64_t> rotated = config.counts("no_rope_layers");  // 1: rotated, despite its name
  for (size_t i = 0; !config.has("layer_types") && rotated.size() == kinds.size() && i < kinds.size(); ++i) {
    kinds[i].attention = rotated[i] == 0 ? AttentionKind::full : AttentionKind::sliding;
  }
  const uint64_t every = config.size("interleave_moe_layer_step", 1);
  const std::vector<uint64_t> listed = config.counts("moe_layers");
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].experts = config.has("moe_layers") ? std::find(listed.begin(), listed.end(), i) != listed.end()
                                                : (i + 1) % every == 0;
  }

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model");
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  const std::vector<CountedKind> counted = count_kinds(kinds);
  for (const CountedKind& at : counted) {
    LayerGroup group = shape;
    group.name = group_name(at.kind, counted);
    group.layers = at.layers();
    group.indices = at.indices;
    group.attention = chunk > 0 ? at.kind.attention : AttentionKind::full;
    if (at.kind.attention == AttentionKind::sliding) {
      group.window = chunk;
    } else {
      group.rotary_share = 0;
    }
    add_attention(group, layer + "self_attn.", hidden, bias, bias);
    if (at.kind.experts) {
      add_experts(group, layer, hidden, experts);
    } else {
      add_gated_mlp(group, layer + "feed_forward.", hidden, config.size("intermediate_size_mlp", 16384));
    }
    add_rms(group.norms, NormPlace::before_attention, hidden);
    add_rms(group.norms, NormPlace::before_mlp, hidden);
    if (config.flag("use_qk_norm", true) && group.rotary_share > 0) {
      for (NormPlace place : {NormPlace::q, NormPlace::k}) {
        add_rms(group.norms, place, group.head_dim);
        group.norms.back().weight = false;  // Llama4TextL2Norm
      }
    }
    text.groups.push_back(group);
  }
  add_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(text);
}

void read_llama4(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text_config = config.required_part("text_config");
  read_checkpoint_dtype(text_config, network);
  read_llama4_text(text_config, {"language_model.", false, "language_model.lm_head"}, network);
  const uint64_t hidden = network.stacks.back().hidden;

  ConfigReader vision = config.part("vision_config");
  VisionTraits traits;
  traits.intermediate = 5632;
  traits.layers = 34;
  traits.heads = 16;
  traits.image_size = 448;
  traits.patch = 14;
  traits.activation = "gelu";
  traits.class_token = true;
  LayerGroup group;
  const Tower tower = read_tower_shape(vision, traits, group, network);
  const uint64_t width = tower.hidden;
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = width;
  stack.other_parameters = width;  // class token
  group.rotary_share = 1;
  add_linear(stack.linears, "vision_model.patch_embedding.linear", times(3, times(tower.patch, tower.patch)),
             width, false, Role::other);
  add_table(stack, "vision_model.positional_embedding_vlm", plus(tower.patches, 1), width, true);
  const std::string layer = "vision_model.model.layers.#.";
  add_attention(group, layer + "self_attn.", width, true, true);
  add_plain_mlp(group, layer + "mlp.fc1", layer + "mlp.fc2", width, group.intermediate, true);
  add_layer_norm(group.norms, NormPlace::before_attention, width);
  add_layer_norm(group.norms, NormPlace::before_mlp, width);
  stack.groups.push_back(group);
  add_layer_norm(stack.norms, NormPlace::other, width);
  add_layer_norm(stack.norms, NormPlace::other, width);
  network.stacks.push_back(stack);

  Stack projector = projector_stack("projector", hidden);
  const uint64_t projected = vision.size("projector_output_dim", 4096);
  add_linear(projector.linears, "vision_model.vision_adapter.mlp.fc1", group.intermediate,
             vision.size("projector_input_dim", 4096), false, Role::other);
  add_linear(projector.linears, "vision_model.vision_adapter.mlp.fc2", projected, projected, false,
             Role::other);
  add_linear(projector.linears, "multi_modal_projector.linear_1", vision.size("vision_output_dim", 7680),
             hidden, false, Role::other);
  network.stacks.push_back(projector);
  const double shuffle = vision.number("pixel_shuffle_ratio", 0.5, {0.01, 1});
  network.image =
      fixed_tokens(tower, static_cast<uint64_t>(static_cast<double>(tower.patches) * shuffle * shuffle));
  network.image.cut = ImageTokens::Cut::canvas;
  network.image.most_tiles = 16;
}

}  // namespace plimsoll::model::families
