#include "core/memory/parameters/module_names.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/recipe/implementations.h"

namespace plimsoll::memory {

using model::Role;

bool ends_with_name(const std::string& path, const std::string& name) {
  if (path == name) return true;
  if (path.size() <= name.size()) return false;
  return path.compare(path.size() - name.size(), name.size(), name) == 0 &&
         path[path.size() - name.size() - 1] == '.';
}

bool named_in(const std::string& path, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (ends_with_name(path, name)) return true;
  }
  return false;
}

std::string numbered(std::string path, uint64_t layer) {
  for (const char mark : {'#', '*'}) {
    const std::size_t at = path.find(mark);
    if (at != std::string::npos) path.replace(at, 1, std::to_string(mark == '#' ? layer : 0));
  }
  return path;
}

uint64_t layers_beside(const model::PlacedLinear& at) {
  if (at.group == nullptr) return 1;
  uint64_t layers = 0;
  for (const model::LayerGroup& group : at.stack->groups) layers += group.layers;
  return layers;
}

bool names_by_role(const recipe::Recipe& recipe) { return recipe::implementation_of(recipe).names_by_role; }

bool answers(const model::Linear& linear, const std::string& target, const recipe::Recipe& recipe) {
  if (!names_by_role(recipe)) return ends_with_name(linear.path, target);
  struct Named {
    Role role;
    std::string_view name;
  };
  constexpr Named names[] = {
      {Role::q, "q_proj"},       {Role::k, "k_proj"},          {Role::v, "v_proj"},
      {Role::o, "o_proj"},       {Role::qkv, "q_proj"},        {Role::qkv, "k_proj"},
      {Role::qkv, "v_proj"},     {Role::gate, "gate_proj"},    {Role::up, "up_proj"},
      {Role::down, "down_proj"}, {Role::gate_up, "gate_proj"}, {Role::gate_up, "up_proj"},
      {Role::head, "lm_head"},
  };
  return std::any_of(std::begin(names), std::end(names),
                     [&](const Named& n) { return n.role == linear.role && n.name == target; });
}

}  // namespace plimsoll::memory
