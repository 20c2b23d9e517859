// What BERT and the encoders after it have in common: a table of words, layers with a norm behind each branch.
//
//     constexpr EncoderTraits distilbert{.base = "distilbert.", .layers_key = "n_layers"};
//     read_encoder(config, distilbert, network);
#pragma once

#include <string>

#include "core/model/builders.h"

namespace plimsoll::model {

/// BERT's own, where a family says nothing else.
struct EncoderTraits {
  const char* base = "bert.";
  uint64_t vocab = 30522, types = 2;
  bool learned_positions = true, pooler = true;
  bool narrow_words = false;     ///< embedding_size: words may be narrower than the layers
  bool keeps_activation = true;  ///< a name of forward() holds what the activation gave
  bool rotary = false, gated = false, bias = true;
  const char *hidden_key = "hidden_size", *intermediate_key = "intermediate_size",
             *layers_key = "num_hidden_layers", *heads_key = "num_attention_heads",
             *activation_key = "hidden_act", *attention_dropout_key = "attention_probs_dropout_prob",
             *dropout_key = "hidden_dropout_prob";
  const char* activation = "gelu";
  double dropout = 0.1;
  const char* layer = "encoder.layer.#.";  ///< and below it:
  const char *attention = "attention.", *up = "intermediate.dense", *down = "output.dense";
  const char *q = "self.query", *k = "self.key", *v = "self.value", *o = "output.dense";
};
/// Adds the encoder to the network, which is counted as the base model.
Stack& read_encoder(ConfigReader& config, const EncoderTraits& traits, Architecture& network);

}  // namespace plimsoll::model
