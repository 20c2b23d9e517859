// How the states of a run lie on one of several GPUs, and what a rank borrows from the others while it works.
//
//     Sharding s = shard(network, recipe, weigh(network, recipe));
//     s.weights + s.optimizer;        // resident bytes of one rank
//     s.lent[0][0].last;              // parameters gathered while the last layer of that group goes backward
//     replay_pass(settings of s.computing);   // layers compute in the type that s.computing says
//
// Strategies, as they are written in parallel.strategy:
//   ddp      every rank holds all; flat buckets hold a second copy of the gradients
//   fsdp     FullyShardedDataParallel: one flat parameter a layer, gathered before use, freed after
//   fsdp2    fully_shard: the same by parameter, gathered into one buffer and copied out of it
//   zero1-3  DeepSpeed: fp32 master weights and states in partitions; gradients too (2), parameters too (3)
//
// Sources: pytorch/pytorch torch/distributed/fsdp/_runtime_utils.py, _flat_param.py (FSDP);
// torch/distributed/_composable/fsdp/_fsdp_param_group.py, _fsdp_collectives.py (FSDP2);
// torch/nn/parallel/distributed.py (DDP); deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py,
// stage3.py, partitioned_param_coordinator.py; huggingface/accelerate src/accelerate/accelerator.py.
#pragma once

#include <vector>

#include "core/memory/parameters.h"

namespace plimsoll::memory {

enum class Strategy { none, ddp, fsdp, fsdp2, zero1, zero2, zero3 };

/// Bytes of other ranks' parameters that one rank holds while a layer of a group works.
struct Lent {
  double forward = 0;  ///< while it runs forward
  double last = 0;     ///< while the last layer goes backward, the one before it fetched ahead
  double first = 0;    ///< while the first layer goes backward
};

struct Sharding {
  Strategy strategy = Strategy::none;
  double ranks = 1;
  recipe::Recipe computing;  ///< the recipe as the layers see it: gathered parameters may have another type

  // On one rank, all the time.
  double weights = 0;
  double adapters = 0;
  double optimizer = 0;  ///< states and fp32 master weights
  double paged = 0;      ///< states in managed memory
  double buckets = 0;    ///< communication buffers that are never freed

  double backward_buckets = 0;  ///< and those that exist from the loss to the end of the backward pass
  double gradients = 0;         ///< of all trained parameters when the optimizer steps
  double step = 0;              ///< what the step makes besides
  double gradient_share = 1;    ///< of a layer's gradient: what is left on this rank once the layer is done
  double gradient_copies = 0;   ///< of a layer's gradient: what is made besides to hand it to the others
  bool reduces_root_last = false;  ///< gradients outside the layers wait, whole, for the end of the backward

  double root = 0;  ///< gathered parameters outside the layers, from the forward to the end of the backward
  double head = 0;  ///< gathered only while the head and the loss work
  bool keeps_boundaries = false;          ///< see shard(): boundaries outlive their layer's backward
  std::vector<std::vector<Lent>> lent;    ///< by stack and group of the network
  double host = 0;                        ///< RAM of one rank for what is offloaded

  bool on() const { return strategy != Strategy::none; }
  /// Gradients of finished layers are there as a share, not as the tensors that autograd made.
  bool shares_gradients() const { return gradient_share != 1; }
};

Strategy strategy_of(const recipe::Recipe& recipe);

/// FSDP with reentrant checkpointing over frozen layers (LoRA) keeps every layer's input and its gradient
/// until the whole backward is over: the hook that frees a frozen unit's parameters holds the AccumulateGrad
/// node of that input (torch/distributed/fsdp/_runtime_utils.py _register_post_backward_reshard_only_hook,
/// torch/autograd/graph.py register_multi_grad_hook).
Sharding shard(const model::Architecture& network, const recipe::Recipe& recipe,
               const Parameters& parameters);

/// The RAM that all ranks of a machine share, for the report.
double host_of_all_ranks(const Sharding& sharding);

}  // namespace plimsoll::memory
