// What Transformers' own loss does with the logits, by version.
#include "core/memory/head/head.h"
#include "core/model/model_types.h"
#include "core/recipe/stacks.h"

namespace plimsoll::memory {

StockLoss stock_loss(const std::string& stack, const std::string& transformers,
                     const std::string& model_type) {
  const recipe::StackTraits& traits = recipe::stack_traits(stack);
  if (traits.sixteen_bit_loss) return {.upcast = false};
  if (traits.pads_labels) return {.upcast_replaces = true};
  const model::LogitsUpcast logits = model::model_type(model_type).logits;
  if (logits == model::LogitsUpcast::never_shifted) return {.upcast = false, .shift_copy = true};
  if (logits == model::LogitsUpcast::never) return {.upcast = false};
  const auto at_least = [&](const char* version) { return recipe::version_at_least(transformers, version); };
  if (at_least("4.49")) return {};
  if (at_least("4.46")) return {.shift_copy = true};
  if (logits == model::LogitsUpcast::none_until_4_46) return {.upcast = false, .shift_copy = true};
  if (at_least("4.31")) return {.upcast_replaces = true, .shift_copy = true};
  return {.upcast = false, .shift_copy = true};
}

}  // namespace plimsoll::memory
