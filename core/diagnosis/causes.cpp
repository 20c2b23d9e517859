#include "core/diagnosis/causes.h"

#include <algorithm>

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

const Cause* find_cause(std::string_view id) {
  const auto all = causes();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Cause& c) { return c.id == id; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace plimsoll::diagnosis
