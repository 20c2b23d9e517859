#include "core/advice/habits.h"

#include "core/recipe/strategies.h"
#include "core/run/phrases.h"

namespace plimsoll::advice {

namespace {

using memory::Component;

double device_with(const run::Run& run, const recipe::Recipe& changed) {
  const memory::Replay replay = memory::replay(run.network, changed, run.machine);
  return memory::usual_sizes(card_of(run), like(run, run.network, changed, replay)).device;
}

}  // namespace

std::vector<Habit> habits_of(const run::Run& run) {
  const recipe::Recipe& r = run.resolved.recipe;
  const memory::Instant& peak = run.replay.at_peak();
  const memory::Sizes sizes = sizes_of(peak, run);
  std::vector<Habit> found;
  const auto add = [&](const char* code, const std::string& message, double bytes, const char* source) {
    found.push_back({code, message, source, bytes});
  };
  if (r.peft.on && r.peft.r >= 16) {
    recipe::Recipe half = r;
    half.peft.r /= 2;
    const double saved = device_with(run, r) - device_with(run, half);
    // A method whose r is a number of blocks takes more with fewer.
    if (saved >= 0 && saved < 0.25 * 1073741824.0) {
      add("rank_cut_saves_little",
          "Halving the rank to " + std::to_string(half.peft.r) + " would save " + run::gib(saved) + " of " +
              run::gib(sizes.device) + ": it is not what fills the card.",
          saved, "replay with half the rank");
    }
  }
  if (r.hardware.cuda_alloc_conf.find("max_split_size_mb") != std::string::npos) {
    add("max_split_size_against_shortage",
        "max_split_size_mb can give back at most the idle part of the reserved memory, " +
            run::gib(sizes.reserved - sizes.needed + static_cast<double>(run.context.typical)) +
            " here; the tensors of the peak need " + run::gib(sizes.allocated) + ".",
        0, "pytorch docs notes/cuda; c10/cuda/CUDACachingAllocator.cpp");
  }
  if (!r.model_args.max_memory.empty()) {
    add("max_memory_as_a_limit",
        "max_memory places weights and limits nothing in training: of the peak, " +
            run::gib(sizes.allocated - peak.live[Component::weights]) + " are not weights.",
        0, "huggingface/accelerate utils/modeling.py get_max_memory");
  }
  if (r.quantized() &&
      peak.live[Component::activations] + peak.live[Component::logits] + peak.live[Component::boundaries] >
          0.5 * peak.live.total()) {
    add("quantisation_leaves_activations",
        "A quantised base shrinks the weights, not the activations and logits: these are " +
            run::gib(peak.live[Component::activations] + peak.live[Component::logits] +
                     peak.live[Component::boundaries]) +
            " of the peak.",
        0, "bitsandbytes functional.py; the replay");
  }
  if (r.parallel.num_gpus > 1 && strategy_of(r) == recipe::Strategy::ddp) {
    add("ddp_does_not_pool_memory",
        "Under DDP every GPU holds a whole copy: " + std::to_string(r.parallel.num_gpus) +
            " cards each need " + run::gib(sizes.device) + ", their memory does not add up.",
        0, "pytorch torch/nn/parallel/distributed.py");
  }
  add("empty_cache_each_step",
      "torch.cuda.empty_cache() in the loop frees no tensor; it returns " +
          run::gib(sizes.reserved - sizes.allocated) +
          " of cached blocks that the next step asks the driver for again, more slowly.",
      0, "pytorch docs notes/cuda, memory management");
  add("dataloader_workers",
      "Fewer dataloader workers, TOKENIZERS_PARALLELISM and OMP_NUM_THREADS save host RAM and CPU, no memory "
      "of the GPU.",
      0, "pytorch torch/utils/data/dataloader.py; huggingface/tokenizers");
  return found;
}

}  // namespace plimsoll::advice
