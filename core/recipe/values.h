// Fields by pointer, read without asking first whether they are there.
//
//     text(values, "/task");                   // "" where nothing is said, or something else than a text
//     flag(values, "/training/bf16");          // false
//     number(values, "/rl/beta");              // 0
#pragma once

#include <string>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

inline std::string text(const Values& values, const std::string& pointer) {
  const auto found = values.find(pointer);
  return found != values.end() && found->second.is_string() ? found->second.get_ref<const std::string&>()
                                                            : std::string();
}
inline bool flag(const Values& values, const std::string& pointer) {
  const auto found = values.find(pointer);
  return found != values.end() && found->second.is_boolean() && found->second.get<bool>();
}
inline double number(const Values& values, const std::string& pointer) {
  const auto found = values.find(pointer);
  return found != values.end() && found->second.is_number() ? found->second.get<double>() : 0;
}

}  // namespace plimsoll::recipe
