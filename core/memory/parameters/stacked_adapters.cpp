#include "core/memory/parameters/stacked_adapters.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/recipe/implementations.h"

namespace plimsoll::memory {

namespace {

using model::ExpertNames;
using model::Role;

std::string last_name(const std::string& path) { return path.substr(path.rfind('.') + 1); }

bool is_old_name(const std::string& name, ExpertNames names) {
  const auto one_of = [&name](std::initializer_list<const char*> known) {
    return std::any_of(known.begin(), known.end(), [&name](const char* k) { return name == k; });
  };
  if (names == ExpertNames::mixtral) return one_of({"gate", "w1", "w2", "w3"});
  return names == ExpertNames::qwen2_moe && one_of({"gate", "gate_proj", "up_proj", "down_proj"});
}

bool converts(const model::Stack& stack, const recipe::Recipe& recipe) {
  const recipe::Peft& peft = recipe.peft;
  const bool in_words = !peft.target_pattern.empty() ||
                        (peft.target_modules.size() == 1 && peft.target_modules.front() == "all-linear");
  return stack.expert_names != ExpertNames::own && has_stacked_experts(recipe) && peft.peft_type == "LORA" &&
         recipe::version_at_least(recipe.versions.peft, in_words ? "0.20" : "0.19");
}

// Whether target_modules, as PEFT converts them, name the expert or router that Transformers 4 called so.
bool is_converted(const std::string& name, const model::Stack& stack, const recipe::Recipe& recipe) {
  const std::vector<std::string>& targets = recipe.peft.target_modules;
  if (targets.size() == 1 && targets.front() == "all-linear") return is_old_name(name, stack.expert_names);
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    return last_name(target) == name && is_old_name(name, stack.expert_names);
  });
}

bool has_gate(const model::Stack& stack) {
  for (const model::LayerGroup& group : stack.groups) {
    if (group.experts > 0 && group.gated) return true;
  }
  return false;
}

// The name that the parameter has in Transformers 5, gate and up being one; empty: it is none.
std::string parameter_name(const model::Linear& linear, const model::Stack& stack) {
  switch (linear.role) {
    case Role::gate:
    case Role::gate_up:
      return "gate_up_proj";
    case Role::up:
      return has_gate(stack) ? "" : "up_proj";
    case Role::down:
      return "down_proj";
    default:
      return "";
  }
}

// The module around the experts, as Transformers 5 calls it: "mlp".
std::string block_of(const model::Linear& linear, const model::Stack& stack) {
  if (stack.expert_names == ExpertNames::mixtral) return "mlp";
  const std::size_t experts = linear.path.find(".experts.");
  return experts == std::string::npos ? "" : last_name(linear.path.substr(0, experts));
}

bool is_parameter(const model::Linear& linear, const recipe::Recipe& recipe) {
  if (!linear.expert || recipe.model_args.linearized_experts) return false;
  return has_stacked_experts(recipe) || linear.module == model::Module::parameter;
}

}  // namespace

bool has_stacked_experts(const recipe::Recipe& recipe) {
  return recipe::implementation_of(recipe).transformers && !recipe.model_args.linearized_experts &&
         recipe::version_at_least(recipe.versions.transformers, "5");
}

bool is_one_tensor(const model::PlacedLinear& at, const recipe::Recipe& recipe) {
  return at.linear->expert && at.group != nullptr && at.group->experts_at_once && at.linear->count > 1 &&
         has_stacked_experts(recipe);
}

bool is_parameter_name(const std::string& target, const model::Stack& stack, const recipe::Recipe& recipe) {
  return converts(stack, recipe) && is_old_name(last_name(target), stack.expert_names);
}

std::vector<std::string> converted_parameters(const model::Architecture& network,
                                              const recipe::Recipe& recipe) {
  std::set<std::string> names;
  for (const model::PlacedLinear& at : model::linears(network)) {
    if (!recipe.peft.on || !at.linear->expert || !converts(*at.stack, recipe)) continue;
    if (is_converted(last_name(at.linear->path), *at.stack, recipe))
      names.insert(parameter_name(*at.linear, *at.stack));
  }
  names.erase("");
  return {names.begin(), names.end()};
}

bool answers_parameter(const model::Linear& linear, const model::Stack& stack, const std::string& target,
                       const recipe::Recipe& recipe) {
  if (!is_parameter(linear, recipe)) return false;
  const std::string leaf = last_name(target);
  if (leaf != parameter_name(linear, stack)) return false;
  if (leaf.size() == target.size()) return true;
  // What stands before: "experts", the block, the layer's number and more, left out from the left.
  const std::string before = target.substr(0, target.size() - leaf.size() - 1);
  if (last_name(before) != "experts") return false;
  const std::string above =
      before.substr(0, before.size() - std::min(before.size(), std::string_view(".experts").size()));
  if (!above.empty() && last_name(above) != block_of(linear, stack)) return false;
  const auto number_in = [](const std::string& path) {
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find('.', at), path.size());
      std::string part = path.substr(at, end - at);
      if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos) return part;
      at = end + 1;
    }
    return std::string();
  };
  const std::string number = number_in(before);
  return number.empty() || number == number_in(linear.path);
}

StackedAdapter stacked_adapter(const model::Linear& linear, const model::Stack& stack,
                               const recipe::Recipe& recipe) {
  const recipe::Peft& peft = recipe.peft;
  const auto rank = static_cast<double>(peft.r), out = static_cast<double>(linear.out);
  if (!peft.on || peft.peft_type != "LORA") return {};
  const bool half = linear.role == Role::gate || (linear.role == Role::up && has_gate(stack));
  const double columns = half ? 2 * out : out;
  for (const std::string& target : peft.target_parameters) {
    if (answers_parameter(linear, stack, target, recipe)) return {rank, columns};
  }
  const bool routes = linear.role == Role::router;
  if (!converts(stack, recipe) || (!linear.expert && !routes)) return {};
  // Both of gate and up, or PEFT refuses.
  const std::string name = last_name(linear.path);
  return is_converted(name, stack, recipe) ? StackedAdapter{rank, routes ? out : columns} : StackedAdapter{};
}

}  // namespace plimsoll::memory
