#include "core/memory/step/phase.h"

#include <array>

namespace plimsoll::memory {

namespace {

constexpr std::array<const char*, phase_count> phase_names = {
    "load", "prepare", "forward", "loss", "backward", "optimizer_step_first", "optimizer_step"};

}  // namespace

const char* name(Phase phase) { return phase_names[static_cast<std::size_t>(phase)]; }

std::optional<Phase> phase_of(std::string_view id) {
  for (std::size_t i = 0; i < phase_names.size(); ++i) {
    if (id == phase_names[i]) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

}  // namespace plimsoll::memory
