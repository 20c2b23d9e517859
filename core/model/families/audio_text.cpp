// Language models that listen: Whisper's encoder, a projector, a decoder (Voxtral, Qwen2-Audio).
// Transformers 5.23, models/voxtral, qwen2_audio.
#include "core/model/families.h"
#include "core/model/families/vision_towers.h"
#include "core/model/saturating.h"

namespace plimsoll::model::families {

using saturating::plus;
using saturating::times;

namespace {

// Counted and quantised as any part, but not run: no sample here has sound. Returns its width.
uint64_t add_listener(ConfigReader& audio, const std::string& base, Architecture& network) {
  const uint64_t width = audio.size(audio.spelling({"d_model", "hidden_size"}), 1280);
  const uint64_t layers = audio.depth(audio.spelling({"encoder_layers", "num_hidden_layers"}), 32);
  const uint64_t inner = audio.size(audio.spelling({"encoder_ffn_dim", "intermediate_size"}), 5120);
  const uint64_t mel = audio.size("num_mel_bins", 128), positions = audio.size("max_source_positions", 1500);
  Stack stack;
  stack.part = Part::audio;
  stack.name = "audio tower";
  stack.hidden = width;
  const std::string layer = base + "layers.#.";
  const auto add = [&](const char* name, uint64_t in, uint64_t out, bool bias) {
    add_linear(stack.linears, layer + name, in, out, bias, Role::other).count = layers;
  };
  add("self_attn.q_proj", width, width, true);
  add("self_attn.k_proj", width, width, false);
  add("self_attn.v_proj", width, width, true);
  add("self_attn.out_proj", width, width, true);
  add("fc1", width, inner, true);
  add("fc2", inner, width, true);
  // two LayerNorms a layer and one after them, two convolutions of three
  stack.other_parameters = plus(times(layers, times(4, width)),
                                plus(times(2, width), plus(times(width, plus(times(3, mel), 1)),
                                                           times(width, plus(times(3, width), 1)))));
  add_table(stack, base + "embed_positions", positions, width, true);
  stack.tables.back().trained = false;  // sinusoids
  network.stacks.push_back(std::move(stack));
  return inner;
}

}  // namespace

void read_voxtral(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, "llama", {"language_model.", false, "language_model.lm_head"}, network);
  const uint64_t hidden = network.stacks.front().hidden;
  ConfigReader audio = config.part("audio_config");
  const uint64_t inner = add_listener(audio, "audio_tower.", network);
  Stack projector = projector_stack("audio projector", hidden);
  add_linear(projector.linears, "multi_modal_projector.linear_1", inner, hidden, false, Role::other);
  add_linear(projector.linears, "multi_modal_projector.linear_2", hidden, hidden, false, Role::other);
  network.stacks.push_back(std::move(projector));
}

void read_qwen2_audio(ConfigReader& config, const Frame&, Architecture& network) {
  ConfigReader text = config.required_part("text_config");
  read_text_model(text, "qwen2", {"language_model.", false, "language_model.lm_head"}, network);
  const uint64_t hidden = network.stacks.front().hidden;
  ConfigReader audio = config.part("audio_config");
  add_listener(audio, "audio_tower.", network);
  Stack projector = projector_stack("audio projector", hidden);
  add_linear(projector.linears, "multi_modal_projector.linear", network.stacks.back().hidden, hidden, true,
             Role::other);
  network.stacks.push_back(std::move(projector));
}

}  // namespace plimsoll::model::families
