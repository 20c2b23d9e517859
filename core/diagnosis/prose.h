// What people say around an error, read by a small trained model: each sentence is given a score for each of
// some thirty things that a report may say ("it died at a save", "the use grows"), in English, Chinese and
// German.
//
//     const Prose prose = read_prose(clean("OOM, but only when the checkpoint is written").folded_lines);
//     prose.says(Say::save);        // the sentence that says it, or null
//
// The model is core/diagnosis/prose.json: for each thing the words, stems and pairs of words that speak for
// or against it, with whole numbers for weights, so that every build gives the same answer. It is trained by
// tests/oom/prose/train.py from labelled sentences; what it does not know is taught by adding sentences
// there.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace plimsoll::diagnosis {

enum class Say : uint8_t {
  lack,         ///< the card's memory ran out
  host,         ///< the machine's memory ran out, or the process was ended
  load,         ///< while the model was loaded
  resume,       ///< when a run goes on from a checkpoint
  save,         ///< at a save
  eval,         ///< in evaluation
  merge,        ///< while adapters are merged
  generate,     ///< while samples are generated
  inference,    ///< nothing is trained
  optimizer,    ///< in the optimizer's step
  later,        ///< after steps that ran, or at a long sample
  growing,      ///< the use grows from step to step
  update,       ///< another release needs less
  occupied,     ///< something else holds the card
  alone,        ///< a single sample fails too
  fewer,        ///< it fits with fewer tokens
  logits,       ///< at the logits or the loss
  copies,       ///< each card holds everything
  one_card,     ///< one of several cards is used
  no_effect,    ///< a setting changes nothing
  fragments,    ///< the memory is in pieces
  estimate,     ///< the person's own sum says that it fits
  requirement,  ///< whether a card is enough
  full,         ///< all parameters are trained
  adapters,     ///< adapters are trained
  fp32,         ///< the weights are held in fp32
  no_flash,     ///< flash attention is not there
  modules,      ///< embeddings are trained beside the adapters
  scores,       ///< attention scores of all pairs are made
  spills,       ///< Windows moves memory to the host
  count
};

/// Prose is never as sure as a figure, which has 1.
constexpr double most_strength = 0.984375;

struct Sentence {
  std::size_t at = 0, size = 0;  ///< in the text
  std::array<int, static_cast<std::size_t>(Say::count)> score{};

  int of(Say what) const { return score[static_cast<std::size_t>(what)]; }
  bool says(Say what) const { return of(what) > 0; }
  /// 0..1: how clearly, of what it says.
  double strength(Say what) const;
};

struct Prose {
  std::vector<Sentence> sentences;

  /// The sentence that says it most clearly; null: none does.
  const Sentence* says(Say what) const;
};

/// Of a text in lower case (ASCII). Lines of a log, settings and tables are no sentences.
Prose read_prose(std::string_view folded);

}  // namespace plimsoll::diagnosis
