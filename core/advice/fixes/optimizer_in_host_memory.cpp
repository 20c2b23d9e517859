#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> levels(const Situation& s) {
  const recipe::Parallel& p = s.recipe.parallel;
  if (p.strategy.rfind("zero", 0) != 0 || p.zero.offload_optimizer != "none") return {};
  return {{{{"/parallel/zero_optimization/offload_optimizer/device", "cpu"}}, quality::none}};
}

constexpr Setting settings[] = {
    {"", "{\"zero_optimization\": {\"offload_optimizer\": {\"device\": \"cpu\"}}}"},
};

}  // namespace

const Fix optimizer_in_host_memory = {
    "optimizer_in_host_memory",
    "Optimizer states in host memory",
    "offload",
    Kind::choice,
    Needs::nothing,
    "one setting",
    "Master weights and states lie in RAM and the CPU makes the update.",
    "The same update.",
    "deepspeedai/DeepSpeed docs, ZeRO-Offload; Ren et al. 2021, arXiv:2101.06840",
    levels,
    settings};

}  // namespace plimsoll::advice
