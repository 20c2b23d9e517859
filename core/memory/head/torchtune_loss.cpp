#include "core/memory/head/torchtune_loss.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/memory/tape/ops.h"

namespace plimsoll::memory {

namespace {

constexpr int chunks = 8;  // num_output_chunks of both losses

bool trains_head(const HeadProgram& p) { return p.head.trainable && p.head.storage == Storage::plain; }

double head_bytes(const HeadProgram& p) { return p.head.in * p.head.out * p.head.size; }

// Eight chunks of logits, made one after another and all alive when the losses begin. A trained head gets a
// gradient for each chunk, added to the first one.
Tensor chunks_of_logits(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  if (!trains_head(p)) return project(tape, p, hidden);
  const double weights = head_bytes(p);
  Tensor logits = tape.make(hidden.elements() / p.head.in * p.head.out, hidden.size(), Component::logits);
  tape.record(logits, {hidden}, {hidden},
              {temporary(weights), temporary(weights), end_temporary(), weight_gradient(weights),
               gradient(0, hidden.bytes())},
              true);
  return logits;
}

// The head on one chunk of rows. The gradient of a trained head goes through all chunks, newest first: the
// first to come makes it and the others add theirs; where older gradients wait, it joins them at the end.
Tensor chunk_of_logits(Tape& tape, const HeadProgram& p, const Tensor& rows, const Tensor& weight,
                       int chunk) {
  if (!trains_head(p)) return project(tape, p, rows);
  Tensor logits = tape.make(rows.elements() / p.head.in * p.head.out, rows.size(), Component::logits);
  const bool stays = chunk == (tape.accumulating ? 0 : chunks - 1);
  const double bytes = head_bytes(p);
  const Step made = stays               ? weight_gradient(bytes)
                    : tape.accumulating ? gradient(1, bytes)
                                        : temporary(bytes);
  tape.record(logits, {rows, weight}, {rows}, {gradient(0, rows.bytes()), made}, true);
  return logits;
}

// Compiled, the loss is computed again from the chunk's logits; else its fp32 log-probabilities stay.
Tensor loss_of_chunk(Tape& tape, const HeadProgram& p, Tensor logits) {
  if (!p.compiled) return cross_entropy(tape, p.layer.mode, cast(tape, logits, 4));
  Tensor loss = scalar(tape);
  tape.record(loss, {logits}, {logits}, {gradient(0, logits.bytes())});
  return loss;
}

}  // namespace

// Compiled, a chunk's loss is one kernel that makes nothing but the 16-bit gradient; else a chunk is cast to
// fp32 and keeps its log-probabilities. The recipe drops the logits before the backward pass. A chunk's
// gradient takes the place of what the chunk kept. pytorch/torchtune
// torchtune/modules/loss/ce_chunked_output_loss.py.
Outcome torchtune_chunked(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor logits = chunks_of_logits(tape, p, hidden);
  const double chunk = std::ceil(logits.elements() / chunks);
  Tensor loss;
  if (p.compiled) {
    loss = scalar(tape);
    tape.record(loss, {logits}, {logits}, {temporary(chunk * logits.size()), reuse(0)});
  } else {
    Tensor half = tape.make(logits.elements(), 2, Component::logits);
    Tensor other_half = tape.make(logits.elements(), 2, Component::logits);
    Tensor upcast = tape.make(chunk, 4, Component::logits);
    upcast.free();
    loss = scalar(tape);
    tape.record(loss, {logits}, {half, other_half}, {temporary(chunk * 8), reuse(0)});
  }
  return {std::move(loss), Tensor()};
}

// Tokens with a label are copied out of the hidden states, at most all of them; of a chunk stay the fp32
// log-probabilities, four bytes a logit in all, and their gradient and its fp32 source stand beside them: 5.0
// at the peak. meta-pytorch/torchtune bd2a0fc torchtune/modules/loss/cross_entropy_loss.py
// LinearCrossEntropyLoss, traced on a CPU.
Outcome torchtune_linear(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  Tensor labelled = tape.make(hidden.elements(), hidden.size(), Component::activations);
  tape.record(labelled, {hidden}, {}, {temporary(hidden.bytes()), gradient(0, hidden.bytes())});
  const double tokens = hidden.elements() / p.head.in;
  Tensor weight = tape.make(0, p.head.size, Component::gradients, trains_head(p));
  std::array<Tensor, chunks> rows;
  for (int i = 0; i < chunks; ++i) {
    const double count = std::floor((tokens + chunks - 1 - i) / chunks);
    rows[static_cast<std::size_t>(i)] = slice(tape, labelled, count * p.head.in);
  }
  labelled.free();
  if (trains_head(p) && tape.accumulating) tape.record(weight, {}, {}, {}, true);  // where their sum ends
  Tensor total = scalar(tape);
  for (int i = 0; i < chunks; ++i) {
    const Tensor& chunk = rows[static_cast<std::size_t>(i)];
    if (chunk.elements() <= 0) continue;
    Tensor loss = loss_of_chunk(tape, p, chunk_of_logits(tape, p, chunk, weight, i));
    Tensor sum = scalar(tape);
    tape.record_unread(sum, {total, loss}, {pass(0), pass(1)});
    total = std::move(sum);
  }
  return {std::move(total), Tensor()};
}

}  // namespace plimsoll::memory
