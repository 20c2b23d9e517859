#include "core/advice/fixes/fixes.h"
#include "core/recipe/stacks.h"

namespace plimsoll::advice {

namespace {

// Unsloth moves the inputs of its layers itself, LLaMA-Factory with Unsloth's code; torchtune, TRL and
// Axolotl through hooks on saved tensors, which TRL also offers to other trainers.
std::vector<Level> offloaded_checkpoints_levels(const FixContext& s) {
  const recipe::Training& t = s.recipe.training;
  if (t.offload_checkpoints || t.activation_offloading || s.recipe.parallel.num_gpus > 1) return {};
  const recipe::StackTraits& traits = recipe::stack_traits(s.recipe.stack);
  Level level;
  if (!t.gradient_checkpointing) {
    level.changes["/training/gradient_checkpointing"] = true;
    level.changes["/training/gradient_checkpointing_kwargs/use_reentrant"] = traits.reentrant_only;
  }
  level
      .changes[traits.offloads_inputs ? "/training/offload_checkpoints" : "/training/activation_offloading"] =
      true;
  return {level};
}

constexpr Setting offloaded_checkpoints_settings[] = {
    {"hf",
     "class OffloadingTrainer(Trainer):\n    def training_step(self, *args, **kwargs):\n        with "
     "get_act_offloading_ctx_manager(self.model):   # from trl.models\n            return "
     "super().training_step(*args, **kwargs)\n# with gradient_checkpointing=True"},
    {"loop colossalai",
     "with get_act_offloading_ctx_manager(model):   # from trl.models\n    loss = model(**batch).loss\n    "
     "loss.backward()\n# with gradient checkpointing"},
    {"trl", "SFTConfig(activation_offloading=True, gradient_checkpointing=True)"},
    {"axolotl", "gradient_checkpointing: true\nactivation_offloading: true"},
    {"llamafactory", "use_unsloth_gc: true"},
    {"unsloth", "FastLanguageModel.get_peft_model(..., use_gradient_checkpointing=\"unsloth\")"},
    {"torchtune", "enable_activation_checkpointing: True\nenable_activation_offloading: True"},
};

}  // namespace

const Fix offloaded_checkpoints = {
    .id = "offloaded_checkpoints",
    .title = "Offload checkpointed activations to CPU",
    .slot = "checkpointing",
    .to_host = true,
    .effort = "one setting",
    .why =
        "With checkpointing the inputs of all layers are what is left; they wait in RAM instead, and come "
        "back one by one.",
    .evidence = "The same numbers.",
    .source =
        "huggingface/trl trl/models/activation_offloading.py; meta-pytorch/torchtune "
        "torchtune/training/_activation_offloading.py; unslothai/unsloth-zoo gradient_checkpointing.py",
    .levels = offloaded_checkpoints_levels,
    .settings = offloaded_checkpoints_settings,
};

}  // namespace plimsoll::advice
