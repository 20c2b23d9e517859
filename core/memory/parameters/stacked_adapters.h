// Which of PEFT's adapters stand on parameters that hold all experts of a layer, and on routers that are one.
//
//     StackedAdapter a = stacked_adapter(linear, stack, recipe);    // of one expert: rank 0 means none
//     a.rank; a.columns;                                           // lora_A: rank x in, lora_B: columns x rank
//
// Sources: huggingface/peft src/peft/tuners/lora/layer.py ParamWrapper, tuners_utils.py
// _inject_parameters (target_parameters, since 0.17), utils/transformers_weight_conversion.py
// _convert_peft_config_moe (names of Transformers 4 since 0.19, "all-linear" and patterns since 0.20).
#pragma once

#include <string>
#include <vector>

#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

struct StackedAdapter {
  double rank = 0;
  double columns = 0;  ///< gate and up are one parameter: an adapter of either reaches both
};
StackedAdapter stacked_adapter(const model::Linear& linear, const model::Stack& stack,
                               const recipe::Recipe& recipe);

/// Transformers 5 runs this recipe's experts as one parameter a projection.
bool has_stacked_experts(const recipe::Recipe& recipe);
/// The experts of a layer are one parameter, gate and up the same, and the optimizer takes it as it is: GaLore and APOLLO
/// project linears alone (transformers trainer_optimizer.py, "only supports linear layers").
bool is_one_tensor(const model::PlacedLinear& at, const recipe::Recipe& recipe);

/// What PEFT adds to target_parameters for names of Transformers 4 in target_modules: "gate_up_proj".
std::vector<std::string> converted_parameters(const model::Architecture& network,
                                              const recipe::Recipe& recipe);

/// PEFT takes `target`, one of target_modules, for a stacked parameter: no module answers to it any more.
bool is_parameter_name(const std::string& target, const model::Stack& stack, const recipe::Recipe& recipe);

/// Whether one of target_parameters is this linear's, by its last names: "mlp.experts.down_proj",
/// "7.mlp.experts.down_proj" for one layer.
bool answers_parameter(const model::Linear& linear, const model::Stack& stack, const std::string& target,
                       const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
