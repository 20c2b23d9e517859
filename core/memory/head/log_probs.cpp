#include "core/memory/head/log_probs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/recipe/stacks.h"
#include "core/recipe/tasks.h"

namespace plimsoll::memory {

namespace {

constexpr double entropy_rows = 128;             // TRL trainer/utils.py entropy_from_logits(chunk_size=128)
constexpr double chunk_workspace = 268435456.0;  // AgileRL resolve_chunk_rows: fp32 logits of one tile
constexpr double chunk_least = 128, chunk_most = 4096;

double tokens_of(const HeadProgram& p) {
  return p.scoring.tokens > 0 ? std::min(p.scoring.tokens, p.layer.length) : p.layer.length;
}

// logits_to_keep: the head runs on the end of each sequence alone.
Tensor scored_part(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  if (p.scoring.tokens <= 0 || p.scoring.tokens >= p.layer.length) return hidden;
  return slice(tape, hidden, p.layer.batch * tokens_of(p) * p.head.in);
}

Tensor scored_logits(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor logits = project(tape, p, scored_part(tape, p, hidden));
  // Before Transformers 4.46 the model itself returned fp32 logits.
  if (p.outputs_to_fp32 || (p.stock.upcast && p.stock.upcast_replaces))
    logits = cast(tape, std::move(logits), 4);
  return logits;
}

// logits.div_(temperature) on a slice: autograd copies the gradient of the whole tensor for it (CopySlices).
Tensor divided(Tape& tape, const HeadProgram& p, Tensor used) {
  if (p.scoring.division == Division::none) return used;
  if (p.scoring.division == Division::copy) return scale(tape, std::move(used));
  Tensor out = tape.view(used, used.elements());
  tape.record(out, {used}, {}, {temporary(2 * used.bytes()), gradient(0, used.bytes())});
  return out;
}

// The chosen half as plain text: logits[:chosen, :-1].contiguous(), then cross_entropy.
Tensor chosen_cross_entropy(Tape& tape, const HeadProgram& p, const Tensor& logits) {
  Tensor chosen = slice(tape, logits, logits.elements() / 2);
  if (p.layer.batch > 2) {
    Tensor shifted = tape.make(chosen.elements(), chosen.size(), Component::logits);
    tape.record(shifted, {chosen}, {}, {gradient(0, chosen.bytes())});
    chosen = std::move(shifted);
  }
  return cross_entropy(tape, p.layer.mode, std::move(chosen));
}

// Statistics without a graph: fp32 or not, log_softmax and two products of it, 128 rows at a time.
// reshape(-1, V) of a slice over several sequences is a copy.
void entropy(Tape& tape, const HeadProgram& p, const Tensor& logits) {
  if (!p.scoring.entropy) return;
  const double rows = p.layer.batch * tokens_of(p);
  const double chunk = logits.bytes() * std::min(1.0, entropy_rows / rows);
  Tensor flat = tape.make(p.layer.batch > 1 ? logits.bytes() : 0, 1, Component::logits);
  Tensor working = tape.make(3 * chunk, 1, Component::logits);
}

Tensor joined(Tape& tape, const Tensor& a, const Tensor& b, const Tensor& c) {
  Tensor loss = scalar(tape);
  if (c) {
    tape.record(loss, {a, b, c}, {},
                {gradient(0, a.bytes()), gradient(1, b.bytes()), gradient(2, c.bytes())});
  } else {
    tape.record(loss, {a, b}, {}, {gradient(0, a.bytes()), gradient(1, b.bytes())});
  }
  return loss;
}

}  // namespace

Outcome selective_log_softmax(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor logits = scored_logits(tape, p, hidden);
  const double count = p.layer.batch * tokens_of(p), sequences = std::max(1.0, p.layer.batch);
  Tensor nll = p.scoring.chosen_nll ? chosen_cross_entropy(tape, p, logits) : Tensor();
  Tensor whole = p.scoring.division == Division::copy ? divided(tape, p, std::move(logits)) : logits;
  Tensor used = slice(tape, whole, whole.elements());
  if (p.scoring.division == Division::in_place) used = divided(tape, p, std::move(used));
  const double bytes = used.bytes(), one = bytes / sequences;
  Tensor selected = tape.make(count, used.size(), Component::transient);
  Tensor sums = tape.make(count, used.size(), Component::transient);
  if (used.size() == 4) {  // gather, then logsumexp of one sequence after another; both keep the logits
    tape.record(selected, {used}, {used}, {gradient(0, bytes)});
    Tensor working = tape.make(one, 1, Component::logits);
    working.free();
    tape.record(
        sums, {used}, {used},
        {temporary(bytes - one), temporary(3 * one), end_temporary(), temporary(bytes), gradient(0, bytes)});
  } else {  // log_softmax of one sequence after another, each kept; its gradient takes its place
    Tensor rows = tape.view(used, used.elements());
    tape.record(rows, {used}, {}, {gradient(0, bytes)});
    Tensor log_probabilities = tape.make(used.elements(), used.size(), Component::logits);
    tape.record(selected, {rows}, {log_probabilities}, {temporary(2 * one), end_temporary(), reuse(0)});
  }
  entropy(tape, p, used);
  Tensor loss = joined(tape, selected, sums, nll);
  return {std::move(loss), std::move(whole)};
}

Outcome log_softmax_gather(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor logits = scored_logits(tape, p, hidden);
  const double count = p.layer.batch * tokens_of(p);
  Tensor nll = p.scoring.chosen_nll ? chosen_cross_entropy(tape, p, logits) : Tensor();
  Tensor used = slice(tape, logits, logits.elements());
  Tensor contiguous = tape.make(p.layer.batch > 1 ? used.bytes() : 0, 1, Component::logits);
  Tensor log_probabilities = tape.make(used.elements(), used.size(), Component::logits);
  contiguous.free();
  tape.record(log_probabilities, {used}, {log_probabilities}, {gradient(0, used.bytes())});
  Tensor selected = tape.make(count, used.size(), Component::transient);
  tape.record(selected, {log_probabilities}, {log_probabilities}, {gradient(0, log_probabilities.bytes())});
  Tensor loss = joined(tape, selected, selected, nll);
  return {std::move(loss), std::move(logits)};
}

Outcome liger_preference(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor input =
      p.layer.mode.autocast ? cast(tape, scored_part(tape, p, hidden), 2) : scored_part(tape, p, hidden);
  const double weights = p.head.in * p.head.out;
  const double together = std::min(p.layer.batch, p.scoring.paired ? 2.0 : 1.0);  // chunk_size=1 sample
  const double elements = together * tokens_of(p) * p.head.out;
  Tensor input_gradient = tape.make(input.elements(), input.size(), Component::logits);
  Tensor weight_gradients =
      p.head.trainable ? tape.make(weights, p.head.size, Component::gradients) : Tensor();
  // 16-bit logits, fp32 logits, log_softmax and its gradient; the reference's logits and log_softmax beside
  // them.
  Tensor chunk = tape.make(elements * (p.scoring.reference ? 20 : 14), 1, Component::logits);
  chunk.free();
  Tensor loss = scalar(tape);
  tape.record(loss, {input}, {input_gradient, weight_gradients},
              {reuse(0), weight_gradient(p.head.trainable ? weights * p.head.size : 0)}, p.head.trainable);
  return {std::move(loss), Tensor()};
}

Outcome chunked_log_probs(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor part = scored_part(tape, p, hidden);
  const double rows = std::floor(chunk_workspace / (4 * p.head.out));
  const double chunk = std::min(std::clamp(rows, chunk_least, chunk_most), p.layer.batch * tokens_of(p));
  const int size = std::max(part.size(), p.head.size);  // both are promoted; autocast is off here
  const double tile = chunk * p.head.out * size;
  const double flat = p.layer.batch > 1 ? part.bytes() : 0;  // hidden[:, :-1].reshape(-1, H)
  Tensor forward = tape.make(tile + flat, 1, Component::logits);
  forward.free();
  Tensor loss = scalar(tape);
  tape.record(loss, {part}, {part}, {gradient(0, part.bytes()), temporary(2 * tile + flat)});
  return {std::move(loss), Tensor()};
}

std::string log_prob_kernel(const recipe::Recipe& recipe) {
  const std::string& kernel = recipe.training.loss_kernel;
  if (kernel == "liger") return "liger_preference";
  if (kernel == "chunked_log_probs" || kernel == "fused_lm_head") return kernel;
  if (kernel == "unsloth_fused" && recipe::task_of(recipe).online) return "unsloth_grpo";
  if (recipe::stack_traits(recipe.stack).own_log_probs) return "log_softmax_gather";
  const bool old = !recipe::version_at_least(recipe.versions.trl, "0.15");
  return old ? "log_softmax_gather" : "selective_log_softmax";
}

}  // namespace plimsoll::memory
