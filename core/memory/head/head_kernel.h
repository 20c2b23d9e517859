// What the kernels of head and loss share: a kernel takes the normalised hidden states and gives back the
// loss.
//
//     Outcome selective_log_softmax(Tape& tape, const HeadProgram& p, const Tensor& hidden) {
//       Tensor logits = project(tape, p, hidden);
//       ...
//       return {std::move(loss), std::move(logits)};
//     }
#pragma once

#include "core/memory/head/head.h"

namespace plimsoll::memory {

struct Outcome {
  Tensor loss;
  Tensor outputs;  ///< what the caller of model.forward receives besides the loss
};

/// The head on hidden states: logits in the dtype that PyTorch gives them.
Tensor project(Tape& tape, const HeadProgram& p, const Tensor& hidden);

/// A number of four bytes.
Tensor scalar(Tape& tape);

/// log_softmax keeps its output; nll_loss writes a zero-filled gradient of the same size.
Tensor cross_entropy(Tape& tape, const Mode& mode, Tensor logits);

}  // namespace plimsoll::memory
