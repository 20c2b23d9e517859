#include "core/memory/head/unsloth_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/recipe/stacks.h"

namespace plimsoll::memory {

bool unsloth_loss_has_threshold(const recipe::Recipe& recipe) {
  const std::string& kernel = recipe.training.loss_kernel;
  return recipe::stack_traits(recipe.stack).loss_by_row_length &&
         (kernel == "cut_cross_entropy" || kernel == "unsloth_fused") &&
         recipe::version_matches(recipe.versions.unsloth, ">=2024.12,<2025.10.8");
}

std::string unsloth_loss(const recipe::Recipe& recipe, double tokens) {
  constexpr double most = 1024;
  return tokens <= most && unsloth_loss_has_threshold(recipe) ? "fused_ce" : recipe.training.loss_kernel;
}

double unsloth_chunks(const ChunkedLogits& logits, std::string_view release) {
  constexpr double gib = 1073741824;
  const bool capped = recipe::version_at_least(release, "2026.7");
  const bool whole_chain = recipe::version_at_least(release, "2026.9.3");
  double target = std::max(logits.free, gib) / 2;
  if (capped) target = std::min(target, 4 * gib);
  if (whole_chain && logits.fixed < target) target -= logits.fixed;
  const double chunks = logits.tokens * logits.vocabulary * (whole_chain ? 16 : 4) / target;
  if (!capped) return std::max(1.0, std::nearbyint(chunks / 4) * 4);  // Python's round: half to even
  return chunks <= 1 ? 1 : std::min(std::ceil(chunks / 4) * 4, logits.tokens);
}

Outcome unsloth_grpo(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  const double length = std::min(p.scoring.tokens > 0 ? p.scoring.tokens : p.layer.length, p.layer.length);
  // 16-bit logits and fp32 ones; under a graph their log_softmax or its gradient too.
  const double bytes = p.head.out * length * (tape.recording ? 10 : 6);
  const double kept = tape.recording ? hidden.elements() : 0;
  Tensor input_gradient = tape.make(kept, hidden.size(), Component::logits);
  Tensor sequence = tape.make(bytes, 1, Component::logits);
  sequence.free();
  Tensor loss = scalar(tape);
  tape.record(loss, {hidden}, {input_gradient}, {reuse(0)});
  return {std::move(loss), Tensor()};
}

// Compiled: a chunk's logits and their gradient are 16-bit.
Outcome unsloth_fused(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  const double tokens = p.layer.batch * p.layer.length, weights = p.head.in * p.head.out;
  const double rows = std::ceil(tokens / p.chunks);
  Tensor input_gradient = tape.make(hidden.elements(), hidden.size(), Component::logits);
  Tensor weight_gradients =
      p.head.trainable ? tape.make(weights, p.head.size, Component::gradients) : Tensor();
  Tensor chunk = tape.make(rows * p.head.out * 2, 2, Component::logits);
  Tensor one_more = p.head.trainable ? tape.make(weights, p.head.size, Component::transient) : Tensor();
  one_more.free();
  chunk.free();
  Tensor loss = scalar(tape);
  tape.record(loss, {hidden}, {input_gradient, weight_gradients},
              {reuse(0), weight_gradient(p.head.trainable ? weights * p.head.size : 0)}, p.head.trainable);
  return {std::move(loss), Tensor()};
}

}  // namespace plimsoll::memory
