// What the head and the loss behind the last stack are replayed from.
#pragma once

#include "core/memory/step/step.h"

namespace plimsoll::memory {

/// `last`: of the stack that the head stands on; `stage`: its replay.
HeadProgram make_head(const Plan& plan, const PassSettings& last, const Stage& stage);

}  // namespace plimsoll::memory
