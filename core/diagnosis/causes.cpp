#include "core/diagnosis/causes.h"

namespace plimsoll::diagnosis {

std::span<const Cause> causes() {
  static const std::vector<Cause> all = [] {
    std::vector<Cause> out;
    for (const auto& group : {causes_of_machine, causes_of_weights, causes_of_tokens, causes_of_choices})
      out.insert(out.end(), group.begin(), group.end());
    return out;
  }();
  return all;
}

}  // namespace plimsoll::diagnosis
