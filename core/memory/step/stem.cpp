// What a stack keeps for the backward outside its layers.
#include <algorithm>

#include "core/memory/step/pass.h"

namespace plimsoll::memory {

namespace {

// T5: checkpoints hold the biases that the first layer made, and all cross-attention reads one tensor of
// zeros, unless a mask is written into it for each layer (transformers models/t5/modeling_t5.py
// T5Attention.forward, integrations/sdpa_attention.py create_position_bias_mask).
double biases(const PassSettings& s) {
  if (s.stack->groups.empty() || !s.stack->groups.front().position_bias) return 0;
  const recipe::Recipe& r = *s.recipe;
  const double of_a_key = static_cast<double>(s.stack->groups.front().heads) * s.length;
  const double own = s.checkpointing ? of_a_key * s.length * table_size(r, *s.stack) : 0;
  const bool crosses = s.stack->part == model::Part::decoder && r.model_args.attn_implementation == "sdpa" &&
                       (s.checkpointing || !s.cross_mask);
  return own + (crosses ? of_a_key * s.cross_length * (r.autocast() ? 2 : table_size(r, *s.stack)) : 0);
}

// What Whisper's convolutions and their GELUs keep (models/whisper/modeling_whisper.py WhisperEncoder).
double frames(const PassSettings& s) {
  const double size = s.recipe->autocast() ? 2 : table_size(*s.recipe, *s.stack);
  return s.trained ? s.batch * s.length * static_cast<double>(s.stack->frame_width) * size : 0;
}

// Bytes an element between the embedding and the first layer: the input of a norm, the mask of a dropout, and the
// embedded tokens themselves where a hook has made them a leaf (Transformers enable_input_require_grads) and the
// layers read something made of them.
double before_layers(const PassSettings& s, bool dropped) {
  const model::Stack& stack = *s.stack;
  const recipe::Recipe& r = *s.recipe;
  const Tuner* tuner = find_tuner(r.peft);
  const bool changed = stack.embedding_norm || dropped ||
                       (tuner != nullptr && tuner->place == TunerPlace::prompt) ||
                       std::any_of(stack.tables.begin(), stack.tables.end(),
                                   [](const model::Table& table) { return table.positions; });
  const bool hooked = r.peft.on && s.checkpointing;
  const double normed = stack.embedding_norm ? s.input_size : 0;
  return normed + (hooked && changed ? table_size(r, stack) : 0) + (dropped ? 1 : 0);
}

// The norm and the dropout behind the last layer of an encoder that a decoder reads, and what they give it where the
// decoder's linears keep that very tensor: under autocast they keep casts of an fp32 one.
double behind_layers(const PassSettings& s, const Stage& stage) {
  const model::Stack& stack = *s.stack;
  if (stack.part != model::Part::encoder || stack.embedding_norm || stack.norms.empty()) return 0;
  const bool autocast = s.recipe->autocast();
  if (stack.norms.back().kind != model::NormKind::rms_of_input) return autocast ? 4 : 2 * stage.output_size;
  const int given = s.input_size;
  const double read = stage.output_size == 4 ? 4 : 4 + stage.output_size;  // x, and its fp32 copy
  return read + (s.trained ? given : 0) + (autocast && given == 4 ? 0 : given) +
         (stack.output_dropout > 0 ? 1 : 0);
}

// SigLIP's last norm keeps what it reads, in fp32 under autocast; so does Gemma 3's average of what it gives (torch
// AvgPool2dBackward). A trained patch embedding keeps the pixels (models/siglip/modeling_siglip.py
// SiglipVisionTransformer.forward, models/gemma3/modeling_gemma3.py Gemma3MultiModalProjector.forward).
double around_tower(const PassSettings& s, const Stage& stage) {
  const model::Stack& stack = *s.stack;
  const bool autocast = s.recipe->autocast();
  const double pixels =
      s.trained ? static_cast<double>(stack.patch_pixels) * (autocast ? 2 : s.input_size) : 0;
  const double kept = (stack.read_behind_norm ? 1 : 0) + (stack.averaged ? 1 : 0);
  const double behind = stage.output_needs_grad
                            ? static_cast<double>(stack.hidden) * kept * (autocast ? 4 : stage.output_size)
                            : 0;
  // A hook makes what the patch embedding gives a leaf of the graph; positions are added to it.
  const bool leaf = s.recipe->peft.on && s.checkpointing && s.input_needs_grad && !stack.tables.empty();
  const double embedded = leaf ? static_cast<double>(stack.hidden) * (autocast ? 2 : s.input_size) : 0;
  return s.batch * s.length * (pixels + embedded + behind);
}

}  // namespace

double stem_bytes(const PassSettings& s, const Stage& stage) {
  const model::Stack& stack = *s.stack;
  if (!s.recorded) return 0;
  if (stack.part == model::Part::vision) return around_tower(s, stage);
  const double elements = s.batch * s.length * static_cast<double>(stack.hidden);
  const bool off =
      s.recipe->training.disable_dropout && !stack.groups.empty() && stack.groups.front().dropout_modules;
  const double before = s.input_needs_grad ? before_layers(s, stack.embedding_dropout > 0 && !off) : 0;
  const double behind = stage.output_needs_grad ? behind_layers(s, stage) : 0;
  return elements * (before + behind) + biases(s) + frames(s);
}

}  // namespace plimsoll::memory
