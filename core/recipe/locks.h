// Fields that nobody but the person may move.
//
//     is_locked("/peft/r", {"peft"});                 // true: all of "peft" is locked
//     is_locked("/training", {"training.optim"});     // true: the lock lies inside it
//     moves_locked({{"/peft/r", 8}}, {"peft"});       // true
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

/// Whether one of the locks ("peft.r", "training") stands for the field at `pointer`, or lies inside it.
bool is_locked(std::string_view pointer, const std::vector<std::string>& locks);
/// The same of any field that changes would set.
bool moves_locked(const Values& changes, const std::vector<std::string>& locks);

}  // namespace plimsoll::recipe
