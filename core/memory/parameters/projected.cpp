#include "core/memory/parameters/projected.h"

#include <algorithm>

#include "core/memory/parameters/module_names.h"
#include "core/memory/parameters/parameters.h"
#include "core/recipe/pattern.h"
#include "core/recipe/stacks.h"

namespace plimsoll::memory {

namespace {

// huggingface/transformers v5.23 src/transformers/trainer_utils.py check_target_module_exists: of a list each is a part
// of the name or matches it in full, a text alone matches in full. LLaMA-Factory and ms-swift look for parts.
class Targets {
 public:
  explicit Targets(const recipe::Recipe& recipe) {
    const recipe::Training& t = recipe.training;
    own_ = recipe::stack_traits(recipe.stack).own_projection;
    const bool whole = !own_ && !t.optim_target_pattern.empty();
    names_ = t.optim_target_modules;
    all_ = names_.empty() ||
           (names_.size() == 1 && (names_.front() == "all-linear" || names_.front() == "all_linear"));
    std::string why;  // a name alone is refused where it is read
    for (const std::string& name : names_) {
      if (auto pattern = own_ ? std::nullopt : recipe::read_pattern(name, why))
        patterns_.push_back(std::move(*pattern));
    }
    if (whole) names_.clear();
  }

  bool mean(const model::Linear& linear, const std::string& name) const {
    // "all" of LLaMA-Factory's find_all_linear_modules and ms-swift's find_all_linears leaves the head out.
    if (all_) return !own_ || linear.role != model::Role::head;
    const bool part = std::any_of(names_.begin(), names_.end(), [&name](const std::string& of) {
      return name.find(of) != std::string::npos;
    });
    return part || std::any_of(patterns_.begin(), patterns_.end(),
                               [&name](const recipe::Pattern& p) { return p.matches(name); });
  }
  bool may_be_none() const { return own_; }

 private:
  bool own_ = false, all_ = false;
  std::vector<std::string> names_;
  std::vector<recipe::Pattern> patterns_;
};

}  // namespace

void find_projected(const model::Architecture& network, recipe::Recipe& recipe, json::Errors& errors) {
  recipe::Training& t = recipe.training;
  if (recipe.projection_rank() == 0 || !t.projected.empty()) return;
  const Targets targets(recipe);
  for (const model::PlacedLinear& at : model::linears(network)) {
    if (!is_module(*at.linear, recipe) || at.linear->module == model::Module::conv1d) continue;
    const uint64_t layers = layers_beside(at);
    uint64_t meant = 0;
    for (uint64_t layer = 0; layer < layers; ++layer)
      meant += targets.mean(*at.linear, numbered(at.linear->path, layer)) ? 1 : 0;
    if (meant > 0)
      t.projected.push_back({at.linear->path, static_cast<double>(meant) / static_cast<double>(layers)});
  }
  // Who says none has another refusal (core/recipe/refusals.cpp).
  const bool said = !t.optim_target_modules.empty() || !t.optim_target_pattern.empty();
  if (!said || !t.projected.empty() || targets.may_be_none() || !recipe.full()) return;
  errors.push_back(
      {"unknown_value", "/training/optim_target_modules",
       "No linear of this model is meant: Transformers stops with \"No target modules found for " + t.optim +
           "\".",
       "[\"attn\", \"mlp\"], regular expressions over full module names, or \"all-linear\""});
}

double projected_share(const std::string& path, const recipe::Recipe& recipe) {
  const std::vector<recipe::Projected>& all = recipe.training.projected;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&path](const recipe::Projected& one) { return one.path == path; });
  return found == all.end() ? 0 : found->share;
}

}  // namespace plimsoll::memory
