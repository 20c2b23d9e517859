#include "core/run/card_sizes.h"

#include <algorithm>

#include "core/recipe/strategies.h"

namespace plimsoll::run {

namespace {

// A verdict rests on the typical context and on the highest one. Forward and backward own a workspace each.
double held_beyond(const Run& run, const hardware::Gpu& gpu) {
  const recipe::Recipe& r = run.resolved.recipe;
  const hardware::Context there = context_on(gpu, r.hardware, recipe::processes(r));
  const double workspaces =
      2 * (static_cast<double>(hardware::cublas_workspace_bytes(gpu)) - run.machine.workspace_bytes);
  return workspaces + std::max(static_cast<double>(there.typical) - static_cast<double>(run.context.typical),
                               static_cast<double>(there.high) - static_cast<double>(run.context.high));
}

}  // namespace

CardsOfSize cards_of(const Run& run, const hardware::Tier& tier, const Catalog& catalog) {
  std::vector<const hardware::Gpu*> cards, suitable;
  for (const std::string& id : tier.gpus) cards.push_back(catalog.find_gpu(id));
  std::copy_if(cards.begin(), cards.end(), std::back_inserter(suitable),
               [&](const hardware::Gpu* gpu) { return suits(run, *gpu); });
  CardsOfSize there;
  there.suited = !suitable.empty();
  for (const hardware::Gpu* gpu : suitable.empty() ? cards : suitable) {
    const double usable = usable_for(run, gpu->usable_bytes);
    const double room = std::max(0.0, usable - held_beyond(run, *gpu));
    there.usable = there.gpus.empty() ? usable : std::min(there.usable, usable);
    there.room = there.gpus.empty() ? room : std::min(there.room, room);
    there.gpus.push_back(gpu->id);
  }
  return there;
}

bool suits(const Run& run, const hardware::Gpu& gpu) {
  const recipe::Recipe& r = run.resolved.recipe;
  const bool sixteen = r.training.bf16 || r.model_args.dtype == "bfloat16";
  const bool flash = r.model_args.attn_implementation.rfind("flash_attention", 0) == 0;
  const std::string_view vendor = run.gpu == nullptr ? "NVIDIA" : std::string_view(run.gpu->vendor);
  return gpu.vendor == vendor && gpu.whole_card() && (gpu.bf16 || !sixteen) &&
         (gpu.flash_attention_2 || !flash);
}

}  // namespace plimsoll::run
