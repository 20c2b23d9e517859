#include "core/memory/allocator/reserve.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/memory/layers/lengths.h"

namespace plimsoll::memory {

namespace {

// One process: its allocator, and the block of every tensor of the run that it began with.
struct Process {
  CachingAllocator cuda;
  CachingAllocator gathering;  // a stream of its own, whose blocks no other gets
  const AllocatorRun& how;
  std::vector<uint32_t> blocks;
  Reserve result;

  Process(const Unrolled& run, const AllocatorRun& settings)
      : cuda(settings.settings, settings.capacity, settings.frugal),
        gathering(settings.settings, settings.capacity, settings.frugal),
        how(settings),
        blocks(run.tensors, CachingAllocator::none) {}

  // False when a request failed.
  bool play(const Unrolled& run, const Section& section, std::vector<uint32_t>& places) {
    // Trainer.training_step empties it when the loss is known, in step 0 and every n-th one.
    if (section.phase == Phase::loss && how.empty_cache_steps > 0 &&
        (section.step == 1 || how.empty_cache_steps == 1)) {
      cuda.empty_cache();
    }
    for (std::size_t i = section.from; i < section.to; ++i) {
      const Event& event = run.events[i];
      uint32_t& block = places[event.tensor];
      CachingAllocator& pool = event.component == Component::gathered ? gathering : cuda;
      if (event.kind == Event::Kind::allocate) {
        block = pool.allocate(static_cast<uint64_t>(std::ceil(event.bytes)));
        if (block == CachingAllocator::none) {
          result.died_in = static_cast<std::size_t>(&section - run.sections.data());
          result.died_at = i;
          result.held = cuda.allocated() + gathering.allocated();
          return false;
        }
      } else if (event.kind == Event::Kind::release && block != CachingAllocator::none) {
        pool.release(block);
        block = CachingAllocator::none;
      }
    }
    uint64_t& highest = result.by_phase[static_cast<std::size_t>(section.phase)];
    highest = std::max(highest, cuda.peak_reserved() + gathering.peak_reserved());
    return true;
  }

  bool from_load(const Unrolled& run) {
    uint8_t step = 0;
    for (const Section& section : run.sections) {
      if (section.step != step) {
        if (step == 0) {
          result.loaded_allocated = cuda.allocated();
          result.loaded_reserved = cuda.reserved();
        }
        step = section.step;
      }
      if (!play(run, section, blocks)) return false;
    }
    return true;
  }

  // One more step, of a batch of another length. What outlives a step is there from the first run.
  bool one_step(const Unrolled& run) {
    std::vector<uint32_t> places(run.tensors, CachingAllocator::none);
    for (const Section& section : run.sections) {
      if (section.step == 2 && !play(run, section, places)) return false;
    }
    for (const uint32_t block : places) {
      if (block != CachingAllocator::none) cuda.release(block);
    }
    return true;
  }

  Reserve finish(bool died) {
    result.died = died;
    result.retries = cuda.retries();
    if (died) return result;
    result.allocated = cuda.peak_allocated() + gathering.peak_allocated();
    result.reserved = cuda.peak_reserved() + gathering.peak_reserved();
    // Steps repeat: from the third on, each instant finds reserved what any instant ever needed.
    for (std::size_t p = static_cast<std::size_t>(Phase::forward); p < result.by_phase.size(); ++p) {
      result.by_phase[p] = result.reserved;
    }
    return result;
  }
};

Unrolled unroll_at(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                   double length) {
  recipe::Recipe changed = recipe;
  changed.training.max_length = static_cast<uint64_t>(length);
  changed.data.longest_length = 0;
  return unroll(network, changed, machine);
}

// Runs of the lengths that the run meets, the first one whole.
std::vector<Unrolled> unroll_met(const model::Architecture& network, const recipe::Recipe& recipe,
                                 const Machine& machine) {
  std::vector<Unrolled> runs;
  if (recipe.vision.images_per_sample == 0 && recipe.training.max_steps != 1) {
    for (const double length : met_lengths(recipe))
      runs.push_back(unroll_at(network, recipe, machine, length));
  }
  if (runs.empty()) runs.push_back(unroll(network, recipe, machine));
  return runs;
}

Reserve simulate_all(const std::vector<Unrolled>& runs, const AllocatorRun& how) {
  Process process(runs.front(), how);
  bool died = !process.from_load(runs.front());
  for (std::size_t i = 1; i < runs.size() && !died; ++i) died = !process.one_step(runs[i]);
  return process.finish(died);
}

}  // namespace

Reserve simulate(const Unrolled& run, const AllocatorRun& how) {
  Process process(run, how);
  return process.finish(!process.from_load(run));
}

bool simulates(const recipe::Recipe& recipe) {
  const Strategy strategy = strategy_of(recipe);
  const bool one_stream = strategy == Strategy::none || strategy == Strategy::ddp;
  const recipe::Training& t = recipe.training;
  return unrolls(recipe) && one_stream && !t.activation_offloading && !t.torch_compile &&
         t.optimizer_offload == "none";
}

Holding holding(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
                uint64_t capacity) {
  const std::vector<Unrolled> runs = unroll_met(network, recipe, machine);
  AllocatorRun how;
  how.settings = read_allocator_settings(recipe.hardware.cuda_alloc_conf);
  how.empty_cache_steps = recipe.training.torch_empty_cache_steps;
  Holding result;
  result.roomy = simulate_all(runs, how);
  how.frugal = true;
  result.frugal = simulate_all(runs, how);
  how.frugal = false;
  result.pressed = result.roomy.reserved > capacity;
  if (result.pressed) {
    how.capacity = capacity;
    result.on_card = simulate_all(runs, how);
  }
  result.needed = std::min(result.roomy.reserved, result.frugal.reserved);
  if (result.pressed && !result.on_card.died)
    result.needed = std::min(result.needed, result.on_card.reserved);
  return result;
}

}  // namespace plimsoll::memory
