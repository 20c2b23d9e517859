// What a training step has to do, counted from the network's shapes: multiplications, bytes moved, weights
// unpacked.
//
//     Work work = work_of(network, recipe);          // one micro-batch on one GPU
//     work.batch.flops();                            // 6 x parameters x tokens for LoRA under checkpointing
//     work.tokens_written;                           // 256: GRPO writes completions first, token by token
//
// Per token and weight a matrix costs 2 operations forward, 2 for the gradient of its input, 2 for its own
// gradient when it is trained, and 2 more where the layer is computed again under checkpointing.
#pragma once

#include "core/memory/parameters/parameters.h"
#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::time {

/// What layers and head compute, all passes together.
struct Computed {
  double matmul_flops = 0;     ///< of linear layers and head
  double attention_flops = 0;  ///< of the scores and their products with V
  double weight_bytes = 0;     ///< weights read by these multiplications
  double moved_bytes = 0;      ///< by everything between them: norms, activations, casts, loss
  double unpacked = 0;         ///< weights expanded from 4 or 8 bits
  double layer_passes = 0;     ///< layers x (forward, again, backward): what Python launches
  double flops() const { return matmul_flops + attention_flops; }
};

/// Of one micro-batch.
struct Work {
  double tokens = 0;          ///< that the text part reads with a graph
  Computed batch;             ///< the reference's passes and those of a value network among it
  Computed token;             ///< of writing one token in each completion, a cache half as long read with it
  double tokens_written = 0;  ///< one after another, once a step: as many as a completion may have
  double step_bytes = 0;      ///< read and written by the optimizer, once a step
  double paged_bytes = 0;     ///< of its states, over PCIe both ways where they are paged
  double trained = 0;         ///< elements that it steps, counted as fp32
  double traffic = 0;         ///< between GPUs, each micro-batch
  double step_traffic = 0;    ///< between GPUs, once a step
  double host_traffic = 0;    ///< over PCIe to host memory, each micro-batch
  double host_waited = 0;     ///< over PCIe, each micro-batch, while nothing is computed
  double host_step = 0;       ///< over PCIe, once a step
  double host_elements = 0;   ///< parameters that the CPU updates
};

/// Tokens of one sample as the GPU sees it: the mean length of the data where it is known and samples are not
/// packed, and what they are padded with; else max_length.
double sample_length(const recipe::Recipe& recipe);

/// What `optim` reads, writes and pages for the work's trained elements, in place of what was there.
void set_optimizer(Work& work, const std::string& optim);

/// `known_parameters`: what memory::count_parameters says of both, where that is known.
Work work_of(const model::Architecture& network, const recipe::Recipe& recipe,
             const memory::Parameters* known_parameters = nullptr);

}  // namespace plimsoll::time
