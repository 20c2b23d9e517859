// Which tensor of a model has the size that could not be had.
//
//     std::vector<Match> found = tensors_of_size(234881024, known);
//     found[0].what;      // "a gate_proj weight, 14336 x 4096"
//     found[0].dtype;     // "fp32"
//     found[0].implies;   // "the model is held in fp32"
#pragma once

#include <string>
#include <vector>

#include "core/diagnosis/facts.h"

namespace plimsoll::diagnosis {

enum class TensorKind { weight, embedding, layer, model, logits, scores, activation };

struct Match {
  TensorKind kind = TensorKind::weight;
  std::string model;    ///< id of the proposed model; "" when it is the request's own
  std::string what;     ///< "a down_proj weight, 4096 x 14336"
  std::string dtype;    ///< fp32, bf16, ...
  std::string phase;    ///< when such a tensor is made
  std::string implies;  ///< what follows when this is the one
  int element = 2;      ///< bytes an element
  double bytes = 0;     ///< of the tensor
  double off = 0;       ///< printed size minus tensor, within the allocator's rounding
};

struct Reading;

/// Tensors of the run's model, or of models it may be, whose allocation prints as this size. At most eight.
std::vector<Match> tensors_of_size(const Size& tried, const Situation& situation, const Reading& reading);

}  // namespace plimsoll::diagnosis
