// The first module knows LoRA alone: of PEFT's other methods, which are rare, the second one is asked
// (web/src/lists.ts). It takes the place of core/memory/tuners.cpp and tuner_steps.cpp in the first.
#include "core/memory/tuner_steps.h"

namespace plimsoll::memory {

const Tuner* find_tuner(const recipe::Peft&) { return nullptr; }

const Tuner* find_tuner(std::string_view) { return nullptr; }

bool has_method(std::string_view peft_type) { return peft_type == "LORA" || peft_type == "ADALORA"; }

TunerShapes shapes_of(const Tuner&, double, double, const recipe::Peft&) { return {}; }

SharedShapes shared_of(const Tuner&, double, double, const recipe::Peft&) { return {}; }

Tensor tuned(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& w) {
  return base_linear(tape, mode, x, w);
}

}  // namespace plimsoll::memory
