#include "core/recipe/tasks.h"

#include <algorithm>

#include "core/json/ascii.h"
#include "core/recipe/stacks.h"
#include "core/recipe/values.h"

namespace plimsoll::recipe {

namespace {

constexpr Task tasks_by_name[] = {
    {.id = "sft",
     .trainer = "SFT",
     .what = "the next token of given text",
     .source = "transformers loss/loss_utils.py"},
    {.id = "pretrain", .what = "the next token of given text", .source = "transformers loss/loss_utils.py"},
    {.id = "classification",
     .vocabulary = false,
     .what = "a label",
     .source = "transformers modeling_layers.py GenericForSequenceClassification"},
    {.id = "dpo",
     .trainer = "DPO",
     .rows = 2,
     .preference = true,
     .reference = true,
     .beta = 0.1,
     .what = "log-probabilities of a chosen and a rejected sequence against a reference",
     .source =
         "huggingface/trl v1.9.0 trl/trainer/dpo_trainer.py _compute_loss; v0.24.0 concatenated_forward"},
    {.id = "orpo",
     .trainer = "ORPO",
     .experimental = true,
     .rows = 2,
     .preference = true,
     .chosen_nll = true,
     .beta = 0.1,
     .what = "cross-entropy of the chosen sequence and the odds against the rejected one",
     .source = "huggingface/trl v1.9.0 trl/experimental/orpo/orpo_trainer.py concatenated_forward"},
    {.id = "kto",
     .trainer = "KTO",
     .preference = true,
     .reference = true,
     .unpaired = true,
     .beta = 0.1,
     .what = "log-probabilities of single sequences against a reference",
     .source = "huggingface/trl v0.24.0 trl/trainer/kto_trainer.py forward, get_batch_loss_metrics"},
    {.id = "cpo",
     .trainer = "CPO",
     .experimental = true,
     .rows = 2,
     .preference = true,
     .beta = 0.1,
     .cpo_alpha = 1,
     .what = "log-probabilities of a chosen and a rejected sequence without a reference",
     .source = "huggingface/trl v1.9.0 trl/experimental/cpo/cpo_trainer.py concatenated_forward"},
    {.id = "simpo",
     .trainer = "CPO",
     .experimental = true,
     .rows = 2,
     .preference = true,
     .beta = 2,
     .what = "length-normalised log-probabilities of a chosen and a rejected sequence without a reference",
     .source = "huggingface/trl v1.9.0 trl/experimental/cpo/cpo_trainer.py, loss_type simpo"},
    {.id = "reward",
     .trainer = "Reward",
     .rows = 2,
     .preference = true,
     .vocabulary = false,
     .what = "one score for a chosen and a rejected sequence",
     .source = "huggingface/trl v1.9.0 trl/trainer/reward_trainer.py compute_loss"},
    {.id = "grpo",
     .trainer = "GRPO",
     .online = true,
     .reference = true,
     .entropy = true,
     .num_generations = 8,
     .completion_length = 256,
     .what = "log-probabilities of completions that the policy wrote itself",
     .source = "huggingface/trl v1.9.0 trl/trainer/grpo_trainer.py _get_per_token_logps_and_entropies"},
    {.id = "rloo",
     .trainer = "RLOO",
     .online = true,
     .reference = true,
     .entropy = true,
     .beta = 0.05,
     .num_generations = 2,
     .completion_length = 256,
     .what = "log-probabilities of completions that the policy wrote itself",
     .source = "huggingface/trl v1.9.0 trl/trainer/rloo_trainer.py"},
    {.id = "ppo",
     .trainer = "PPO",
     .online = true,
     .reference = true,
     .value_model = true,
     .reward_model = true,
     .beta = 0.05,
     .completion_length = 53,
     .temperature = 0.7,
     .what = "log-probabilities of completions, and their value by a second network",
     .source = "huggingface/trl v0.24.0 trl/trainer/ppo_trainer.py PolicyAndValueWrapper, train"},
};

}  // namespace

std::span<const Task> tasks() { return tasks_by_name; }

const Task* find_task(std::string_view id) {
  for (const Task& task : tasks_by_name) {
    if (task.id == id) return &task;
  }
  return nullptr;
}

const Task* trained_by(std::string_view trainer) {
  for (const Task& task : tasks_by_name) {
    if (!task.trainer.empty() && ascii::lower(trainer) == ascii::lower(task.trainer)) return &task;
  }
  return nullptr;
}

namespace {

const Task& task_named(std::string_view id) {
  const Task* task = find_task(id);
  return task != nullptr ? *task : tasks().front();
}

}  // namespace

const Task& task_of(const Recipe& recipe) { return task_named(recipe.task); }
const Task& task_of(const Values& values) { return task_named(text(values, "/task")); }

bool samples_are_prompts(const Recipe& recipe) {
  return recipe.task == "grpo" && stack_traits(recipe.stack).trl_tasks &&
         !version_at_least(recipe.versions.trl, "0.15");
}

double rows_of_sample(const Recipe& recipe) {
  if (samples_are_prompts(recipe)) return static_cast<double>(recipe.rl.num_generations);
  return task_of(recipe).rows;
}

double rows_of_batch(const Recipe& recipe) {
  return rows_of_sample(recipe) * static_cast<double>(recipe.training.per_device_train_batch_size);
}

double samples_of_row(const Recipe& recipe) {
  if (task_of(recipe).num_generations <= 1 || samples_are_prompts(recipe)) return 1;
  return static_cast<double>(recipe.rl.num_generations * recipe.rl.num_iterations);
}

double rows_generated(const Recipe& recipe) {
  if (samples_are_prompts(recipe)) return rows_of_batch(recipe);
  const auto batch = static_cast<double>(recipe.training.per_device_train_batch_size);
  return std::max(batch * static_cast<double>(recipe.rl.steps_per_generation),
                  static_cast<double>(recipe.rl.num_generations));
}

double vllm_weights(const Recipe& recipe, double parameters) {
  const double each = recipe.quantized() ? 0.5 : 2;
  return each * parameters / static_cast<double>(recipe.rl.vllm_tensor_parallel_size);
}

bool reads_old_log_probs(const Recipe& recipe) {
  const Task& task = task_of(recipe);
  if (!task.online || samples_are_prompts(recipe)) return false;
  return recipe.rl.num_iterations > 1 || task.id == "ppo" || recipe.rl.use_vllm ||
         recipe.training.gradient_accumulation_steps % recipe.rl.steps_per_generation != 0;
}

bool scores_before_training(const Recipe& recipe) {
  const Task& task = task_of(recipe);
  return task.reference && !task.online && recipe.rl.precompute_ref_log_probs;
}

}  // namespace plimsoll::recipe
