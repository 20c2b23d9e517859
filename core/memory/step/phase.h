// The instants of a run, as they are named in reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plimsoll::memory {

/// Named as in Replay::instants.
enum class Phase : uint8_t { load, prepare, forward, loss, backward, optimizer_step_first, optimizer_step };
constexpr std::size_t phase_count = 7;
const char* name(Phase phase);
/// Nothing for an instant that the list does not hold.
std::optional<Phase> phase_of(std::string_view name);

}  // namespace plimsoll::memory
