// What each optimizer keeps and what it needs while it steps.
//
//     const recipe::Optimizer* adamw = recipe::find_optimizer("adamw_torch_fused");
//     double state = adamw->state_in_parameter_dtype * 4 * trainable;   // fp32 parameters
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace plimsoll::recipe {

/// What step() allocates beyond the state.
enum class StepTemporary {
  none,
  copy_of_all,  ///< foreach: one tensor a parameter, all of a dtype at once (the square root of exp_avg_sq)
  two_copies_of_all,  ///< foreach, with the numerator beside it (_multi_tensor_adagrad)
  two_of_largest,     ///< one parameter after another: denominator and update of the largest
  adafactor,          ///< one parameter after another: fp32 gradient, fp32 weight, update, its negative
  adafactor_apart,    ///< the same, each in a call of its own
  lomo,               ///< one parameter after another: fp32 gradient and fp32 weight of what is in 16 bits
};

/// States of a matrix live in a subspace: of its larger side times the rank, with the matrix that leads
/// there.
enum class Projection {
  none,
  singular_vectors,  ///< GaLore: from a singular value decomposition of the gradient, in fp32
  random,            ///< APOLLO: drawn at random
};

struct Optimizer {
  std::string_view id;
  bool adamw = false;                   ///< of PyTorch, Apex or bitsandbytes: one may stand in for another
  double state_in_parameter_dtype = 0;  ///< tensors of the parameter's own dtype, per element (AdamW: 2)
  double state_bytes = 0;               ///< plus this many bytes per element whatever the dtype
  uint64_t block = 0;                   ///< elements that share one fp32 scale a state tensor; 0: none
  double scales = 0;                    ///< scaled state tensors (8-bit AdamW: 2)
  uint64_t full_state_below = 0;        ///< tensors with fewer elements keep fp32 states
  bool embeddings_in_full = false;      ///< Transformers' Trainer has fp32 states of every nn.Embedding
  bool factored = false;                ///< Adafactor: fp32 row and column sums instead of a state a weight
  bool paged = false;  ///< states of 100,000 elements and more, but not their scales, live in managed memory
  bool at_once = false;      ///< its states are made with it, for parameters too that get no gradient
  bool in_backward = false;  ///< steps through hooks, one parameter after another, as gradients appear
  StepTemporary temporary = StepTemporary::none;
  std::string_view source;
  Projection projection = Projection::none;
  double state_of_16_bit = 0;  ///< further tensors of the parameter's own dtype where that has 16 bits
  std::string_view what;       ///< in words
};

/// Every optimizer that can be named in `training.optim`.
std::span<const Optimizer> optimizers();

/// Null when unknown. Each name of one optimizer has a row ("adamw_8bit", "adamw_bnb_8bit").
const Optimizer* find_optimizer(std::string_view id);
/// AdamW with two whole states on the card: other libraries', with smaller ones, may stand in for it.
bool plain_adamw(std::string_view id);

}  // namespace plimsoll::recipe
