// The words of a frame by which the phase is known (traceback.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/diagnosis/traceback.h"

namespace plimsoll::diagnosis {

// `rank`: what decides when several frames are there; the higher is the outer reason or the more specific
// one.
struct FrameWords {
  std::string_view words;
  FailurePhase phase;
  uint8_t rank;
  std::string_view sign;  ///< "" none
  bool of_layer = false;  ///< one layer's own work: a loss around it has not begun
};

std::span<const FrameWords> frame_words();

}  // namespace plimsoll::diagnosis
