#include "core/advice/fixes/fixes.h"
#include "core/recipe/tasks.h"

namespace plimsoll::advice {

namespace {

std::vector<Level> vllm_sleep_mode_levels(const FixContext& s) {
  const recipe::Rl& rl = s.recipe.rl;
  const bool colocated = task_of(s.recipe).online && rl.colocates_vllm();
  if (!colocated || rl.vllm_enable_sleep_mode) return {};
  return {{{{"/rl/vllm_enable_sleep_mode", true}}, quality::none}};
}

constexpr Setting vllm_sleep_mode_settings[] = {
    {"hf trl", "GRPOConfig(vllm_enable_sleep_mode=True)"},
    {"unsloth", "UNSLOTH_VLLM_STANDBY=1"},
    {"axolotl", "trl: {vllm_enable_sleep_mode: true}"},
    {"ms-swift", "--sleep_level 1"},
    {"agilerl", "VLLMConfig(sleep_mode=True)"},
};

}  // namespace

const Fix vllm_sleep_mode = {
    .id = "vllm_sleep_mode",
    .title = "vLLM sleeps while the policy trains",
    .slot = "vllm_sleep",
    .effort = "one setting",
    .why =
        "Between generations vLLM's weights wait in RAM and its cache is given up, so that training has "
        "the whole card.",
    .evidence =
        "The same completions and the same update; waking up copies the weights back at every generation.",
    .source =
        "huggingface/trl docs vllm_integration, vllm_enable_sleep_mode; docs.vllm.ai features/sleep_mode",
    .levels = vllm_sleep_mode_levels,
    .settings = vllm_sleep_mode_settings,
};

}  // namespace plimsoll::advice
