// Defaults of the fields that only some tasks have: one function a rule, used by the field table.
//
//     recipe::Default beta = recipe::default_beta(context);      // 0 for GRPO from TRL 0.19, 0.1 for DPO
#pragma once

#include "core/recipe/fields.h"

namespace plimsoll::recipe {

Default default_beta(const DefaultContext&);
Default default_disable_dropout(const DefaultContext&);
Default default_reference_model(const DefaultContext&);
Default default_cpo_alpha(const DefaultContext&);
Default default_num_generations(const DefaultContext&);
Default default_completion_length(const DefaultContext&);
Default default_prompt_length(const DefaultContext&);
Default default_temperature(const DefaultContext&);
Default default_steps_per_generation(const DefaultContext&);
Default default_vllm_mode(const DefaultContext&);
Default default_vllm_share(const DefaultContext&);

/// A stack's completion length, or half of a max_length that it would fill without leaving a prompt.
Default beside_a_prompt(Default completion, const Values& values);

/// True when a field under "rl" changes something for this task, so that its default is worth telling.
bool matters_to_task(std::string_view pointer, const Values& values);

}  // namespace plimsoll::recipe
