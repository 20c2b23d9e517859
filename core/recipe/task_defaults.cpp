#include "core/recipe/task_defaults.h"

#include <algorithm>

#include "core/recipe/stacks.h"
#include "core/recipe/tasks.h"
#include "core/recipe/values.h"

namespace plimsoll::recipe {

namespace {

using json::Json;

bool trl_at_least(const DefaultContext& c, const char* version) {
  return version_at_least(text(c.values, "/versions/trl"), version);
}

// Whose trainers for these tasks are TRL's, or inherit from them; the others have code of their own.
bool follows_trl(const DefaultContext& c) { return stack_traits(c.stack).trl_tasks; }
std::string of_trl(const DefaultContext& c, const char* ask) {
  if (follows_trl(c)) return std::string("the default of TRL's trainer; ") + ask;
  return "assumed, as in TRL's trainer: " + c.stack_name + " has its own, " + ask;
}

uint64_t whole(double value) { return static_cast<uint64_t>(std::max(1.0, value)); }

}  // namespace

Default default_beta(const DefaultContext& c) {
  const Task& task = task_of(c.values);
  if (task.id != "grpo") return {task.beta, task.reference ? of_trl(c, "say yours") : ""};
  if (trl_at_least(c, "0.19")) return {0.0, "GRPOConfig compares with no reference from TRL 0.19"};
  return {0.04, "the default of GRPOConfig before TRL 0.19"};
}

// huggingface/trl trainer/*_config.py disable_dropout by tag: DPO, KTO, ORPO and CPO in every release,
// rewards from v0.14; GRPO and, from v0.22, RLOO leave it on. PPO never asks (v0.24.0
// trl/trainer/ppo_trainer.py
// __init__). hiyouga/LLaMA-Factory src/llamafactory/train/dpo/trainer.py and kto/trainer.py do as TRL does;
// its trainers for rewards and PPO do not.
Default default_disable_dropout(const DefaultContext& c) {
  const Task& task = task_of(c.values);
  const StackTraits& stack = stack_traits(c.stack);
  bool off = task.preference || task.id == "ppo" || (task.id == "rloo" && !trl_at_least(c, "0.22"));
  if (task.id == "reward") off = trl_at_least(c, "0.14");
  if (!task.preference || task.id == "reward") off = off && !stack.own_log_probs;
  if (!off || !stack.trl_tasks) return {false, ""};
  const bool some = number(c.values, "/peft/lora_dropout") > 0;
  return {true, some ? "TRL's trainer switches dropout off, lora_dropout too, unless told otherwise" : ""};
}

Default default_reference_model(const DefaultContext& c) {
  if (!task_of(c.values).reference) return {"none", ""};
  if (number(c.values, "/rl/beta") == 0 && task_of(c.values).online) {
    return {"none", "with beta 0 nothing is compared with a reference"};
  }
  if (flag(c.values, "/rl/precompute_ref_log_probs")) {
    return {"none", "its log-probabilities are computed before the training begins"};
  }
  if (c.values.count("/peft") != 0) {
    return {"adapter_off", "PEFT switches the adapters off for the reference; no copy is held"};
  }
  return {"copy", "a frozen copy of the model stays beside the one that is trained"};
}

Default default_cpo_alpha(const DefaultContext& c) {
  const double alpha = task_of(c.values).cpo_alpha;
  return {alpha, alpha > 0 ? "the default of CPOConfig: the chosen half is also trained as text" : ""};
}

Default default_num_generations(const DefaultContext& c) {
  return {whole(task_of(c.values).num_generations),
          task_of(c.values).online ? of_trl(c, "say how many a prompt gets") : "", !follows_trl(c)};
}

Default default_completion_length(const DefaultContext& c) {
  double usual = task_of(c.values).completion_length;
  if (usual == 0) return {nullptr, ""};
  // huggingface/trl v1.10.0 trl/trainer/grpo_config.py, rloo_config.py; before 0.22 RLOO was PPO's kin
  // (v0.19.0 trl/trainer/utils.py OnPolicyConfig.response_length).
  if (task_of(c.values).id != "ppo" && trl_at_least(c, "1.10")) usual = 512;
  if (task_of(c.values).id == "rloo" && !trl_at_least(c, "0.22")) usual = 53;
  return beside_a_prompt({whole(usual), of_trl(c, "say the longest completion you allow"), !follows_trl(c)},
                         c.values);
}

Default beside_a_prompt(Default completion, const Values& values) {
  const double total = number(values, "/training/max_length");
  if (total == 0 || completion.value.get<double>() < total) return completion;
  return {whole(total / 2), "half of max_length: the trainer's default is longer"};
}

Default default_prompt_length(const DefaultContext& c) {
  if (!task_of(c.values).online) return {nullptr, ""};
  const double total = number(c.values, "/training/max_length");
  if (total > 0) {
    return {whole(total - number(c.values, "/rl/max_completion_length")),
            "what max_length leaves beside the completion"};
  }
  if (!trl_at_least(c, "0.26") && follows_trl(c)) return {512, "the default of GRPOConfig before TRL 0.26"};
  return {512, "assumed: " + c.stack_name + " cuts no prompt, say the longest one of your data", true};
}

Default default_temperature(const DefaultContext& c) {
  if (task_of(c.values).id == "rloo" && !trl_at_least(c, "0.22")) return {0.7, ""};
  return {task_of(c.values).temperature, ""};
}

Default default_steps_per_generation(const DefaultContext& c) {
  // huggingface/trl v0.16.1 trl/trainer/grpo_trainer.py _prepare_inputs, v0.17.0 (the accumulated batch).
  if (task_of(c.values).id == "grpo" && follows_trl(c) && !trl_at_least(c, "0.17"))
    return {1, "TRL before 0.17 writes the completions of one micro-batch at a time"};
  return {whole(number(c.values, "/training/gradient_accumulation_steps")),
          task_of(c.values).online ? "the default of TRL's trainer: completions for one optimizer step" : ""};
}

Default default_vllm_mode(const DefaultContext& c) {
  if (trl_at_least(c, "1.0"))
    return {"colocate", "the default of TRL from 1.0: vLLM lives on the training GPU"};
  return {"server", "the default of TRL before 1.0: vLLM runs on other GPUs"};
}

Default default_vllm_share(const DefaultContext& c) {
  if (trl_at_least(c, "0.18")) return {0.3, "the default of TRL"};
  return {0.9, "the default of TRL before 0.18"};
}

bool matters_to_task(std::string_view pointer, const Values& values) {
  const Task& task = task_of(values);
  if (pointer == "/rl/reference_model" || pointer == "/rl/beta") return task.reference;
  if (pointer == "/rl/cpo_alpha") return task.cpo_alpha > 0;
  if (pointer == "/rl/precompute_ref_log_probs" || pointer == "/rl/vllm_tensor_parallel_size") return false;
  const bool vllm = pointer.substr(0, 9) == "/rl/vllm_";
  return task.online && (!vllm || flag(values, "/rl/use_vllm"));
}

}  // namespace plimsoll::recipe
