#include "core/memory/step/phase.h"

#include <array>

namespace plimsoll::memory {

std::string_view name(Phase phase) {
  constexpr std::array<std::string_view, 13> names = {
      "load",           "prepare",  "forward", "loss", "backward", "optimizer_step_first",
      "optimizer_step", "generate", "score",   "eval", "save",     "load_best",
      "merge"};
  return names[static_cast<std::size_t>(phase)];
}

}  // namespace plimsoll::memory
