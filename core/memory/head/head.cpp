#include "core/memory/head/head.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/memory/head/head_kernel.h"
#include "core/memory/head/log_probs.h"
#include "core/memory/head/torchtune_loss.h"
#include "core/memory/head/unsloth_loss.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

Tensor scalar(Tape& tape) { return tape.make(1, 4, Component::transient); }

// It asks for a log_softmax in the logits' own type, which autocast leaves alone; nll_loss it casts to fp32
// (aten/src/ATen/native/LossNLL.cpp cross_entropy_loss, aten/src/ATen/autocast_mode.h).
Tensor cross_entropy(Tape& tape, const Mode& mode, Tensor logits) {
  tape.doing = "cross-entropy";
  Tensor read = tape.make(logits.elements(), logits.size(), Component::logits);
  tape.record(read, {logits}, {read}, {gradient(0, logits.bytes())});
  logits.free();
  if (mode.autocast) read = cast(tape, std::move(read), 4);
  Tensor loss = scalar(tape);
  tape.record(loss, {read}, {read}, {gradient(0, read.bytes())});
  return loss;
}

namespace {

// W.index_copy(trained rows), in each forward. The product keeps it, or its cast under autocast.
Tensor copied_weight(Tape& tape, const HeadProgram& p, Tensor& hidden) {
  if (!p.copied) return {};
  Tensor copy = tape.make(p.head.in * p.head.out, p.head.size, Component::transient);
  if (p.layer.mode.autocast && p.head.size == 4) return copy;
  Tensor same = tape.view(hidden, hidden.elements());
  tape.record(same, {hidden}, {copy}, {pass(0)});
  hidden = std::move(same);
  return copy;
}

}  // namespace

Tensor project(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor read = hidden;
  Tensor weight = copied_weight(tape, p, read);
  Tensor made = linear(tape, p.layer.mode, read, p.head);
  weight.free();
  tape.mark_as_logits(made);
  if (p.wide_bias) made = cast(tape, std::move(made), 4);
  if (p.softcap > 0) {  // logits / cap, tanh, * cap
    made = scale(tape, std::move(made));
    Tensor tanh = tape.make(made.elements(), made.size(), Component::logits);
    tape.record(tanh, {made}, {tanh}, {gradient(0, made.bytes())});
    made = scale(tape, std::move(tanh));
  }
  return made;
}

namespace {

constexpr double trl_chunk = 256;        // TRL SFTConfig chunk size of loss_type="chunked_nll"
constexpr double litgpt_chunk = 128;     // litgpt lm_head_chunk_size, chunked_cross_entropy(chunk_size)
constexpr double torchtitan_chunks = 8;  // torchtitan ChunkedLossWrapper

Tensor final_norm(Tape& tape, const HeadProgram& p, const Tensor& x) {
  const LayerProgram& l = p.layer;
  if (p.final_norm == nullptr) return x;
  const auto width = static_cast<double>(p.final_norm->width);
  const int size = p.final_norm->weight ? l.norm_size : 0;
  if (p.final_norm->kind != model::NormKind::rms)
    return any_layer_norm(tape, l.mode, *p.final_norm, x, size, l.train_norms && size > 0);
  if (l.liger_norm) return fused_rms_norm(tape, x, width, l.train_norms);
  return rms_norm(tape, x, width, size, l.train_norms, p.final_norm->fp32_weight_product);
}

// The loss function holds all three at once: what the head gave, its fp32 copy, and the copy without the last
// position.
struct Logits {
  Tensor logits, upcast, shifted;
};

Logits logits_for_loss(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Logits made;
  made.logits = project(tape, p, hidden);
  made.upcast = p.stock.upcast ? cast(tape, made.logits, 4) : made.logits;
  if (p.stock.upcast_replaces) made.logits = made.upcast;
  made.shifted = made.upcast;
  if (p.stock.shift_copy && p.layer.batch > 1) {
    made.shifted = tape.make(made.upcast.elements(), made.upcast.size(), Component::logits);
    tape.record(made.shifted, {made.upcast}, {}, {gradient(0, made.upcast.bytes())});
  }
  return made;
}

// A number made of all logits stands in for the loss, where a profile needs none.
Outcome mean_logits(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor logits = project(tape, p, hidden);
  if (p.stock.upcast && p.stock.upcast_replaces) logits = cast(tape, std::move(logits), 4);
  Tensor loss = scalar(tape);
  tape.record(loss, {logits}, {}, {gradient(0, logits.bytes())});
  return {std::move(loss), std::move(logits)};
}

// Compiled, the loss is computed again from the logits in the backward: neither their fp32 copy nor the
// log-probabilities are ever written. Where the logits are an output of the same graph, zeros stand in for
// the gradient that nobody gives them.
Outcome compiled(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor logits = project(tape, p, hidden);
  const double returned = p.returns_logits ? logits.elements() * (p.outputs_to_fp32 ? 4 : 2) : 0;
  Tensor loss = scalar(tape);
  tape.record(loss, {logits}, {logits}, {temporary(returned), gradient(0, logits.bytes())});
  return {std::move(loss), p.returns_logits ? std::move(logits) : Tensor()};
}

Outcome stock(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  if (p.compiled && p.layer.implementation->transformers) return compiled(tape, p, hidden);
  Logits made = logits_for_loss(tape, p, hidden);
  Tensor loss = cross_entropy(tape, p.layer.mode, made.shifted);
  return {std::move(loss), std::move(made.logits)};
}

// Triton cross-entropy (Unsloth, FOAK, Liger's cross_entropy): the gradient is written over the logits that
// came in.
Outcome fused(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Logits made = logits_for_loss(tape, p, hidden);
  Tensor losses = tape.make(p.layer.batch * p.layer.length * 2, 4, Component::logits);
  Tensor loss = scalar(tape);
  tape.record(loss, {made.shifted}, {made.shifted, losses}, {reuse(0)});
  return {std::move(loss), std::move(made.logits)};
}

// The whole head in fp32 (and under autocast once more in 16 bits) for every chunk of 256 tokens, in the
// forward and again when the chunk is recomputed.
Outcome chunked_nll(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  const bool autocast = p.layer.mode.autocast;
  const double weights = p.head.in * p.head.out;
  const double chunk = std::min(trl_chunk, p.layer.batch * p.layer.length);
  const double working = weights * (autocast ? 6 : 4) + chunk * p.head.out * (autocast ? 2 : 4) +
                         chunk * p.head.in * (autocast ? 6 : 4);
  const double after = weights * (autocast ? 2 : 4) + chunk * p.head.out * (autocast ? 14 : 12);
  Tensor valid = copy(tape, hidden);
  Tensor gathered = copy(tape, valid);
  Tensor forward = tape.make(std::max(working, after), 1, Component::logits);
  forward.free();
  Tensor loss = scalar(tape);
  const double trained = p.head.trainable ? weights : 0;
  tape.record(loss, {gathered}, {valid, gathered},
              {temporary(std::max(working, after)), temporary(trained * (autocast ? 6 : 4)), end_temporary(),
               weight_gradient(trained * p.head.size), gradient(0, gathered.bytes())},
              p.head.trainable);
  return {std::move(loss), Tensor()};
}

double next_power_of_two(double value) { return std::exp2(std::ceil(std::log2(std::max(1.0, value)))); }

// Gradients are computed in the forward, chunk by chunk: `rows` tokens at a time, each logit in `bytes`.
Outcome in_chunks(Tape& tape, const HeadProgram& p, const Tensor& hidden, double rows, double bytes) {
  const double tokens = p.layer.batch * p.layer.length;
  const double weights = p.head.in * p.head.out;
  const bool autocast_head = p.layer.mode.autocast && p.head.size == 4;
  Tensor input = p.layer.mode.autocast ? cast(tape, hidden, 2) : hidden;
  Tensor head_cast = autocast_head ? tape.make(weights, 2, Component::autocast) : Tensor();
  Tensor input_gradient = tape.make(input.elements(), input.size(), Component::logits);
  const int weight_size = p.layer.mode.autocast ? 2 : p.head.size;
  Tensor weight_gradients =
      p.head.trainable ? tape.make(weights, weight_size, Component::gradients) : Tensor();
  Tensor losses = tape.make(tokens, 4, Component::logits);
  Tensor chunk = tape.make(rows * p.head.out * bytes, 1, Component::logits);
  Tensor product = p.head.trainable ? tape.make(weights, weight_size, Component::transient) : Tensor();
  product.free();
  chunk.free();
  losses.free();
  Tensor loss = scalar(tape);
  tape.record(loss, {input}, {input_gradient, weight_gradients, head_cast},
              {reuse(0), weight_gradient(p.head.trainable ? weights * p.head.size : 0)}, p.head.trainable);
  return {std::move(loss), Tensor()};
}

// The rows of a chunk shrink as the vocabulary grows.
Outcome liger(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  const double tokens = p.layer.batch * p.layer.length;
  const double chunks = std::ceil(p.head.out / p.head.in);
  const double rows = std::min(tokens, next_power_of_two(std::ceil(tokens / chunks)));
  return in_chunks(tape, p, hidden, rows, p.layer.mode.autocast ? 2 : hidden.size());
}

// Eight chunks, each with head, cross-entropy and backward of its own. pytorch/torchtitan
// torchtitan/components/loss.py ChunkedLossWrapper.
Outcome torchtitan(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  const double tokens = p.layer.batch * p.layer.length;
  return in_chunks(tape, p, hidden, std::ceil(tokens / torchtitan_chunks), p.compiled ? 4 : 14);
}

// Never makes a tensor of tokens x vocabulary.
Outcome cut(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  const double weights = p.head.in * p.head.out;
  const bool cast_head = p.layer.mode.autocast && p.head.size == 4;
  Tensor input = p.layer.mode.autocast ? cast(tape, hidden, 2) : hidden;
  Tensor head_cast = cast_head ? tape.make(weights, 2, Component::autocast) : Tensor();
  Tensor log_sums = tape.make(p.layer.batch * p.layer.length, 4, Component::logits);
  Tensor average = tape.make(p.head.out, 4, Component::logits);
  Tensor loss = scalar(tape);
  tape.record(loss, {input}, {input, head_cast, log_sums, average},
              {gradient(0, input.bytes()), weight_gradient(p.head.trainable ? weights * p.head.size : 0)},
              p.head.trainable);
  return {std::move(loss), Tensor()};
}

// The head and the cross-entropy in chunks of 128 positions, each chunk's tensors kept: Fabric copies all
// logits to fp32 (convert_output), every chunk keeps its log-probabilities, and the loop still holds the
// logits. Backward takes all cross-entropies first, newest chunk first, before any cast or head.
// Lightning-AI/litgpt litgpt/utils.py chunked_cross_entropy; lightning fabric/wrappers.py
// _FabricModule.forward. Under FSDP the published rows leave no room for the fp32 copy: what they hold grows
// by 5.6 bytes a score in the loss and 2 in the backward, so everything stays in 16 bits there.
Outcome litgpt(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  const double scores = p.layer.batch * p.layer.length * p.head.out;
  Tensor last = tape.make(p.finds_last_logits ? scores : 0, p.gathered ? 2 : 4, Component::logits);
  Tensor logits = project(tape, p, hidden);
  Tensor upcast = logits;
  if (!p.gathered) {
    upcast = tape.make(logits.elements(), 4, Component::logits);
    tape.record(upcast, {logits}, {}, {pass(0)});
  }
  logits.free();
  last.free();
  const double positions = std::max(1.0, p.layer.length);
  const double chunk = upcast.bytes() * std::min(1.0, litgpt_chunk / positions);
  // Autocast casts an fp32 head anew for each chunk, and the graph keeps every cast.
  const double casts =
      p.layer.mode.autocast && p.head.size == 4 ? std::ceil(positions / litgpt_chunk) - 1 : 0;
  Tensor heads = tape.make(casts * p.head.in * p.head.out, 2, Component::autocast);
  // Log-probabilities give way to fp32 gradients, these to 16-bit ones, chunk by chunk: never more than both.
  Tensor half = tape.make(upcast.elements(), 2, Component::logits);
  Tensor other_half = tape.make(p.gathered ? 0 : upcast.elements(), 2, Component::logits);
  Tensor loss = scalar(tape);
  tape.record(loss, {upcast}, {half, other_half, heads}, {temporary(chunk), temporary(chunk), reuse(0)});
  return {std::move(loss), std::move(upcast)};
}

// All logits at once, cross-entropies of 128 rows: backward collects the chunks' gradients and joins them.
Outcome litgpt_ce(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor logits = cast(tape, project(tape, p, hidden), 4);
  Tensor shifted = p.layer.batch > 1 ? scale(tape, logits) : logits;  // [..., :-1, :].reshape(-1, vocabulary)
  const double rows = p.layer.batch * p.layer.length;
  const double chunk = logits.bytes() * std::min(1.0, litgpt_chunk / rows);
  Tensor log_probabilities = tape.make(logits.elements(), 4, Component::logits);
  Tensor loss = scalar(tape);
  tape.record(loss, {shifted}, {log_probabilities},
              {temporary(chunk), temporary(chunk), end_temporary(), gradient(0, logits.bytes())});
  return {std::move(loss), std::move(logits)};
}

struct Kernel {
  std::string_view id;
  Outcome (*run)(Tape&, const HeadProgram&, const Tensor&);
};
constexpr Kernel kernels[] = {
    {"stock", stock},
    {"fused_ce", fused},
    {"chunked_nll", chunked_nll},
    {"liger", liger},
    {"cut_cross_entropy", cut},
    {"torchtune_chunked", torchtune_chunked},
    {"torchtune_linear", torchtune_linear},
    {"torchtitan_chunked", torchtitan},
    {"litgpt_chunked", litgpt},
    {"litgpt_chunked_ce", litgpt_ce},
    {"unsloth_fused", unsloth_fused},
    {"unsloth_grpo", unsloth_grpo},
    {"selective_log_softmax", selective_log_softmax},
    {"log_softmax_gather", log_softmax_gather},
    {"liger_preference", liger_preference},
    {"chunked_log_probs", chunked_log_probs},
    {"fused_lm_head", fused_lm_head},
    {"mean_logits", mean_logits},
};

const Kernel* find_kernel(std::string_view id) {
  for (const Kernel& kernel : kernels) {
    if (kernel.id == id) return &kernel;
  }
  return nullptr;
}

// What a language head beside a value head makes and nobody reads: its logits, and their fp32 copy
// (huggingface/trl v0.24.0 trl/models/modeling_value_head.py forward).
struct Unread {
  Tensor weight, logits, upcast;
};

Unread unread_logits(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Unread made;
  const LinearSpec& head = p.unread_head;
  if (head.out == 0) return made;
  const bool autocast = p.layer.mode.autocast;
  if (autocast && head.size == 4) made.weight = tape.make(head.in * head.out, 2, Component::autocast);
  const double elements = hidden.elements() / head.in * head.out;
  made.logits = tape.make(elements, autocast ? 2 : head.size, Component::logits);
  if (made.logits.size() < 4) made.upcast = tape.make(elements, 4, Component::logits);
  return made;
}

Outcome forward(Tape& tape, const HeadProgram& p, Tensor x) {
  tape.doing = "final norm";
  Tensor hidden = final_norm(tape, p, x);
  if (tape.recording) hidden = dropout(tape, std::move(hidden), p.output_dropout);
  tape.doing = "lm_head and loss";
  x.free();
  const Unread unread = unread_logits(tape, p, hidden);
  if (p.head.out == 0) {
    Tensor loss = scalar(tape);
    tape.record(loss, {hidden}, {}, {gradient(0, hidden.bytes())});
    return {std::move(loss), std::move(hidden)};
  }
  const Kernel* kernel = find_kernel(p.kernel);
  return kernel == nullptr ? stock(tape, p, hidden) : kernel->run(tape, p, hidden);
}

}  // namespace

bool is_replayed(std::string_view kernel) { return find_kernel(kernel) != nullptr; }

HeadReplay replay_head(const HeadProgram& p) {
  HeadReplay result;
  Tape tape;
  tape.accumulating = p.accumulating;
  const double elements = p.layer.batch * p.layer.length * p.layer.hidden;
  Tensor x = tape.input(elements, p.input_size, p.input_needs_grad, Component::activations);
  Tensor kv = tape.make(p.kv_bytes, 1, Component::kv_cache);
  tape.mark();
  const uint32_t id = x.id();
  if (p.trace != nullptr) tape.trace = &p.trace->events;
  const double wide = p.outputs_to_fp32 && p.wide_states ? p.encoder_states : 0;
  Tensor states = tape.make(wide, 4, Component::transient);
  const auto events = [&p] { return p.trace == nullptr ? 0 : p.trace->events.size(); };
  Outcome outcome = forward(tape, p, std::move(x));
  result.cached = tape.cached_bytes();
  result.forward_peak = tape.peak();
  const std::size_t forward_end = events();
  tape.end_scope();
  const std::size_t scope_end = events();
  tape.mark();
  // convert_outputs_to_fp32 is wrapped around autocast (accelerate accelerator.py prepare_model).
  if (p.outputs_to_fp32 && outcome.outputs) {
    outcome.outputs = cast(tape, std::move(outcome.outputs), 4);
    tape.mark_as_logits(outcome.outputs);
    if (!p.wide_states) states = tape.make(p.encoder_states, 4, Component::transient);
  }
  result.converted_peak = tape.peak();
  const uint32_t kv_id = kv.id();
  result.with_outputs = tape.live();
  if (!p.keep_outputs) {
    outcome.outputs.free();
    states.free();
    kv.free();
  }
  tape.seed_gradient(outcome.loss);
  result.held = tape.live();
  const std::size_t backward_begin = events();
  tape.mark();
  tape.backward();
  result.backward_peak = tape.peak();
  result.weight_gradients = tape.weight_gradient_bytes();
  result.incoming_gradient = tape.gradient_of(id);
  outcome.loss.free();
  if (p.trace != nullptr) {
    const std::size_t backward_end = events();
    tape.trace = nullptr;
    p.trace->forward_end = forward_end;
    p.trace->scope_end = scope_end;
    p.trace->backward_begin = backward_begin;
    p.trace->backward_end = backward_end;
    p.trace->input = id;
    p.trace->kv = kv_id;
    p.trace->input_gradient = tape.gradient_id(id);
    p.trace->has_input_gradient = result.incoming_gradient > 0;
  }
  tape.forget_gradient(id);
  result.kept = tape.live();
  result.kept[Component::gradients] = 0;
  return result;
}

Snapshot replay_head_without_grad(const HeadProgram& p) {
  Tape tape;
  tape.recording = false;
  const double elements = p.layer.batch * p.layer.length * p.layer.hidden;
  Tensor x = tape.input(elements, p.input_size, false, Component::activations);
  tape.mark();
  Outcome outcome = forward(tape, p, std::move(x));
  if (p.outputs_to_fp32 && outcome.outputs) outcome.outputs = cast(tape, std::move(outcome.outputs), 4);
  return tape.peak();
}

}  // namespace plimsoll::memory
