#include "core/recipe/locks.h"

#include <algorithm>

namespace plimsoll::recipe {

bool is_locked(std::string_view pointer, const std::vector<std::string>& locks) {
  for (const std::string& lock : locks) {
    std::string path = "/" + lock;
    std::replace(path.begin(), path.end(), '.', '/');
    const bool same = pointer == path;
    const bool inside = pointer.substr(0, path.size() + 1) == path + "/";
    const bool around = path.substr(0, pointer.size() + 1) == std::string(pointer) + "/";
    if (same || inside || around) return true;
  }
  return false;
}

bool moves_locked(const Values& changes, const std::vector<std::string>& locks) {
  return std::any_of(changes.begin(), changes.end(),
                     [&](const auto& change) { return is_locked(change.first, locks); });
}

}  // namespace plimsoll::recipe
