// Moments beside the steps at which runs die: a checkpoint is written, the best one is read back, adapters
// are merged into their base.
//
//     for (const Aside& aside : asides(plan, rank))
//       print(name(aside.phase), aside.beside.total(), aside.host_bytes);
//
// On the GPU they stand beside what stands between two steps; on the host beside what is there all the time.
//
// Sources: huggingface/transformers trainer.py _save_checkpoint, save_model, _load_best_model;
// huggingface/accelerate accelerator.py get_state_dict, utils/fsdp_utils.py save_fsdp_model,
// save_fsdp_optimizer; pytorch/pytorch torch/distributed/fsdp/_state_dict_utils.py; deepspeedai/DeepSpeed
// deepspeed/runtime/engine.py _zero3_consolidated_16bit_state_dict; huggingface/peft tuners/lora/layer.py,
// tuners/lora/bnb.py merge, get_delta_weight; bitsandbytes nn/modules.py Params4bit.
#pragma once

#include <string_view>
#include <vector>

#include "core/memory/step/phase.h"
#include "core/memory/step/step.h"

namespace plimsoll::memory {

struct Aside {
  Phase phase;      ///< save, load_best, merge
  Snapshot beside;  ///< on the GPU
  double host_bytes = 0;
  std::string_view what;
};

/// In the order in which they come. `rank`: what one GPU holds.
std::vector<Aside> asides(const Plan& plan, const Sharding& rank);

}  // namespace plimsoll::memory
