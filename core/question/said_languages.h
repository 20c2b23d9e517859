// Words of a run in other languages than English: one table, a row for each meaning in each language.
//
//     for (const SaidPhrase& one : phrases_of(Means::denies_before)) print(one.language, one.phrase);
//     // "fr" "sans", "fr" "pas de", "es" "sin", ...
//
// A further language is further rows. What trainers and people of all languages write alike ("batch size", "off")
// stands with the settings themselves.
#pragma once

#include <string_view>
#include <vector>

namespace plimsoll::question {

enum class Means {
  denies_before,  ///< "sans": what stands behind it is off
  denies_behind,  ///< "なし": what stands before it is off
  without,        ///< such a word that holds for all that "and" joins: "without LoRA and packing"
  joins,          ///< stands between two things of which the same is said
  cannot_before,  ///< "can't use": what stands behind it is off and stays so
  cannot_behind,  ///< "is not installed": what stands before it is
  broken,         ///< "doesn't work": of a package the same; of a setting, that it has no effect
  checkpointing,
  full,             ///< all weights are trained
  attention_alone,  ///< adapters lie on the attention's projections
  becomes,          ///< stands before "full" of a card: "is", "gets"
  behind_method,    ///< stands behind a method: "full on a 5090"
  length,
  tokens,  ///< stands behind a length
  batch,
  whole_step,  ///< makes a batch that of a whole step: "effektiv"
  accumulation,
  rank,
  cards,     ///< stands behind a number of cards
  one,       ///< one card
  rather,    ///< stands between two of which one is taken: "instead of"
  filler,    ///< may stand between a name and its number: "von"
  free,      ///< stands behind the part of a card that is left
  how_many,  ///< asks for a number of what stands behind it
  how_many_cards,
  card,         ///< begins a word for a card
  text_only,    ///< a model that sees is shown no images
  inference,    ///< a model is served, or what serves it
  runs,         ///< a model is run, whatever for
  trains,       ///< a model is trained
  full_tuning,  ///< full fine-tuning, where somebody denies it
  quantized,    ///< the base is
  freezes,      ///< some layers are not trained
  last,         ///< stands before a number of layers: "the last 4 layers"
  layers,
  reward_model,    ///< a task
  classification,  ///< another
  offload,         ///< something is kept outside the card
  of_optimizer,    ///< its states are
  of_activations,  ///< what the backward pass needs is
  on_disk,         ///< on a disk
  fp32,            ///< a type of weights
  mixed_precision,
  asks,         ///< a part of a sentence that asks, with a mark behind it or without
  between,      ///< stands between two cards that are weighed, as a word of its own
  each,         ///< stands behind a number of images that every sample has
  which_model,  ///< asks for the models that fit
  brings,       ///< asks what a setting is good for
  doubts,       ///< asks whether a figure is right
  seen,         ///< stands before a figure that somebody saw
  in_use,       ///< stands behind one
  price,
  memory,
  hours,
  how_long,     ///< asks for the time of a run
  long_things,  ///< stands behind it where a length is asked for
  fails         ///< a part of a text that tells of a failure, within words too
};

struct SaidPhrase {
  std::string_view language;  ///< "en", "fr"
  std::string_view phrase;    ///< as phrase_at takes it
};

const std::vector<SaidPhrase>& phrases_of(Means means);

}  // namespace plimsoll::question
