#include "core/advice/fixes/fixes.h"

namespace plimsoll::advice {

namespace {

// A parameter that steps at once cannot wait for the gradients of another micro-batch.
std::vector<Level> optimizer_in_backward_levels(const FixContext& s) {
  const recipe::Training& t = s.recipe.training;
  const bool there = t.optimizer_in_backward || t.optimizer_offload != "none";
  if (!s.recipe.full() || there || t.gradient_accumulation_steps > 1 || t.fp16) return {};
  if (s.recipe.parallel.num_gpus > 1) return {};
  return {{{{"/training/optimizer_in_backward", true}}, quality::parity}};
}

constexpr Setting optimizer_in_backward_settings[] = {
    {"hf trl",
     "for p in model.parameters():\n    opt = AdamW([p], lr=lr)\n    "
     "p.register_post_accumulate_grad_hook(lambda p, opt=opt: (opt.step(), opt.zero_grad()))\n# and "
     "Trainer(..., optimizers=(an optimizer that does nothing, None)), max_grad_norm=0"},
    {"loop",
     "for p in model.parameters():\n    opt = AdamW([p], lr=lr)\n    "
     "p.register_post_accumulate_grad_hook(lambda p, opt=opt: (opt.step(), opt.zero_grad()))"},
    {"torchtune", "optimizer_in_bwd: True\ngradient_accumulation_steps: 1\nclip_grad_norm: null"},
};

}  // namespace

const Fix optimizer_in_backward = {
    .id = "optimizer_in_backward",
    .title = "The optimizer inside the backward pass",
    .slot = "step_place",
    .needs = Needs::full,
    .effort = "a line of code",
    .why =
        "Each parameter steps as soon as its gradient is there, which is then let go: the gradients never "
        "exist all at once.",
    .evidence =
        "The same update, but gradients cannot be clipped by their common norm, which most recipes do.",
    .source =
        "pytorch.org tutorials/intermediate/optimizer_step_in_backward_tutorial; meta-pytorch/torchtune "
        "recipes/full_finetune_single_device.py optimizer_in_bwd; Lv et al. 2023, arXiv:2306.09782",
    .levels = optimizer_in_backward_levels,
    .settings = optimizer_in_backward_settings,
};

}  // namespace plimsoll::advice
