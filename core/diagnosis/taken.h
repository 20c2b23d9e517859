// What the failure itself says of the run, where nobody else does, so that plans are made for the run that
// failed and not for the defaults of a trainer: the type of its weights, and a micro-batch and a length that
// are no larger than what the card shows.
//
//     for (const run::Choice& one : taken_of(situation, d.reading)) one.pointer;   // "/training/max_length"
#pragma once

#include <vector>

#include "core/diagnosis/facts.h"
#include "core/run/choice.h"

namespace plimsoll::diagnosis {

struct TextReading;

/// None of these is in the situation's values.
std::vector<run::Choice> taken_of(const Situation& situation, const TextReading& reading);

/// Whether an optimizer's state of the size of a weight in fp32 could not be had. torch makes exp_avg and
/// exp_avg_sq with zeros_like: in their weight's own type (torch/optim/adamw.py _init_group).
bool states_are_fp32(const TextReading& reading);

/// Whether the run got further than weights in fp32, which nobody said, would have let it: all of them were
/// loaded (its phase, or the logits that failed, say so), or what failed is a weight in 16 bits; and less was allocated than they take.
bool weights_are_16bit(const Situation& situation, const TextReading& reading);

}  // namespace plimsoll::diagnosis
