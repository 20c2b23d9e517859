// Unsloth's loss: which kernel a batch meets, and into how many chunks the fused one cuts it.
//
//     unsloth_chunks({.tokens = 4096, .vocabulary = 151936, .free = 9.5e9}, "2026.10.9");   // 4
//
// Source: unslothai/unsloth-zoo unsloth_zoo/fused_losses/cross_entropy_loss.py get_chunk_size, UnslothFusedLoss.
#pragma once

#include <string>
#include <string_view>

#include "core/memory/head/head_kernel.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

/// The loss kernel that a batch of so many tokens meets: from December 2024 to October 2025 one of up to
/// 1,024 has its logits made (unsloth/models/llama.py CausalLM_fast_forward, RETURN_LOGITS, 2024.12.12 to
/// 2025.10.7).
std::string unsloth_loss(const recipe::Recipe& recipe, double tokens);
/// Whether the next token can therefore take less.
bool unsloth_loss_has_threshold(const recipe::Recipe& recipe);

struct ChunkedLogits {
  double tokens = 0;
  double vocabulary = 0;
  double free = 0;  ///< bytes that the first forward finds free on the GPU
  double fixed =
      0;  ///< bytes that no chunk makes smaller: the gradients of the hidden states and of a trained head
};

/// How many chunks the release cuts the tokens into. Half of the free memory is theirs: until 2026.6 for fp32 logits
/// and to the nearest multiple of four, from 2026.7 on at most 4 GiB and rounded up, from 2026.9.3 on for 16 bytes a
/// logit, what is fixed taken off.
double unsloth_chunks(const ChunkedLogits& logits, std::string_view release);

/// GRPO: the network hands over its last hidden states (UNSLOTH_RETURN_HIDDEN_STATES), and log-probabilities are
/// made of one sequence after another (unsloth_zoo/rl_replacements.py UnslothEfficientGRPO in 2025.8.9,
/// chunked_hidden_states_selective_log_softmax in 2026.10.9). Of its releases the first ones make a sequence's
/// gradient in the forward, later ones keep 16-bit logits of all and cut finer; both come to about this.
Outcome unsloth_grpo(Tape& tape, const HeadProgram& p, const Tensor& hidden);

/// Head and loss chunk by chunk (HeadProgram::chunks), each chunk's gradient computed in the forward.
Outcome unsloth_fused(Tape& tape, const HeadProgram& p, const Tensor& hidden);

}  // namespace plimsoll::memory
