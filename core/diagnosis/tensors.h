// Which tensor of a model has the size that could not be had.
//
//     std::vector<Match> found = tensors_of_size(*numbers.tried, situation, reading);
//     found[0].what;      // "the weight of down_proj, 4096 x 14336"
//     found[0].dtype;     // "fp32"
//     found[0].implies;   // "The weights are held in fp32: ..."
//
// PyTorch prints what it asks the driver for, not the tensor: 2 MiB for tensors up to 1 MiB, 20 MiB up to 10
// MiB, and above that the tensor rounded up to 2 MiB (c10/cuda/CUDACachingAllocator.cpp get_allocation_size).
// So 2.00 and 20.00 MiB name no tensor. XLA, Metal and the host print the tensor itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/diagnosis/facts.h"

namespace plimsoll::diagnosis {

enum class TensorKind : uint8_t { weight, embedding, layer, model, partition, logits, scores, activation };

struct Match {
  TensorKind kind = TensorKind::weight;
  std::string model;     ///< ids of the proposed models, joined by ", "; "" when it is the run's own
  std::string what;      ///< "the weight of down_proj, 4096 x 14336"
  std::string dtype;     ///< fp32 or 16-bit
  std::string phase;     ///< when such a tensor is made
  std::string implies;   ///< what follows when this is the one
  int element = 2;       ///< bytes an element
  double bytes = 0;      ///< of the tensor
  double off = 0;        ///< printed size minus tensor
  double rank = 0;       ///< higher is likelier
  bool guessed = false;  ///< it takes a number of tokens that nobody has stated
};

struct TextReading;

/// Tensors of the run's model, or of models it may be, whose allocation prints as this size, likeliest first.
/// At most eight.
std::vector<Match> tensors_of_size(const Size& tried, const Situation& situation, const TextReading& reading);

/// Sizes a tensor may have whose allocation prints so: from `low` to `high` bytes; `loose` with one more step
/// of padding. Empty (low > high) for the blocks that hold any small tensor.
struct Window {
  double low = 1, high = 0, loose = 1;
  bool empty() const { return low > high; }
  bool holds(double bytes) const { return bytes >= low && bytes <= high; }
};
Window window_of(const Size& tried, MessageKind kind);

/// What is left of a whole number without its factors of two.
double odd_part(double count);
/// A power of two, once, three or five times: a number of tokens that a person chooses, and that hardly comes by chance.
bool is_chosen(double count);

/// The first layers of the network that reads text; null where it has none.
const model::LayerGroup* text_layers(const model::Architecture& network);

}  // namespace plimsoll::diagnosis
