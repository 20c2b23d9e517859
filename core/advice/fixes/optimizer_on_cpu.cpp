#include "core/advice/fixes/fixes.h"
#include "core/recipe/optimizers.h"

namespace plimsoll::advice {

namespace {

// torchao's optimizer for one GPU. Gradients that leave as they appear cannot be accumulated.
std::vector<Level> optimizer_on_cpu_levels(const FixContext& s) {
  const recipe::Training& t = s.recipe.training;
  const bool there = t.optimizer_in_backward || t.optimizer_offload != "none";
  if (!s.recipe.full() || there || s.recipe.parallel.num_gpus > 1 || t.fp16) return {};
  if (!recipe::plain_adamw(t.optim)) return {};  // it makes torch.optim.AdamW's states, whatever was there
  std::vector<Level> found = {{{{"/training/optimizer_offload", "states"}}, quality::none}};
  if (t.gradient_accumulation_steps == 1) {
    found.push_back({{{"/training/optimizer_offload", "states_and_gradients"}}, quality::parity});
  }
  return found;
}

constexpr Setting optimizer_on_cpu_settings[] = {
    {"hf trl unsloth",
     "Trainer(..., optimizers=(CPUOffloadOptimizer(model.parameters(), torch.optim.AdamW, fused=True), "
     "None))   # torchao.optim; for states_and_gradients add offload_gradients=True"},
    {"loop",
     "optimizer = CPUOffloadOptimizer(model.parameters(), torch.optim.AdamW, fused=True)   # torchao.optim; "
     "for states_and_gradients add offload_gradients=True"},
    {"torchtune",
     "optimizer: {_component_: torchao.optim.CPUOffloadOptimizer}   # for states_and_gradients add "
     "offload_gradients: True"},
};

}  // namespace

const Fix optimizer_on_cpu = {
    .id = "optimizer_on_cpu",
    .title = "The optimizer in host memory",
    .slot = "step_place",
    .needs = Needs::full,
    .to_host = true,
    .effort = "a package",
    .why = "States, and with offloaded gradients these too, lie in RAM; the CPU makes the update.",
    .evidence = "The same update; with offloaded gradients they cannot be clipped by their common norm.",
    .source = "pytorch/ao torchao/optim/cpu_offload.py CPUOffloadOptimizer",
    .levels = optimizer_on_cpu_levels,
    .settings = optimizer_on_cpu_settings,
};

}  // namespace plimsoll::advice
