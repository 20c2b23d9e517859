// The frames of a Python traceback that say in which phase of a run it died.
//
//     Frames frames = read_frames(text);
//     name(frames.phase);      // "optimizer"
//     frames.words;            // "_multi_tensor_adamw", the words that say so
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnosis/text.h"

namespace plimsoll::diagnosis {

enum class FailurePhase : uint8_t {
  unknown,
  load,
  forward,
  loss,
  backward,
  optimizer,
  eval,
  save,
  generate,
  merge
};
std::string_view name(FailurePhase phase);
FailurePhase phase_named(std::string_view name);
/// Forward, loss or backward: tokens are in the model.
bool in_a_pass(FailurePhase phase);
/// The same, or the optimizer's step: all weights are in their place.
bool in_a_step(FailurePhase phase);

struct Frames {
  FailurePhase phase = FailurePhase::unknown;
  std::string words;  ///< of the frame that decides
  /// Further things the frames show: "attention", "dequantize", "foreach", ...
  std::vector<std::string> signs;
  bool shows(std::string_view sign) const;
};

/// The frames nearest to the end of the text decide, the more specific before the more general: a forward
/// pass inside a backward pass is recomputation.
Frames read_frames(const Text& text, Work* work = nullptr);

}  // namespace plimsoll::diagnosis
