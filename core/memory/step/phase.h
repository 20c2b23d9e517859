// The instants of a run, as they are named in reports.
//
//     name(Phase::optimizer_step_first);   // "optimizer_step_first"
//     in_trace(Phase::eval);               // false: unroll.h writes down what a step does, and no evaluation
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plimsoll::memory {

enum class Phase : uint8_t {
  load,
  prepare,
  forward,
  loss,
  backward,
  optimizer_step_first,
  optimizer_step,
  // Beside the steps, or between two of them.
  generate,
  score,
  eval,
  save,
  load_best,
  merge,
};

/// How many of them, the first ones, the trace of a step has (unroll.h).
constexpr std::size_t traced_phases = 7;
constexpr bool in_trace(Phase phase) { return static_cast<std::size_t>(phase) < traced_phases; }

constexpr bool is_optimizer_step(Phase phase) {
  return phase == Phase::optimizer_step_first || phase == Phase::optimizer_step;
}

/// What saving.h tells of: no step repeats it.
constexpr bool is_aside(Phase phase) {
  return phase == Phase::save || phase == Phase::load_best || phase == Phase::merge;
}

std::string_view name(Phase phase);

}  // namespace plimsoll::memory
