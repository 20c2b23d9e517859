#include "core/diagnosis/asked.h"

#include "core/memory/sharding/sharding.h"

namespace plimsoll::diagnosis {

using memory::Component;

std::string_view cause_of(const Asked& asked, const recipe::Recipe& recipe, double fixed, double room) {
  const bool several = recipe.parallel.num_gpus > 1;
  const memory::Strategy strategy = memory::strategy_of(recipe);
  const bool copied = several && (strategy == memory::Strategy::none || strategy == memory::Strategy::ddp);
  const std::string_view whole = copied ? "replicated_not_sharded" : "does_not_fit_at_all";
  switch (asked.at) {
    case memory::Phase::prepare:
      if (std::string_view(asked.what) == "upcast weights") return "kbit_upcast";
      return whole;
    case memory::Phase::load:
      return whole;
    case memory::Phase::optimizer_step_first:
      return asked.component == Component::optimizer ? "optimizer_states_first_step"
                                                     : "optimizer_foreach_temporary";
    case memory::Phase::optimizer_step:
      return "optimizer_foreach_temporary";
    default:
      break;
  }
  if (asked.component == Component::logits || asked.at == memory::Phase::loss) return "logits_peak";
  if (std::string_view(asked.what).find("scores") != std::string_view::npos)
    return "eager_attention_quadratic";
  if (recipe.quantized() && asked.component == Component::transient) return "dequantisation_temporary";
  if (fixed > 0.85 * room) return whole;
  if (recipe.vision.images_per_sample > 0) return "vision_tokens";
  return recipe.training.gradient_checkpointing ? "batch_or_sequence_too_large" : "checkpointing_not_active";
}

std::string place_of(const Asked& asked) {
  constexpr std::string_view places[] = {
      "while the weights are loaded", "while the model is prepared", "in the forward pass", "in the loss",
      "in the backward pass",         "in the first optimizer step", "in an optimizer step"};
  std::string out(places[static_cast<std::size_t>(asked.at)]);
  if (asked.layer >= 0) out += ", in layer " + std::to_string(asked.layer);
  return out;
}

}  // namespace plimsoll::diagnosis
