#include "core/memory/step/projector.h"

#include <utility>

#include "core/memory/parameters/parameters.h"

namespace plimsoll::memory {

namespace {

Tensor normed(Tape& tape, const LayerProgram& p, const model::Norm& norm, Tensor x) {
  const bool trained = p.train_norms && !norm.frozen;
  if (norm.kind != model::NormKind::rms)
    return any_layer_norm(tape, p.mode, norm, std::move(x), p.norm_size, trained);
  return rms_norm(tape, std::move(x), static_cast<double>(norm.width), p.norm_size, trained,
                  norm.fp32_weight_product);
}

struct TowerOutput {
  double rows = 0;         // tokens that the text reads
  int size = 2;            // bytes an element
  bool needs_grad = true;  // something of the tower is trained, or a hook has asked
};

double kept_bytes(const LayerProgram& p, const model::Stack& stack, const recipe::Recipe& recipe,
                  const TowerOutput& given) {
  double kept = 0;
  auto norm = stack.norms.begin();
  for (auto linear = stack.linears.begin(); linear != stack.linears.end();) {
    Tape tape;
    const auto copies = static_cast<double>(linear->count);
    Tensor x = tape.input(given.rows * static_cast<double>(linear->in), given.size, given.needs_grad,
                          Component::activations);
    if (norm != stack.norms.end()) x = normed(tape, p, *norm++, std::move(x));
    for (bool reads_on = true; reads_on;) {
      x = memory::linear(tape, p.mode, x, specify(*linear, stack, recipe));
      const auto before = linear++;
      reads_on = linear != stack.linears.end() && linear->in == before->out && linear->count == before->count;
      if (reads_on) x = activation(tape, p.mode, model::Activation::gelu, std::move(x));
    }
    const double output = x.bytes();
    kept += copies * (tape.live().total() - output);
  }
  return kept;
}

}  // namespace

Stage projected(const Plan& plan, const PassSettings& s) {
  const ImageLoad& images = plan.images;
  const double tokens = images.text_tokens > 0 ? images.text_tokens : images.cross_tokens;
  static const model::LayerGroup nothing;
  Stage stage;
  stage.part = "projector";
  stage.recorded = stage.output_needs_grad = s.recorded;
  stage.output_size = s.input_size;
  const TowerOutput given{plan.rows * tokens, s.input_size, s.cross_needs_grad};
  LayerProgram outline = make_outline(s, nothing);
  outline.train_norms = s.trained;  // its norms stand in the stack, outside all layers
  if (s.recorded) stage.stem = kept_bytes(outline, *s.stack, plan.recipe, given);
  return stage;
}

}  // namespace plimsoll::memory
