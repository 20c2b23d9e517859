// PEFT's methods besides LoRA: which tensors each adds to a linear, and what it keeps for backward.
//
//     const Tuner* method = find_tuner("LOHA");
//     TunerShapes shapes  = shapes_of(*method, 4096, 4096, recipe.peft);
//     shapes.trained;       // four matrices of r x 4096
//     method->weights;      // 1: the whole o x i update is built and kept
//
// What is kept was read from PEFT 0.21 with torch.autograd.graph.saved_tensors_hooks around one adapted
// linear (bf16 base, fp32 adapters, no autocast), what is trained from the same run and from the counts that
// PEFT prints: huggingface/peft src/peft/tuners/*/layer.py, method_comparison/MetaMathQA/results.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "core/recipe/recipe.h"
#include "core/recipe/tuner_places.h"

namespace plimsoll::memory {

using recipe::TunerPlace;

struct TunerShapes {
  std::vector<std::pair<double, double>> trained;  ///< rows, columns; columns 0: a vector
  double frozen = 0;  ///< elements that this module adds in the adapter's type and does not train
  double rank = 0;    ///< elements a row (token) that the low-rank part keeps
};
/// A linear that is adapted.
struct AdaptedLinear {
  double in, out, r;
  const recipe::Peft& peft;
};

struct Tuner {
  std::string_view id;                    ///< PEFT's peft_type
  TunerPlace place = TunerPlace::linear;  ///< recipe::tuner_place
  // Kept for backward, in tensors of the adapter's type:
  double input = 0;          ///< rows x in: a copy of x in the adapter's type
  double output = 0;         ///< rows x out
  double weights = 0;        ///< out x in
  double scratch = 0;        ///< out x in that live only while the update is built, forward and backward
  bool base_output = false;  ///< the base result is kept, in its own type
  bool replaces = false;     ///< the base weight itself is changed: one new weight of its type, and x is kept
  bool in_place = false;     ///< added to the base result in its own type
  void (*shapes)(const AdaptedLinear&, TunerShapes&) = nullptr;  ///< null: the linears get nothing
};

/// What the steps of each are: tuner_steps.h. Null for "LORA" and "ADALORA" (whose layers are LoRA's), and
/// for an unknown word.
const Tuner* find_tuner(std::string_view peft_type);
/// The method of these adapters, variants included. Null without adapters.
const Tuner* find_tuner(const recipe::Peft& peft);

TunerShapes shapes_of(const Tuner& tuner, double in, double out, const recipe::Peft& peft);

/// Elements that all modules share: VeRA's projections, VB-LoRA's bank of vectors. `widest_*`: of all
/// targets.
struct SharedShapes {
  double trained = 0, frozen = 0;
};
SharedShapes shared_of(const Tuner& tuner, double widest_in, double widest_out, const recipe::Peft& peft);

}  // namespace plimsoll::memory
