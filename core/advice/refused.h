// No plan proposes what a library refuses (core/recipe/refusals.h).
//
//     const Refused refused(basis.network, basis.gpu, basis.resolved.recipe);
//     if (refused.adds(changed)) ...     // the changed run is refused, and the run as it is was not
//
// A run that is refused as it is still gets plans; what refuses it is a note of its report.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/hardware/gpu.h"
#include "core/model/architecture.h"
#include "core/recipe/refusals.h"

namespace plimsoll::advice {

/// `gpu` may be null: none was chosen.
recipe::Refusing refusing(const model::Architecture& network, const hardware::Gpu* gpu);

class Refused {
 public:
  Refused(const model::Architecture& network, const hardware::Gpu* gpu, const recipe::Recipe& before);

  /// Fast enough to be asked for every choice: the rows of its releases are found once.
  bool adds(const recipe::Recipe& changed) const;

 private:
  using Rows = std::vector<const recipe::Refusal*>;
  Rows rows_for(const recipe::Recipe& recipe) const;

  recipe::Refusing around_;
  const recipe::Recipe& before_;
  /// Of this stack, without those that are there already, by the releases that changes move: of Transformers and TRL.
  mutable std::map<std::pair<std::string, std::string>, Rows, std::less<>> rows_;
};

}  // namespace plimsoll::advice
