// Gemma 3n: four streams through every layer (AltUp), a low-rank branch beside attention (LAuReL), an
// embedding for every layer, keys and values that the last layers share; a MobileNet sees, a conformer
// listens. Transformers 5.23, models/gemma3n.
#include <algorithm>

#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

// One number, or a list with one for every layer, which are the same in the published models.
uint64_t width_of_every_mlp(ConfigReader& config) {
  if (!config.is_list("intermediate_size")) return config.core("intermediate_size", 16384);
  const std::vector<uint64_t> each = config.counts("intermediate_size");
  const bool same = !each.empty() && std::all_of(each.begin(), each.end(), [&](uint64_t width) {
    return width == each.front() && width > 0;
  });
  if (!same)
    config.fail("intermediate_size", "MLPs of different widths cannot be read.", "one width for all layers");
  return same ? each.front() : 1;
}

// AltUp's small linears, LAuReL's two, the gate of the layer's own embedding.
void add_streams(LayerGroup& group, const std::string& layer, uint64_t hidden, uint64_t streams,
                 uint64_t rank, uint64_t own) {
  const auto add = [&](const char* name, uint64_t in, uint64_t out) {
    add_linear(group.linears, layer + name, in, out, false, Role::other);
  };
  add("altup.correction_coefs", streams, streams);
  add("altup.prediction_coefs", streams, times(streams, streams));
  add("altup.modality_router", hidden, streams);
  add("laurel.linear_left", hidden, rank);
  add("laurel.linear_right", rank, hidden);
  add("per_layer_input_gate", hidden, own);
  add("per_layer_projection", own, hidden);
  for (int i = 0; i < 3; ++i)
    add_scaled_rms(group.norms, NormPlace::other, hidden);        // router, LAuReL, embedding
  group.other_parameters = plus(group.other_parameters, hidden);  // the scale of AltUp's output
}

void add_listener(ConfigReader& audio, Architecture& network) {
  const uint64_t width = audio.size("hidden_size", 1536), layers = audio.depth("conf_num_hidden_layers", 12);
  const uint64_t heads = audio.size("conf_num_attention_heads", 8),
                 kernel = audio.size("conf_conv_kernel_size", 5);
  const std::string base = "model.audio_tower.", layer = base + "conformer.#.";
  Stack stack;
  stack.part = Part::audio;
  stack.name = "audio tower";
  stack.hidden = width;
  const auto add = [&](const std::string& name, uint64_t in, uint64_t out) {
    add_linear(stack.linears, layer + name, in, out, false, Role::other).count = layers;
  };
  for (const char* half : {"ffw_layer_start.", "ffw_layer_end."}) {
    add(std::string(half) + "ffw_layer_1", width, times(4, width));
    add(std::string(half) + "ffw_layer_2", times(4, width), width);
  }
  for (const char* name : {"attn.q_proj", "attn.k_proj", "attn.v_proj"}) {
    add(std::string("attention.") + name, width, width);
  }
  add("attention.attn.relative_position_embedding.pos_proj", width, width);
  add("attention.post", width, width);
  add("lconv1d.linear_start", width, times(2, width));
  add("lconv1d.linear_end", width, width);
  // 128 mel bands through two convolutions of 3 x 3 and stride 2: 32 bands of 32 channels.
  add_linear(stack.linears, base + "subsample_conv_projection.input_proj_linear", 1024, width, false,
             Role::other);
  const uint64_t norms = times(9, width);  // two a half, two of attention, two of the convolution, one last
  stack.other_parameters = plus(times(layers, plus(plus(norms, times(kernel, width)), width / heads)),
                                128 * 9 + 128 + 32 * 128 * 9 + 32);
  network.stacks.push_back(std::move(stack));
}

// Embedding of the placeholder tokens, two norms, a projection.
Stack embedder(ConfigReader& part, const std::string& at, uint64_t from, uint64_t hidden) {
  Stack stack =
      projector_stack(at.find("audio") != std::string::npos ? "audio projector" : "projector", hidden);
  const uint64_t rows = part.size("vocab_size", 128);
  add_table(stack, at + "embedding", rows, from);
  add_rms(stack.norms, NormPlace::other, from);
  add_rms(stack.norms, NormPlace::other, from);
  add_linear(stack.linears, at + "embedding_projection", from, hidden, false, Role::other);
  return stack;
}

// timm's mobilenetv5_300m_enc: what the hub's E4B counts beyond its text and audio parts; with it E2B comes
// to the hub's figure too.
constexpr uint64_t mobilenet_v5_300m = 294126912;

}  // namespace

void read_gemma3n_text(ConfigReader& config, const Frame& frame, Architecture& network) {
  const uint64_t hidden = config.core("hidden_size", 2048);
  const uint64_t width = width_of_every_mlp(config);
  const uint64_t layers = config.depth("num_hidden_layers", 35);
  const uint64_t heads = config.core("num_attention_heads", 8);
  const uint64_t streams = config.size("altup_num_inputs", 4), rank = config.size("laurel_rank", 64);
  const uint64_t own = config.size("hidden_size_per_layer_input", 256);
  const uint64_t sharing = std::min(layers, config.count("num_kv_shared_layers", 15));
  const uint64_t window = window_size(config, "sliding_window", 512);
  network.vocab_size = config.core("vocab_size", 262400);
  network.tied_head = config.flag_or_outer("tie_word_embeddings", true);
  network.max_position_embeddings = config.size("max_position_embeddings", 32768);
  network.logit_softcap = config.number("final_logit_softcapping", 30, {0, 1e6});

  Stack text = text_stack(hidden);
  const std::string base = frame.base("model"), layer = base + "layers.#.";
  const uint64_t wide = times(layers, own);
  add_table(text, base + "embed_tokens", network.vocab_size, hidden);
  add_table(text, base + "embed_tokens_per_layer", config.size("vocab_size_per_layer_input", 262144), wide);
  add_linear(text.linears, base + "per_layer_model_projection", hidden, wide, false, Role::other);
  for (const char* name : {"altup_projections.*", "altup_unembed_projections.*"}) {
    add_linear(text.linears, base + name, hidden, hidden, false, Role::other).count = streams - 1;
  }
  add_scaled_rms(text.norms, NormPlace::other, own);
  LayerGroup shape;
  shape.heads = heads;
  shape.kv_heads = kv_head_count(config, "num_key_value_heads", heads, 2);
  shape.head_dim = shape.value_head_dim = config.size("head_dim", 256);
  shape.activation = activation(config, "hidden_activation", "gelu_pytorch_tanh", network);
  shape.attention_dropout = config.share("attention_dropout", 0);
  const bool bias = config.flag("attention_bias", false);
  // The last layers read the keys and values of an earlier one; Transformers 5 makes no k_proj and v_proj
  // there.
  const std::vector<LayerKind> kinds = layer_kinds(config, layers, AttentionKind::sliding, 5);
  for (const bool shares : {false, true}) {
    for (const AttentionKind kind : {AttentionKind::sliding, AttentionKind::full}) {
      LayerGroup group = shape;
      for (uint64_t i = 0; i < layers; ++i) {
        if (kinds[i].attention == kind && (i >= layers - sharing) == shares) group.indices.push_back(i);
      }
      group.layers = group.indices.size();
      if (group.layers == 0) continue;
      group.name = std::string(kind == AttentionKind::full ? "full-attention" : "sliding-window") +
                   (shares ? " layers without keys" : " layers");
      group.attention = kind;
      group.window = kind == AttentionKind::full ? 0 : window;
      add_attention(group, layer + "self_attn.", hidden, bias, bias);
      add_scaled_rms(group.norms, NormPlace::q, group.head_dim);
      if (shares) {
        group.linears.erase(
            std::remove_if(group.linears.begin(), group.linears.end(),
                           [](const Linear& l) { return l.role == Role::k || l.role == Role::v; }),
            group.linears.end());
      } else {
        add_scaled_rms(group.norms, NormPlace::k, group.head_dim);
      }
      add_gated_mlp(group, layer + "mlp.", hidden, width);
      for (NormPlace place : {NormPlace::before_attention, NormPlace::after_attention, NormPlace::before_mlp,
                              NormPlace::after_mlp}) {
        add_scaled_rms(group.norms, place, hidden);
      }
      add_streams(group, layer, hidden, streams, rank, own);
      text.groups.push_back(std::move(group));
    }
  }
  add_scaled_rms(text.norms, NormPlace::other, hidden);
  add_head(network, text, frame.head, hidden);
  network.stacks.push_back(std::move(text));
}

void read_gemma3n(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, "gemma3n_text", {"model.language_model.", true, "lm_head"}, network);
  const uint64_t hidden = network.stacks.front().hidden;
  ConfigReader vision = config.part("vision_config");
  const uint64_t seen = vision.size("hidden_size", 2048);
  Stack tower;
  tower.part = Part::vision;
  tower.name = "vision tower";
  tower.hidden = seen;
  tower.other_parameters = mobilenet_v5_300m;  // convolutions, which nothing quantises or adapts
  network.stacks.push_back(std::move(tower));
  ConfigReader audio = config.part("audio_config");
  add_listener(audio, network);
  const uint64_t heard = network.stacks.back().hidden;
  network.stacks.push_back(embedder(vision, "model.embed_vision.", seen, hidden));
  network.stacks.push_back(embedder(audio, "model.embed_audio.", heard, hidden));
  network.image.rule = ImageTokens::Rule::fixed;
  network.image.tokens = config.size("vision_soft_tokens_per_image", 256);
  network.image.default_size = 768;
}

}  // namespace plimsoll::model::families
