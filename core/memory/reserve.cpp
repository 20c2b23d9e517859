#include "core/memory/reserve.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::memory {

Reserve simulate(const Unrolled& run, const AllocatorRun& how) {
  Reserve result;
  CachingAllocator cuda(how.settings, how.capacity, how.frugal);
  std::vector<uint32_t> blocks(run.tensors, CachingAllocator::none);
  uint8_t step = 0;
  for (const Section& section : run.sections) {
    if (section.step != step) {
      if (step == 0) {
        result.loaded_allocated = cuda.allocated();
        result.loaded_reserved = cuda.reserved();
      }
      step = section.step;
    }
    // Trainer.training_step empties it when the loss is known, in step 0 and every n-th one.
    if (section.phase == Phase::loss && how.empty_cache_steps > 0 &&
        (step == 1 || how.empty_cache_steps == 1)) {
      cuda.empty_cache();
    }
    for (std::size_t i = section.from; i < section.to; ++i) {
      const Event& event = run.events[i];
      uint32_t& block = blocks[event.tensor];
      if (event.kind == Event::Kind::allocate) {
        block = cuda.allocate(static_cast<uint64_t>(std::ceil(event.bytes)));
        if (block == CachingAllocator::none) {
          result.died = true;
          result.retries = cuda.retries();
          return result;
        }
      } else if (event.kind == Event::Kind::release) {
        cuda.release(block);
        block = CachingAllocator::none;
      }
    }
    uint64_t& highest = result.by_phase[static_cast<std::size_t>(section.phase)];
    highest = std::max(highest, cuda.peak_reserved());
  }
  result.allocated = cuda.peak_allocated();
  result.reserved = cuda.peak_reserved();
  result.retries = cuda.retries();
  // Steps repeat: from the third on, each instant finds reserved what any instant ever needed.
  for (std::size_t p = static_cast<std::size_t>(Phase::forward); p < result.by_phase.size(); ++p) {
    result.by_phase[p] = result.reserved;
  }
  return result;
}

Holding holding(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                uint64_t capacity) {
  const Unrolled run = unroll(network, recipe, machine);
  AllocatorRun how;
  how.settings = read_allocator_settings(recipe.hardware.cuda_alloc_conf);
  how.empty_cache_steps = recipe.training.torch_empty_cache_steps;
  Holding result;
  result.roomy = simulate(run, how);
  how.frugal = true;
  result.frugal = simulate(run, how);
  how.frugal = false;
  result.pressed = result.roomy.reserved > capacity;
  if (result.pressed) {
    how.capacity = capacity;
    result.on_card = simulate(run, how);
  }
  result.needed = std::min(result.roomy.reserved, result.frugal.reserved);
  if (result.pressed && !result.on_card.died)
    result.needed = std::min(result.needed, result.on_card.reserved);
  return result;
}

}  // namespace plimsoll::memory
