// torchtune's own losses, each in eight chunks of the tokens.
#pragma once

#include "core/memory/head/head_kernel.h"

namespace plimsoll::memory {

/// CEWithChunkedOutputLoss (releases up to 0.6.1): all logits exist when the losses begin.
Outcome torchtune_chunked(Tape& tape, const HeadProgram& p, const Tensor& hidden);

/// LinearCrossEntropyLoss (the main branch since 0.6.1): a chunk's logits go before the next chunk's come.
Outcome torchtune_linear(Tape& tape, const HeadProgram& p, const Tensor& hidden);

}  // namespace plimsoll::memory
