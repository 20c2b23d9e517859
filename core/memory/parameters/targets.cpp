#include "core/memory/parameters/targets.h"

#include <algorithm>
#include <set>

#include "core/memory/parameters/module_names.h"
#include "core/memory/parameters/parameters.h"
#include "core/memory/parameters/projected.h"
#include "core/recipe/implementations.h"
#include "core/recipe/pattern.h"

namespace plimsoll::memory {

namespace {

// PEFT sees the names under the model it is given; ours are those of the class that Transformers loads.
uint64_t matching_layers(const recipe::Pattern& pattern, const model::PlacedLinear& at, uint64_t layers) {
  uint64_t matched = 0;
  for (uint64_t layer = 0; layer < layers; ++layer) {
    matched += pattern.matches(model::in_layer(at.linear->path, layer)) ? 1 : 0;
  }
  return matched;
}

// Axolotl's find_all_linear_names and LLaMA-Factory's find_all_linear_modules: PEFT sees a list of names.
std::vector<std::string> names_of_linears(const model::Architecture& network, const recipe::Recipe& recipe) {
  std::set<std::string> names;
  for (const model::PlacedLinear& at : model::linears(network)) {
    if (at.linear->role == model::Role::head || at.linear->unread || !is_module(*at.linear, recipe)) continue;
    names.insert(at.linear->path.substr(at.linear->path.rfind('.') + 1));
  }
  return {names.begin(), names.end()};
}

// unsloth/models/llama.py FastLlamaModel.get_peft_model: tables named as targets are trained in full.
void train_tables_in_full(recipe::Recipe& recipe) {
  recipe::Peft& peft = recipe.peft;
  if (!peft.on || !recipe::implementation_of(recipe).trains_tables_in_full) return;
  for (const char* table : {"embed_tokens", "lm_head"}) {
    if (std::erase(peft.target_modules, table) == 0) continue;
    std::vector<std::string>& saved = peft.modules_to_save;
    if (std::find(saved.begin(), saved.end(), table) == saved.end()) saved.emplace_back(table);
  }
}

}  // namespace

void expand_targets(const model::Architecture& network, recipe::Recipe& recipe, json::Errors& errors) {
  train_tables_in_full(recipe);
  find_projected(network, recipe, errors);
  recipe::Peft& peft = recipe.peft;
  const bool all = peft.target_modules.size() == 1 && peft.target_modules.front() == "all-linear";
  if (peft.on && all && peft.all_linear == "names" && recipe::implementation_of(recipe).transformers) {
    peft.target_modules = names_of_linears(network, recipe);
    return;
  }
  if (!peft.on || peft.target_pattern.empty()) return;
  if (names_by_role(recipe)) {
    errors.push_back(
        {"unsupported", "/peft/target_modules",
         "LitGPT and torchtune have no modules that a regular expression could name.",
         "\"all-linear\", or some of q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj"});
    return;
  }
  std::string why;
  const auto pattern = recipe::read_pattern(peft.target_pattern, why);
  if (!pattern) return;  // the reader has refused it
  std::vector<std::string> paths;
  for (const model::PlacedLinear& at : model::linears(network)) {
    const uint64_t layers = layers_beside(at);
    const uint64_t matched = matching_layers(*pattern, at, layers);
    if (matched == 0) continue;
    const bool all_of_its_kind = at.group != nullptr && matched >= at.group->layers;
    if (matched < layers && !all_of_its_kind) {
      errors.push_back({"unsupported", "/peft/target_modules",
                        "This pattern matches " + at.linear->path + " in " + std::to_string(matched) +
                            " of " + std::to_string(layers) +
                            " layers; adapters in some layers only are not replayed.",
                        "a pattern that matches all layers of a kind"});
      return;
    }
    paths.push_back(at.linear->path);
  }
  for (const model::Stack& stack : network.stacks) {
    for (const model::Table& table : stack.tables) {
      if (pattern->matches(table.path)) paths.push_back(table.path);
    }
  }
  if (paths.empty()) {
    errors.push_back({"unknown_value", "/peft/target_modules",
                      "No module of this model matches \"" + peft.target_pattern + "\".",
                      "a regular expression over full module names"});
    return;
  }
  peft.target_modules = std::move(paths);
}

void expand_targets(const model::Architecture& network, const recipe::Recipe& known, recipe::Recipe& recipe,
                    json::Errors& errors) {
  const recipe::Peft &before = known.peft, &now = recipe.peft;
  const bool same = before.on && now.on && !now.target_pattern.empty() &&
                    before.target_pattern == now.target_pattern &&
                    known.model_args.implementation == recipe.model_args.implementation;
  recipe.training.projected = known.training.projected;
  if (!same) return expand_targets(network, recipe, errors);
  recipe.peft.target_modules = before.target_modules;
}

}  // namespace plimsoll::memory
