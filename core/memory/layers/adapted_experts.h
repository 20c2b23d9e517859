// PEFT's adapters on a parameter that holds all experts of a layer: the adapted weights are built anew in
// each forward.
//
//     StackedWeight w = weight_of(program, Role::down, experts);
//     Adapted adapted = enter(tape, program, w, program.folded_factors);    // ParamWrapper.forward begins
//     ask(tape, w, adapted);                                               // the experts read their weight
//
// Source: huggingface/peft src/peft/tuners/lora/layer.py ParamWrapper, _LoraParameterProxy,
// _LoraFactorsProxy.
#pragma once

#include "core/memory/layers/layer.h"

namespace plimsoll::memory {

/// One projection of all experts of a layer.
struct StackedWeight {
  double in = 0, out = 0, experts = 1;
  LinearSpec spec;  ///< of one expert; its r is the adapter's
  double elements() const { return in * out * experts; }
  double bytes() const { return elements() * spec.size; }
  /// Elements of lora_A and lora_B, which PEFT makes rank times experts wide.
  double factor_in() const { return rank() * in * experts; }
  double factor_out() const { return rank() * out * experts; }
  double rank() const { return spec.r * spec.parts; }
};

StackedWeight weight_of(const LayerProgram& program, model::Role role, double experts);
/// gate and up in one; where PEFT has adapted them by name, their ranks add up.
StackedWeight gate_up_of(const LayerProgram& program, double experts);

/// W + scaling * B A for all experts. Since PEFT 0.21 it is one torch.baddbmm on 16-bit copies of A and B;
/// before, the product in fp32, scaled into a second one, cast, and added. ParamWrapper makes copies or
/// product on its way in and tries the sum once (torch/nn/utils/parametrize.py register_parametrization); the
/// experts get it when they first ask for their weight, and it stays until they are done.
struct Adapted {
  Tensor factors;  ///< of a folded product
  Tensor product;  ///< of one that is not folded
  Tensor weight;   ///< empty without an adapter
};

/// What ParamWrapper makes on its way in. Nothing where there is no adapter.
Adapted enter(Tape& tape, const LayerProgram& program, const StackedWeight& weight, bool folded);

/// Makes the adapted weight.
void ask(Tape& tape, const StackedWeight& weight, Adapted& adapted);

}  // namespace plimsoll::memory
