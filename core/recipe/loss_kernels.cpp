#include "core/recipe/loss_kernels.h"

namespace plimsoll::recipe {

namespace {

constexpr LossKernel kernels_by_id[] = {
    {.id = "stock", .whole_logits = true},
    {.id = "liger", .moves_little = true},
    {.id = "fused_ce", .whole_logits = true},
    {.id = "chunked_nll", .whole_logits = true, .head_again = true, .moves_little = true},
    {.id = "cut_cross_entropy", .head_again = true, .moves_little = true},
    {.id = "torchtune_chunked", .moves_little = true},
    {.id = "torchtune_linear", .moves_little = true},
    {.id = "torchtitan_chunked"},
    {.id = "litgpt_chunked"},
    {.id = "litgpt_chunked_ce"},
    {.id = "chunked_log_probs"},
    {.id = "fused_lm_head", .head_again = true, .moves_little = true, .labels_alone = true},
    {.id = "unsloth_fused"},
    {.id = "mean_logits"},
};

}  // namespace

std::span<const LossKernel> loss_kernels() { return kernels_by_id; }

const LossKernel& loss_kernel(std::string_view id) {
  for (const LossKernel& kernel : kernels_by_id) {
    if (kernel.id == id) return kernel;
  }
  return kernels_by_id[0];
}

}  // namespace plimsoll::recipe
