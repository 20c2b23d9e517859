#include "core/advice/fixes/fixes.h"
#include "core/recipe/tasks.h"

namespace plimsoll::advice {

namespace {

// What vLLM needs to start: the policy's weights, keys and values of one sequence of full length,
// and what its profiling run takes (a tenth of the weights and a GiB are kept for that).
double least_bytes(const FixContext& s) {
  double per_token = 0;
  for (const model::LayerGroup& group : s.network.stacks.front().groups) {
    per_token += 2 * 2 * static_cast<double>(group.layers * group.kv_heads * group.head_dim);
  }
  const double weights =
      recipe::vllm_weights(s.recipe, static_cast<double>(model::parameter_count(s.network)));
  return 1.1 * weights + per_token * static_cast<double>(s.recipe.training.max_length) + (1 << 30);
}

std::vector<Level> vllm_memory_share_levels(const FixContext& s) {
  std::vector<Level> found;
  const recipe::Rl& rl = s.recipe.rl;
  const bool colocated = task_of(s.recipe).online && rl.colocates_vllm();
  if (!colocated || s.gpu == nullptr || s.gpu->usable_bytes == 0) return found;
  const double least = least_bytes(s) / static_cast<double>(s.gpu->usable_bytes);
  // A share that is too small to start with is the one case in which a larger one helps.
  const bool starts = rl.vllm_gpu_memory_utilization >= least;
  for (const double share : {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1}) {
    if ((starts && share >= rl.vllm_gpu_memory_utilization - 0.01) || share < least) continue;
    found.push_back({{{"/rl/vllm_gpu_memory_utilization", share}}, quality::none});
  }
  return found;
}

constexpr Setting vllm_memory_share_settings[] = {
    {"hf trl", "GRPOConfig(vllm_gpu_memory_utilization={vllm_gpu_memory_utilization})"},
    {"unsloth",
     "FastLanguageModel.from_pretrained(..., gpu_memory_utilization={vllm_gpu_memory_utilization})"},
    {"axolotl", "trl: {vllm_gpu_memory_utilization: {vllm_gpu_memory_utilization}}"},
    {"ms-swift", "--vllm_gpu_memory_utilization {vllm_gpu_memory_utilization}"},
    {"agilerl", "VLLMConfig(gpu_memory_utilization={vllm_gpu_memory_utilization})"},
};

}  // namespace

const Fix vllm_memory_share = {
    .id = "vllm_memory_share",
    .title = "A smaller share of the GPU for vLLM",
    .slot = "vllm_share",
    .kind = FixKind::scale,
    .effort = "one setting",
    .why =
        "vLLM takes its share when it starts and fills what its weights leave with cache; training gets the "
        "rest.",
    .evidence =
        "The same completions; with less cache fewer are written at once, so generation takes longer.",
    .source =
        "huggingface/trl docs reducing_memory_usage, vllm_gpu_memory_utilization; docs.vllm.ai engine "
        "arguments",
    .levels = vllm_memory_share_levels,
    .settings = vllm_memory_share_settings,
};

}  // namespace plimsoll::advice
