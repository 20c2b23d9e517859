// huggingface/trl v1.15 and v1.16 trl/trainer/utils.py add_fused_lm_head, trl/kernels/chunked_logprob.py
// ChunkedLogProbFunction: tiles of the logits, 4,096 tokens by 32,768 words, are folded into statistics, and
// made again in the backward. Gradients add up in fp32 whatever the parameters are.
#include <algorithm>

#include "core/memory/head/log_probs.h"

namespace plimsoll::memory {

namespace {

constexpr double tile_tokens = 4096;  // TOKEN_CHUNK_SIZE
constexpr double tile_words = 32768;  // _CHUNKED_LOGPROB_CHUNK_SIZE
constexpr double statistics = 7;      // fp32 vectors over the tokens in the forward

}  // namespace

Outcome fused_lm_head(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
  const double of_sequence =
      p.scoring.tokens > 0 ? std::min(p.scoring.tokens, p.layer.length) : p.layer.length;
  const double tokens = p.layer.batch * of_sequence, weights = p.head.in * p.head.out;
  const int computed = p.layer.mode.autocast ? 2 : hidden.size();
  const double rows = std::min(tokens, tile_tokens), words = std::min(p.head.out, tile_words);
  const double casts = (hidden.size() != computed ? rows * p.head.in * computed : 0) +
                       (p.head.size != computed ? words * p.head.in * computed : 0);
  const double tile = rows * tile_words * computed + casts;  // mm_buf, however few words there are
  // Backward names a tile's cast of the weight, which is still there when the next one is made.
  const bool several = tokens > tile_tokens || p.head.out > tile_words;
  const double last_cast = several && p.head.size != computed ? words * p.head.in * computed : 0;
  // hidden_states[:, :-1][mask]: a copy, and where its rows came from; backward spreads them out twice.
  Tensor scored = tape.make(tokens * p.head.in, hidden.size(), Component::logits);
  Tensor places = tape.make(2 * tokens, 8, Component::logits);
  tape.record(scored, {hidden}, {places}, {temporary(hidden.bytes()), gradient(0, hidden.bytes())});
  Tensor kept = tape.make(2 * tokens, 4, Component::logits);
  Tensor forward = tape.make(tile + statistics * tokens * 4, 1, Component::logits);
  forward.free();
  Tensor loss = scalar(tape);
  const double trained = p.head.trainable ? weights : 0;
  tape.record(loss, {scored}, {scored, kept},
              {temporary(tile + last_cast), temporary(scored.size() == 4 ? 0 : scored.elements() * 4),
               temporary(p.head.size == 4 ? 0 : trained * 4), gradient(0, scored.bytes()),
               weight_gradient(trained * p.head.size)},
              p.head.trainable);
  return {std::move(loss), Tensor()};
}

}  // namespace plimsoll::memory
