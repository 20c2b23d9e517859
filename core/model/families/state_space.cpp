#include "core/model/families/state_space.h"

#include "core/model/saturating.h"

namespace plimsoll::model {

using saturating::plus;
using saturating::times;

namespace {

// in_proj gives the gate, the signal, B, C and the step sizes; A, D and the step's bias are one number a
// head.
void add_mamba_2(LayerGroup& group, const std::string& at, uint64_t hidden, StateSpaceBiases biases) {
  const StateSpace& s = group.state_space;
  const uint64_t convolved = plus(s.inner, times(2, times(s.groups, s.state)));
  add_linear(group.linears, at + "in_proj", hidden, plus(plus(s.inner, convolved), s.heads), biases.in,
             Role::ssm_in);
  add_linear(group.linears, at + "out_proj", s.inner, hidden, biases.out, Role::ssm_out);
  if (s.gated_norm) add_rms(group.norms, NormPlace::other, s.inner);
  group.other_parameters =
      plus(group.other_parameters,
           plus(times(convolved, plus(s.kernel, biases.convolution ? 1 : 0)), times(3, s.heads)));
}

// in_proj gives signal and gate; x_proj the step's narrow form, B and C; A is a matrix, D one number a
// channel.
void add_mamba_1(LayerGroup& group, const std::string& at, uint64_t hidden, StateSpaceBiases biases) {
  const StateSpace& s = group.state_space;
  add_linear(group.linears, at + "in_proj", hidden, times(2, s.inner), biases.in, Role::ssm_in);
  add_linear(group.linears, at + "x_proj", s.inner, plus(s.step_rank, times(2, s.state)), false, Role::ssm_x);
  add_linear(group.linears, at + "dt_proj", s.step_rank, s.inner, true, Role::ssm_step);
  add_linear(group.linears, at + "out_proj", s.inner, hidden, biases.out, Role::ssm_out);
  if (s.normed_inputs) {
    for (const uint64_t width : {s.step_rank, s.state, s.state}) {
      add_rms(group.norms, NormPlace::other, width);
    }
  }
  group.other_parameters =
      plus(group.other_parameters,
           times(s.inner, plus(plus(s.kernel, biases.convolution ? 1 : 0), plus(s.state, 1))));
}

}  // namespace

void add_state_space(LayerGroup& group, const std::string& at, uint64_t hidden, StateSpaceBiases biases) {
  if (group.state_space.heads > 0) {
    add_mamba_2(group, at, hidden, biases);
  } else {
    add_mamba_1(group, at, hidden, biases);
  }
}

}  // namespace plimsoll::model
