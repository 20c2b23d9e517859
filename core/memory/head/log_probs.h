// Losses that need the log-probability of each token rather than its cross-entropy: preference and
// reinforcement learning.
//
//     HeadProgram head = ...;
//     head.kernel = log_prob_kernel(recipe);      // "selective_log_softmax" from TRL 0.15 on
//     head.scoring.tokens = 512;                  // only the completion has logits
//     replay_head(head).backward_peak.total();    // 12 to 16 bytes a logit under autocast
//
// The bytes of each kernel were read off PyTorch's own allocations on a CPU, forward and backward, with the
// code of the TRL versions named below (tests/measured/log_probs.py).
#pragma once

#include <string>

#include "core/memory/head/head_kernel.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

/// TRL from 0.15 (trainer/utils.py selective_log_softmax): one sequence after another.
Outcome selective_log_softmax(Tape& tape, const HeadProgram& p, const Tensor& hidden);
/// TRL before 0.15: log_softmax over all logits at once, then gather.
Outcome log_softmax_gather(Tape& tape, const HeadProgram& p, const Tensor& hidden);
/// Liger's fused head and preference loss (linkedin/Liger-Kernel chunked_loss/): one sample after another,
/// the gradients are made in the forward.
Outcome liger_preference(Tape& tape, const HeadProgram& p, const Tensor& hidden);
/// AgileRL (agilerl/algorithms/core/llm_ops/fused_logprobs.py): tiles of rows whose logits take 256 MiB in
/// fp32, made again in the backward.
Outcome chunked_log_probs(Tape& tape, const HeadProgram& p, const Tensor& hidden);

/// TRL from 1.15 in SFT, DPO, KTO, GRPO and RLOO: tiles of tokens and words (fused_lm_head.cpp).
Outcome fused_lm_head(Tape& tape, const HeadProgram& p, const Tensor& hidden);

/// Which of them runs; `training.loss_kernel` where that says something else than how a cross-entropy is
/// made.
std::string log_prob_kernel(const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
