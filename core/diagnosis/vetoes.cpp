#include "core/diagnosis/vetoes.h"

#include <algorithm>

#include "core/diagnosis/sign_parts.h"

namespace plimsoll::diagnosis {

namespace {

double allocated_of(const TextReading& r) {
  const Message* message = r.message();
  if (message == nullptr || message->family->kind != MessageKind::allocator) return 0;
  return message->numbers.allocated ? message->numbers.allocated->bytes : 0;
}

// Behind loading, by the traceback: all weights are in their place.
bool is_loaded(const TextReading& r) {
  return in_a_step(r.frames.phase) || r.frames.phase == FailurePhase::eval;
}

// Weights that would be there are larger than all that is.
std::string no_room_for_weights(const TextReading& r, double bytes_each, const char* what) {
  const double weights = bytes_each * r.facts.parameters, there = allocated_of(r);
  if (!is_loaded(r) || there == 0 || r.facts.offload || weights <= 1.03 * there) return "";
  return std::string(what) + " takes " + size_text(weights) + ", and in the step " + size_text(there) +
         " were allocated in all.";
}

std::string too_much_weight(const TextReading& r) {
  const Facts& f = r.facts;
  const bool divided = f.several() || f.sharded() || f.strategy == "deepspeed";
  return divided || !f.quantization.empty() ? ""
                                            : no_room_for_weights(r, 2, "One copy of the weights in 16 bits");
}

constexpr const char* one_card = "There is one card, so nothing is copied onto several.";

constexpr const char* one_process =
    "One process puts each layer on one card (device_map): nobody holds it twice.";

constexpr const char* parts_of_it = "Tensor and pipeline parallelism give each card a part of the model.";

std::string loaded_whole(const TextReading& r) {
  if (r.facts.gpus && *r.facts.gpus == 1) return one_card;
  if (!r.facts.gpus && r.facts.strategy.empty()) return "Nothing says that several cards share the model.";
  if (r.facts.model_parallel) return parts_of_it;
  return r.facts.layered ? one_process : is_loaded(r) ? "Loading was over." : "";
}

std::string whole_copy(const TextReading& r) {
  if (r.facts.gpus && *r.facts.gpus == 1) return one_card;
  if (r.facts.layered) return one_process;
  if (r.facts.model_parallel) return parts_of_it;
  return r.facts.quantization.empty() ? no_room_for_weights(r, 2, "A whole copy of the weights in 16 bits")
                                      : "";
}

std::string fp32_weights(const TextReading& r) {
  const Facts& f = r.facts;
  if (f.several() || f.sharded() || !f.quantization.empty()) return "";
  return no_room_for_weights(r, 4, "The model in fp32");
}

std::string no_states_yet(const TextReading& r) {
  return in_a_pass(r.frames.phase)
             ? "Optimizer states are made in the optimizer's step, and it failed in the pass before it."
             : "";
}

std::string no_samples_there(const TextReading& r) {
  const FailurePhase at = r.frames.phase;
  return at == FailurePhase::load || at == FailurePhase::merge || at == FailurePhase::optimizer
             ? "The traceback shows a moment at which no sample is in the model."
             : "";
}

std::string never_in_evaluation(const TextReading& r) {
  const FailurePhase at = r.frames.phase;
  return at == FailurePhase::backward || at == FailurePhase::optimizer
             ? "Evaluation has no backward pass and no optimizer."
             : "";
}

// What no card could give is not refused for what others hold of it.
std::string larger_than_card(const TextReading& r) {
  const Message* message = r.message();
  if (message == nullptr || !message->numbers.tried || !message->numbers.capacity) return "";
  const bool larger = message->numbers.tried->bytes > message->numbers.capacity->bytes;
  return larger ? "One tensor was asked for that is larger than the whole card." : "";
}

std::string too_few_pieces(const TextReading& r) {
  const Message* message = r.message();
  if (std::string larger = larger_than_card(r); !larger.empty()) return larger;
  if (message == nullptr || !message->numbers.tried || !r.derived.slack) return "";
  if (*r.derived.slack >= message->numbers.tried->bytes || lies_in_pieces(r)) return "";
  return "Only " + size_text(*r.derived.slack) + " are reserved but free, less than was asked for.";
}

std::string all_of_this_run(const TextReading& r) {
  if (std::string larger = larger_than_card(r); !larger.empty()) return larger;
  const Message* message = r.message();
  if (message == nullptr || !r.derived.residual || message->numbers.allocated.value_or(Size()).bytes == 0)
    return "";
  const bool windows = r.derived.sentinel || *r.derived.residual < 0;
  if (windows || *r.derived.residual > gibibyte || r.derived.other.value_or(0) > gibibyte / 4) return "";
  return "All but " + size_text(std::max(0.0, *r.derived.residual)) + " of the card is this run's or free.";
}

std::string already_checkpointed(const TextReading& r) {
  constexpr std::string_view ignored = "checkpointing_ignored";
  if (r.rerun.checkpointed)
    return "Gradient checkpointing was on: without it the run would not have got so far.";
  const bool said = std::any_of(r.cases.begin(), r.cases.end(),
                                [&](const CaseShown& one) { return one.what->id == ignored; });
  if (said || r.rerun.setting == ignored) return "";  // set, and without effect
  return r.facts.checkpointing.value_or(false) && r.facts.length ? "Gradient checkpointing is on." : "";
}

struct Rule {
  std::string_view cause;
  std::string (*why)(const TextReading&);
};
constexpr Rule rules[] = {
    {"does_not_fit_at_all", too_much_weight},
    {"replicated_not_sharded", whole_copy},
    {"sharding_load_peak", loaded_whole},
    {"load_peak", [](const TextReading& r) { return is_loaded(r) ? std::string("Loading was over.") : ""; }},
    {"fp32_by_mistake", fp32_weights},
    {"optimizer_states_first_step", no_states_yet},
    {"optimizer_foreach_temporary", no_states_yet},
    {"logits_peak", no_samples_there},
    {"eager_attention_quadratic", no_samples_there},
    {"long_outlier_sequences", no_samples_there},
    {"vision_tokens", no_samples_there},
    {"eval_accumulates_logits", never_in_evaluation},
    {"fragmentation", too_few_pieces},
    {"other_process", all_of_this_run},
    {"checkpointing_not_active", already_checkpointed},
};

}  // namespace

std::string veto(std::string_view cause, const TextReading& reading) {
  for (const Rule& rule : rules) {
    if (rule.cause == cause) return rule.why(reading);
  }
  return "";
}

}  // namespace plimsoll::diagnosis
