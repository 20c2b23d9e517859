// What the name of a call in Python says, whatever module it came from.
//
//     place_of("transformers.TrainingArguments");    // "training"
//     task_of("DPOConfig");                          // "dpo"
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// The task that one of TRL's classes is for; "" where the name is none of theirs.
std::string_view task_of(std::string_view name);

/// Where a call's arguments belong: "training", "model", "quantization", "peft", "trainer", ...; "" nowhere.
std::string_view place_of(std::string_view call);

/// How sure a call is that it loads the model to be trained: Unsloth's classes before Auto classes before
/// others, such as the codec of a speech model. 0: it loads none.
int claim_of(const Member& call);

/// from lightning import Trainer: told by its arguments.
bool is_lightning(const Node& call);

}  // namespace plimsoll::exchange
