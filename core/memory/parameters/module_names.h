// Whether a name that a person wrote means a module, as PEFT compares them (tuners_utils.py
// check_target_module_exists).
//
//     ends_with_name("model.layers.#.self_attn.q_proj", "q_proj");    // true
//     ends_with_name("lm_head_q_proj", "q_proj");                     // false: a whole part of the path
#pragma once

#include <string>
#include <vector>

#include "core/model/architecture.h"
#include "core/recipe/recipe.h"

namespace plimsoll::memory {

bool ends_with_name(const std::string& path, const std::string& name);
bool named_in(const std::string& path, const std::vector<std::string>& names);

/// A path with the number of a layer in the place of #, and of the first expert in that of *.
std::string numbered(std::string path, uint64_t layer);
/// Layers of the stack that a linear stands in; 1 outside of layers.
uint64_t layers_beside(const model::PlacedLinear& at);

/// LitGPT and torchtune have one set of names for all networks.
bool names_by_role(const recipe::Recipe& recipe);
/// Whether `target`, one of target_modules, means this linear.
bool answers(const model::Linear& linear, const std::string& target, const recipe::Recipe& recipe);

}  // namespace plimsoll::memory
