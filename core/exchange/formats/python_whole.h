// What a script means by what it does not call, where it goes as far as a trainer. To be called when all keys
// have been read; python.cpp says of which library's scripts each holds.
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

/// TRL's: what TrainingArguments leave off stays off.
void finish_plain_arguments(Reading& reading);
/// The Trainer's own: between a quantised base and its adapters nothing prepares it.
void finish_preparation(Reading& reading);
void finish_computed_targets(Reading& reading);
/// No word of adapters stands anywhere: all of the model is trained.
void finish_full(Reading& reading);
/// TRL's: rows that nothing cuts.
void finish_unprepared(Reading& reading);
/// Unsloth's: a batch that the number of generations does not divide.
void finish_generations(Reading& reading);
/// Arguments that a trainer is given and nothing here sets: their sizes are asked for.
void note_unset_arguments(Reading& reading);
/// A batch that a script could not say, as Unsloth would raise it.
void leave_out_raised_batch(Writing& out);
/// A model that the trainer is given besides, or functions in its place.
void read_beside(Reading& reading, const Leaf& leaf);
/// What models beside the one that is trained are counted as.
void note_beside(Reading& reading);
/// An adapter is trained on whose settings are not here.
void note_continued(Reading& reading);

}  // namespace plimsoll::exchange
