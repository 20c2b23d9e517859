// What a linear with one of PEFT's methods besides LoRA runs, statement by statement.
//
//     LinearSpec q{.in = 4096, .out = 4096, .size = 2, .adapter_size = 4, .tuner = find_tuner("IA3")};
//     Tensor y = tuned(tape, mode, x, q);       // the base result is kept for the gradient of the scale
//
// Read from huggingface/peft 0.21 src/peft/tuners/*/layer.py, and held against real steps of each method:
// tests/core/golden/real_tuner_steps.json.
#pragma once

#include "core/memory/layers/linear.h"

namespace plimsoll::memory {

/// x (rows x in) -> rows x out, in the base layer's type. `spec.tuner` is set.
Tensor tuned(Tape& tape, const Mode& mode, const Tensor& x, const LinearSpec& spec);

}  // namespace plimsoll::memory
