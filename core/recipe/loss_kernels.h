// The loss table: how head and loss are computed, and what that means for time and for plans. What a kernel
// allocates, and its source, is the function of the same id in core/memory/head/head.cpp; a test holds the two
// tables together.
//
//     recipe::loss_kernel(recipe.training.loss_kernel).whole_logits      // true: a fused kernel would spare them
#pragma once

#include <span>
#include <string_view>

namespace plimsoll::recipe {

struct LossKernel {
  std::string_view id;  ///< as in training.loss_kernel
  /// A plain cross-entropy, which Liger's or Apple's kernel can take the place of.
  bool whole_logits = false;
  bool head_again = false;    ///< the backward computes the logits a second time
  bool moves_little = false;  ///< each logit is touched a few times, not written out in fp32
  bool labels_alone = false;  ///< only positions whose next token has a label are scored
};

/// In the order in which a person is told of them.
std::span<const LossKernel> loss_kernels();
/// The first when the id is unknown.
const LossKernel& loss_kernel(std::string_view id);

}  // namespace plimsoll::recipe
