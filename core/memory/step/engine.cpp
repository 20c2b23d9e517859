#include "core/memory/step/engine.h"

#include "core/recipe/stacks.h"

namespace plimsoll::memory {

namespace {

// unslothai/unsloth-zoo 2025.12.4 and 2026.10.9 vllm_utils.py load_vllm, standby_target_gpu_util: whatever
// was asked for, by a tenth of the card in GiB; vLLM 0.11 and later gets a twentieth less. (Until 2026.3
// cards below 25 GiB got up to 5 points more.)
struct Tier {
  double tenth, share;
};
constexpr Tier standby_tiers[] = {{4.0, 0.925}, {2.5, 0.9},   {2.0, 0.825},
                                  {1.4, 0.8},   {1.0, 0.775}, {0, 0.75}};

}  // namespace

bool sets_engine_utilization(const recipe::Recipe& r) {
  return recipe::stack_traits(r.stack).vllm_share_by_card && r.rl.vllm_enable_sleep_mode &&
         recipe::version_at_least(r.versions.unsloth, "2025.12");
}

double engine_utilization(const recipe::Recipe& r, double total_bytes) {
  const double asked = r.rl.vllm_gpu_memory_utilization;
  if (!sets_engine_utilization(r) || total_bytes <= 0) return asked;
  const double tenth = total_bytes / 1073741824.0 / 10;
  for (const Tier& tier : standby_tiers) {
    if (tenth >= tier.tenth) return tier.share * 0.95;
  }
  return asked;
}

}  // namespace plimsoll::memory
