// One request, resolved many times with some fields changed: what the planner does for each set of changes.
//
//     Variations variations(given, stack, traits, resolved);      // the request as it is
//     const Variation& changed = variations.with({{"/training/bf16", true}}, errors);
//     changed.recipe.training.bf16;                               // true
//     changed.moved;                                              // {{"/training/bf16", true}, ...}
//
// The recipe and the errors are those of resolve() for the changed request; the reasons of its defaults are
// left out. Only what can depend on other fields is worked out again, which takes a tenth of the time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/recipe/recipe.h"

namespace plimsoll::recipe {

struct Variation {
  Recipe recipe;
  /// Fields whose value is another than in the request as it is, with the new one; null where there is none
  /// any more.
  std::vector<std::pair<std::string, json::Json>> moved;
};

class Variations {
 public:
  /// All four are kept by reference and must outlive it; `resolved` is what they resolve to.
  Variations(const Request& given, const StackPreset& stack, const ModelTraits& traits,
             const Resolved& resolved);

  Variation with(const Values& changes, json::Errors& errors);

 private:
  bool within_reach(const Values& changes) const;
  Variation from_the_beginning(const Values& changes, json::Errors& errors) const;

  const Request& given_;
  const StackPreset& stack_;
  const ModelTraits& traits_;
  const Resolved& resolved_;
  /// Fields whose default may follow another field, by place in the table.
  std::vector<std::size_t> dependent_;
  Values values_;  ///< as resolved between two calls
};

}  // namespace plimsoll::recipe
