// Gemma 4: windows in most layers; full layers have wider heads and, in the large models, no v_proj (keys
// serve as values); the small models give every layer an embedding of its own and let the last layers read
// earlier keys and values; one has experts beside its dense MLP. Transformers 5.15, models/gemma4.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

void add_sandwich(LayerGroup& group, uint64_t hidden) {
  for (NormPlace place : {NormPlace::before_attention, NormPlace::after_attention, NormPlace::before_mlp,
                          NormPlace::after_mlp}) {
    add_scaled_rms(group.norms, place, hidden);
  }
}

struct Sizes {
  uint64_t hidden, intermediate, own_embedding, experts, experts_per_token, expert_width;
  bool double_wide, keys_are_values, bias;
};

void add_layer_embedding(LayerGroup& group, const std::string& layer, const Sizes& s) {
  if (s.own_embedding == 0) return;
  add_linear(group.linears, layer + "per_layer_input_gate", s.hidden, s.own_embedding, false, Role::other);
  add_linear(group.linears, layer + "per_layer_projection", s.own_embedding, s.hidden, false, Role::other);
  add_scaled_rms(group.norms, NormPlace::other, s.hidden);
}

// The experts run beside the dense MLP, which takes the place of a shared expert.
void add_mlp(LayerGroup& group, const std::string& layer, const Sizes& s, bool shares_keys) {
  const uint64_t width = times(s.intermediate, s.double_wide && shares_keys ? 2 : 1);
  if (s.experts == 0) return add_gated_mlp(group, layer + "mlp.", s.hidden, width);
  Experts experts;
  experts.count = s.experts;
  experts.per_token = s.experts_per_token;
  experts.width = s.expert_width;
  experts.at = "experts.";
  experts.fused = true;
  experts.router = "router.proj";
  experts.shared_width = width;
  experts.shared = "mlp.";
  add_experts(group, layer, s.hidden, experts);
  for (int i = 0; i < 3; ++i) add_scaled_rms(group.norms, NormPlace::other, s.hidden);
  group.other_parameters = plus(s.hidden, s.experts);  // router scales
}

}  // namespace

void read_gemma4_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  Sizes s{};
  s.hidden = config.core("hidden_size", 2304);
  s.intermediate = config.core("intermediate_size", 9216);
  const uint64_t layers = config.depth("num_hidden_layers", 30);
  const bool unified = config.text("model_type", "gemma4_text") == "gemma4_unified_text";
  s.own_embedding = config.is_null("hidden_size_per_layer_input")
                        ? 0
                        : config.count("hidden_size_per_layer_input", unified ? 0 : 256);
  s.double_wide = config.flag("use_double_wide_mlp", false);
  s.keys_are_values = config.flag("attention_k_eq_v", false);
  s.bias = config.flag("attention_bias", false);
  if (config.flag("enable_moe_block", false)) {
    s.experts = config.core("num_experts", 128);
    s.experts_per_token = config.size("top_k_experts", 8);
    s.expert_width = config.size("moe_intermediate_size", 704);
  }
  const uint64_t heads = config.core("num_attention_heads", 8);
  const uint64_t kv_heads = kv_head_count(config, "num_key_value_heads", heads, 4);
  const uint64_t full_kv_heads = config.is_null("num_global_key_value_heads") || !s.keys_are_values
                                     ? kv_heads
                                     : config.size("num_global_key_value_heads", kv_heads);
  const uint64_t head_dim = config.size("head_dim", 256);
  const uint64_t full_head_dim = config.size("global_head_dim", 512);
  const uint64_t sharing = std::min(layers, config.count("num_kv_shared_layers", 0));
  const uint64_t window = window_size(config, "sliding_window", 512);
  network.vocab_size = config.core("vocab_size", 262144);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_position_embeddings", 131072);
  network.logit_softcap =
      config.is_null("final_logit_softcapping") ? 0 : config.number("final_logit_softcapping", 0, {0, 1e6});

  Stack text = text_stack(s.hidden);
  const std::string base = frame.base("model");
  const std::string layer = base + "layers.#.";
  add_table(text, base + "embed_tokens", network.vocab_size, s.hidden);
  if (s.own_embedding > 0) {
    const uint64_t wide = times(layers, s.own_embedding);
    add_table(text, base + "embed_tokens_per_layer",
              config.size("vocab_size_per_layer_input", network.vocab_size), wide);
    add_linear(text.linears, base + "per_layer_model_projection", s.hidden, wide, false, Role::other);
    add_scaled_rms(text.norms, NormPlace::other, s.own_embedding);
  }
  const Activation active = activation(config, "hidden_activation", "gelu_pytorch_tanh", network);
  const double dropped = config.share("attention_dropout", 0);
  const std::vector<LayerKind> kinds = layer_kinds(config, layers, AttentionKind::sliding, 6);
  for (const bool shares : {false, true}) {
    for (const AttentionKind kind : {AttentionKind::sliding, AttentionKind::full}) {
      LayerGroup group;
      for (uint64_t i = 0; i < layers; ++i) {
        if (kinds[i].attention == kind && (i >= layers - sharing) == shares) group.indices.push_back(i);
      }
      group.layers = group.indices.size();
      if (group.layers == 0) continue;
      const bool full = kind == AttentionKind::full;
      group.name = std::string(full ? "full-attention" : "sliding-window") +
                   (shares ? " layers without keys" : " layers");
      group.attention = kind;
      group.window = full ? 0 : window;
      group.heads = heads;
      group.kv_heads = full ? full_kv_heads : kv_heads;
      group.head_dim = group.value_head_dim = full ? full_head_dim : head_dim;
      group.activation = active;
      group.attention_dropout = dropped;
      const std::string at = layer + "self_attn.";
      add_attention(group, at, s.hidden, s.bias, s.bias);
      add_scaled_rms(group.norms, NormPlace::q, group.head_dim);
      if (!shares) add_scaled_rms(group.norms, NormPlace::k, group.head_dim);
      const auto drop = [&group](Role role) {
        group.linears.erase(std::remove_if(group.linears.begin(), group.linears.end(),
                                           [role](const Linear& l) { return l.role == role; }),
                            group.linears.end());
      };
      if (shares) drop(Role::k);
      if (shares || (full && s.keys_are_values)) drop(Role::v);
      add_mlp(group, layer, s, shares);
      add_sandwich(group, s.hidden);
      add_layer_embedding(group, layer, s);
      text.groups.push_back(std::move(group));
    }
  }
  add_scaled_rms(text.norms, NormPlace::other, s.hidden);
  add_head(network, text, frame.head, s.hidden);
  network.stacks.push_back(std::move(text));
}

namespace {

Tower add_gemma4_tower(ConfigReader& vision, Architecture& network) {
  VisionTraits traits;
  traits.image_size = 768;  // 48 x 48 patches, pooled 3 x 3 and cut to 280 tokens
  LayerGroup group;
  const Tower tower = read_tower_shape(vision, traits, group, network);
  const std::string base = "model.vision_tower.";
  const std::string layer = base + "encoder.layers.#.";
  add_attention(group, layer + "self_attn.", tower.hidden, false, false,
                {"q_proj.linear", "k_proj.linear", "v_proj.linear", "o_proj.linear"});
  add_scaled_rms(group.norms, NormPlace::q, group.head_dim);
  add_scaled_rms(group.norms, NormPlace::k, group.head_dim);
  add_gated_mlp(group, layer + "mlp.", tower.hidden, group.intermediate);
  for (Linear& linear : group.linears) {
    if (linear.path.find(".linear") == std::string::npos) linear.path += ".linear";
  }
  add_sandwich(group, tower.hidden);
  Stack stack;
  stack.part = Part::vision;
  stack.name = "vision tower";
  stack.hidden = tower.hidden;
  add_linear(stack.linears, base + "patch_embedder.input_proj", times(3, times(tower.patch, tower.patch)),
             tower.hidden, false, Role::other);
  stack.other_parameters = times(2, times(vision.size("position_embedding_size", 10240), tower.hidden));
  stack.groups.push_back(std::move(group));
  network.stacks.push_back(std::move(stack));
  return tower;
}

// A conformer; it is counted and can be quantised, but no sample here has sound to run it on.
void add_gemma4_audio(ConfigReader& audio, Architecture& network) {
  const uint64_t width = audio.size("hidden_size", 1024), layers = audio.depth("num_hidden_layers", 12);
  const uint64_t out = audio.size("output_proj_dims", 1536);
  const std::string base = "model.audio_tower.", layer = base + "layers.#.";
  Stack stack;
  stack.part = Part::audio;
  stack.name = "audio tower";
  stack.hidden = width;
  const auto add = [&](const std::string& name, uint64_t in, uint64_t wide) {
    add_linear(stack.linears, layer + name, in, wide, false, Role::other).count = layers;
  };
  for (const char* half : {"feed_forward1.", "feed_forward2."}) {
    add(std::string(half) + "ffw_layer_1.linear", width, times(4, width));
    add(std::string(half) + "ffw_layer_2.linear", times(4, width), width);
  }
  for (const char* name :
       {"q_proj.linear", "k_proj.linear", "v_proj.linear", "post.linear", "relative_k_proj"}) {
    add(std::string("self_attn.") + name, width, width);
  }
  add("lconv1d.linear_start.linear", width, times(2, width));
  add("lconv1d.linear_end.linear", width, width);
  add_linear(stack.linears, base + "subsample_conv_projection.input_proj_linear", width, width, false,
             Role::other);
  add_linear(stack.linears, base + "output_proj", width, out, true, Role::other);
  // nine norms and a depthwise convolution of five a layer, per_dim_scale, and the two convolutions in front
  stack.other_parameters =
      plus(times(layers, plus(times(14, width), 128)), 128 * 9 + 128 + 32 * 128 * 9 + 32);
  network.stacks.push_back(std::move(stack));
}

}  // namespace

void read_gemma4(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, "gemma4_text", {"model.language_model.", true, "lm_head"}, network);
  const uint64_t hidden = network.stacks.back().hidden;
  if (!config.is_null("vision_config")) {
    ConfigReader vision = config.part("vision_config");
    const Tower tower = add_gemma4_tower(vision, network);
    Stack projector = projector_stack("projector", hidden);
    add_linear(projector.linears, "model.embed_vision.embedding_projection", tower.hidden, hidden, false,
               Role::other);
    network.stacks.push_back(std::move(projector));
    const uint64_t tokens = config.size("vision_soft_tokens_per_image", 280);
    const uint64_t pooled = vision.size("pooling_kernel_size", 3);
    network.image = fixed_tokens(tower, tokens);
    network.image.tower_tokens = times(tokens, times(pooled, pooled));
  }
  if (config.has("audio_config") && !config.is_null("audio_config")) {
    ConfigReader audio = config.part("audio_config");
    add_gemma4_audio(audio, network);
    Stack projector = projector_stack("audio projector", hidden);
    add_linear(projector.linears, "model.embed_audio.embedding_projection",
               audio.size("output_proj_dims", 1536), hidden, false, Role::other);
    network.stacks.push_back(std::move(projector));
  }
}

// Gemma 4 12B: patches and sound go through one projection each, without towers.
void read_gemma4_unified(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, "gemma4_unified_text", {"model.language_model.", true, "lm_head"}, network);
  const uint64_t hidden = network.stacks.back().hidden;
  if (!config.is_null("vision_config")) {
    ConfigReader vision = config.part("vision_config");
    const uint64_t pooled = vision.size("pooling_kernel_size", 3);
    const uint64_t side = times(vision.size("patch_size", 16), pooled);
    const uint64_t patch = times(3, times(side, side)), wide = vision.size("mm_embed_dim", 3840);
    Stack seen = projector_stack("projector", hidden);
    add_layer_norm(seen.norms, NormPlace::other, patch);
    add_linear(seen.linears, "model.vision_embedder.patch_dense", patch, wide, true, Role::other);
    add_layer_norm(seen.norms, NormPlace::other, wide);
    add_layer_norm(seen.norms, NormPlace::other, wide);
    add_linear(seen.linears, "model.vision_embedder.multimodal_embedder.embedding_projection",
               vision.size("output_proj_dims", 3840), hidden, false, Role::other);
    seen.other_parameters = times(times(2, vision.size("mm_posemb_size", 1120)), wide);
    network.stacks.push_back(std::move(seen));
    network.image.rule = ImageTokens::Rule::fixed;
    network.image.tokens = config.size("vision_soft_tokens_per_image", 280);
    network.image.default_size = 768;
  }
  if (config.has("audio_config")) {
    ConfigReader audio = config.part("audio_config");
    Stack heard = projector_stack("audio projector", hidden);
    add_linear(heard.linears, "model.embed_audio.embedding_projection",
               audio.size("output_proj_dims", audio.size("audio_embed_dim", 640)), hidden, false,
               Role::other);
    network.stacks.push_back(std::move(heard));
  }
}

}  // namespace plimsoll::model::families
