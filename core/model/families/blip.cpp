// BLIP-2 and InstructBLIP: EVA ViT-g, a Q-Former whose 32 queries read the image, one linear into the text
// model. InstructBLIP's Q-Former reads the instruction too. Transformers 4.57, models/blip_2, instructblip.
#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

Tower add_eva_tower(ConfigReader& vision, Architecture& network) {
  VisionTraits traits;
  traits.hidden = 1408;
  traits.intermediate = 6144;
  traits.layers = 39;
  traits.heads = 16;
  traits.patch = 14;
  traits.activation = "gelu";
  traits.class_token = true;
  LayerGroup group;
  const Tower tower = read_tower_shape(vision, traits, group, network);
  const uint64_t hidden = tower.hidden;
  const std::string layer = "vision_model.encoder.layers.#.";
  add_linear(group.linears, layer + "self_attn.qkv", hidden, times(3, hidden), vision.flag("qkv_bias", true),
             Role::qkv);
  add_linear(group.linears, layer + "self_attn.projection", hidden, hidden, true, Role::o);
  add_plain_mlp(group, layer + "mlp.fc1", layer + "mlp.fc2", hidden, group.intermediate, true);
  add_layer_norm(group.norms, NormPlace::before_attention, hidden);
  add_layer_norm(group.norms, NormPlace::before_mlp, hidden);
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = hidden;
  const uint64_t convolution = times(plus(times(3, times(tower.patch, tower.patch)), 1), hidden);
  stack.other_parameters = plus(convolution, hidden);  // and the class token
  add_table(stack, "vision_model.embeddings.position_embedding", plus(tower.patches, 1), hidden, true);
  stack.groups.push_back(group);
  add_layer_norm(stack.norms, NormPlace::other, hidden);
  network.stacks.push_back(stack);
  return tower;
}

void add_mlp(LayerGroup& group, const std::string& layer, const std::string& suffix, uint64_t hidden,
             uint64_t intermediate) {
  add_plain_mlp(group, layer + "intermediate" + suffix + ".dense", layer + "output" + suffix + ".dense",
                hidden, intermediate, true);
  add_layer_norm(group.norms, NormPlace::after_mlp, hidden);
}

Stack q_former(ConfigReader& config, uint64_t queries, bool reads_text, Architecture& network) {
  const uint64_t hidden = config.size("hidden_size", 768);
  const uint64_t layers = config.depth("num_hidden_layers", 12);
  const uint64_t every = config.size("cross_attention_frequency", 2);
  const uint64_t from = config.size("encoder_hidden_size", 1408);
  const uint64_t intermediate = config.size("intermediate_size", 3072);
  LayerGroup plain;
  plain.name = "Q-Former layers";
  plain.attention = AttentionKind::bidirectional;
  plain.heads = plain.kv_heads = config.size("num_attention_heads", 12);
  plain.head_dim = plain.value_head_dim = head_width(config, hidden, plain.heads, "num_attention_heads");
  plain.rotary_share = 0;
  plain.post_norm = true;
  plain.activation = activation(config, "hidden_act", "gelu", network);
  plain.attention_dropout = config.share("attention_probs_dropout_prob", 0.1);
  plain.residual_dropout = config.share("hidden_dropout_prob", 0.1);
  const std::string layer = "qformer.encoder.layer.#.";
  const AttentionNames names{"attention.query", "attention.key", "attention.value", "output.dense"};
  add_attention(plain, layer + "attention.", hidden, true, true, names);
  add_layer_norm(plain.norms, NormPlace::after_attention, hidden);
  if (reads_text) add_mlp(plain, layer, "", hidden, intermediate);
  add_mlp(plain, layer, "_query", hidden, intermediate);
  LayerGroup crossing = plain;
  crossing.name = "Q-Former layers that read the image";
  crossing.layers = plus(layers, every - 1) / every;
  add_cross_attention(crossing, layer + "crossattention.", hidden, from, true, names);
  add_layer_norm(crossing.norms, NormPlace::after_cross, hidden);
  plain.layers = layers - crossing.layers;

  Stack stack = projector_stack("Q-Former", hidden);
  stack.other_parameters = times(queries, hidden);
  if (reads_text) {
    add_table(stack, "qformer.embeddings.word_embeddings", config.size("vocab_size", 30522), hidden);
    add_table(stack, "qformer.embeddings.position_embeddings", config.size("max_position_embeddings", 512),
              hidden, true);
  }
  add_layer_norm(stack.norms, NormPlace::other, hidden);
  stack.groups.push_back(crossing);
  if (plain.layers > 0) stack.groups.push_back(plain);
  return stack;
}

void read(ConfigReader& config, bool instruct, std::string_view text_type, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, text_type, {"language_model.", false, "language_model.lm_head"}, network);
  const uint64_t hidden = network.stacks.front().hidden;
  ConfigReader vision = config.part("vision_config");
  const Tower tower = add_eva_tower(vision, network);
  const uint64_t queries = config.size("num_query_tokens", 32);
  ConfigReader former_config = config.part("qformer_config");
  const bool reads_text = instruct || former_config.flag("use_qformer_text_input", false);
  network.stacks.push_back(q_former(former_config, queries, reads_text, network));
  const uint64_t former = network.stacks.back().hidden;
  Stack projector = projector_stack("projector", hidden);
  add_linear(projector.linears, "language_projection", former, hidden, true, Role::other);
  network.stacks.push_back(projector);
  network.image = fixed_tokens(tower, queries);
}

}  // namespace

void read_blip2(ConfigReader& config, const Frame&, Architecture& network) {
  read(config, false, "opt", network);
}

void read_instructblip(ConfigReader& config, const Frame&, Architecture& network) {
  read(config, true, "opt", network);
}

}  // namespace plimsoll::model::families
