// Layers spread over several GPUs by device_map="auto": one process, one GPU at work at a time.
//
//     std::vector<model::Architecture> parts = split_by_device_map(network, recipe, 2);
//     replay(parts[1], recipe, machine);          // the second GPU: its layers, and the head with the loss
//
// Each part is a network of its own, so that everything about a layer, a head or an optimizer holds for it as
// it does for the whole. Source: huggingface/accelerate src/accelerate/utils/modeling.py get_balanced_memory,
// infer_auto_device_map: every GPU but the last gets its even share and 1.25 blocks more; the first keeps
// room for the largest layer; the last takes the rest. Published runs that recorded both GPUs agree
// (modelscope/ms-swift benchmark of December 2023, Qwen-14B: 60.42 and 72.31 GiB).
#pragma once

#include <vector>

#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

/// What each of `gpus` cards holds. A head that is tied to the embedding stays with it, on the first.
std::vector<model::Architecture> split_by_device_map(const model::Architecture& network,
                                                     const recipe::Recipe& recipe, uint64_t gpus);

}  // namespace plimsoll::memory
