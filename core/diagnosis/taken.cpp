#include "core/diagnosis/taken.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/diagnosis/signs.h"
#include "core/memory/step/replay.h"
#include "core/recipe/tasks.h"
#include "core/run/last_that.h"

namespace plimsoll::diagnosis {

namespace {

constexpr const char* batch_at = "/training/per_device_train_batch_size";
constexpr const char* length_at = "/training/max_length";
constexpr const char* type_at = "/model_args/dtype";
constexpr const char* checkpointing_at = "/training/gradient_checkpointing";
constexpr const char* evaluation_at = "/training/eval_strategy";
constexpr const char* metrics_at = "/training/compute_metrics";
constexpr const char* eval_samples_at = "/data/eval_samples";

double peak_of(const Situation& s, const recipe::Recipe& recipe) {
  return memory::replay(*s.network, recipe, *s.machine).at_peak().live.total();
}

// What the card gave this process, by the message; of a card alone, less a context.
double room_of(const TextReading& r) {
  constexpr double usable = 0.97;
  const Message* message = r.message();
  if (message == nullptr || message->family->kind != MessageKind::allocator) return usable * r.facts.capacity;
  const Numbers& n = message->numbers;
  if (!n.allocated) return usable * r.facts.capacity;
  return r.derived.reserved.value_or(n.allocated->bytes) + (n.free ? n.free->bytes : 0);
}

// The first of 1..most multiples of `unit` with which the run is too large for the room; 0: none is.
template <typename Set>
uint64_t least_that_fails(const Situation& s, const recipe::Recipe& recipe, double room, uint64_t most,
                          Set set) {
  const auto fails = [&](uint64_t count) {
    recipe::Recipe changed = recipe;
    set(changed, count);
    return peak_of(s, changed) > room;
  };
  if (!fails(most)) return 0;
  return run::last_that(0, most, [&](uint64_t count) { return !fails(count); }) + 1;
}

// Tokens of the micro-batch by the very size that failed, where it is that of this model's logits.
double tokens_by_size(const TextReading& r) {
  if (r.products.empty()) return 0;
  const Product& first = r.products.front();
  return first.exact && first.chosen && first.model.empty() && first.tensor == "logits" ? first.tokens : 0;
}

constexpr const char* least_batch = "not said; one sample is the least";
constexpr const char* by_size = "the size that failed is of so many tokens";

constexpr uint64_t step_of_length = 256, most_steps = 64;

void take_length(const Situation& s, const TextReading& r, const recipe::Recipe& recipe,
                 std::vector<run::Choice>& out) {
  const auto batch = static_cast<double>(recipe.training.per_device_train_batch_size);
  if (const double tokens = tokens_by_size(r); tokens > 0 && batch == 1) {
    out.push_back({length_at, static_cast<uint64_t>(tokens), by_size, s.values.count(batch_at) > 0});
    return;
  }
  const uint64_t steps = least_that_fails(
      s, recipe, room_of(r), most_steps,
      [](recipe::Recipe& one, uint64_t count) { one.training.max_length = count * step_of_length; });
  // What fails with the shortest already says nothing of the length.
  if (steps > 1)
    out.push_back(
        {length_at, steps * step_of_length, "not said; the shortest that is too much for the card"});
}

// Samples of one micro-batch by the size that failed; 0: it is of no whole number of them.
uint64_t samples_by_size(const TextReading& r, const recipe::Recipe& recipe) {
  const double length = static_cast<double>(recipe.training.max_length) * recipe::rows_of_sample(recipe);
  const double samples = length > 0 ? tokens_by_size(r) / length : 0;
  return samples == std::floor(samples) ? static_cast<uint64_t>(samples) : 0;
}

void take_batch(const Situation& s, const TextReading& r, const recipe::Recipe& recipe,
                std::vector<run::Choice>& out) {
  if (const uint64_t samples = samples_by_size(r, recipe); samples > 0) {
    out.push_back({batch_at, samples, by_size, true});
    return;
  }
  const uint64_t count = least_that_fails(
      s, recipe, room_of(r), std::max<uint64_t>(1, recipe.training.per_device_train_batch_size),
      [](recipe::Recipe& one, uint64_t samples) { one.training.per_device_train_batch_size = samples; });
  if (count > 0) out.push_back({batch_at, count, "not said; the smallest that is too much for the card"});
}

// Its steps ran: what is too much is the batch of evaluation, or all the logits that are kept for metrics.
void take_evaluation(const Situation& s, const TextReading& r, recipe::Recipe recipe,
                     std::vector<run::Choice>& out) {
  if (s.values.count(evaluation_at) == 0) out.push_back({evaluation_at, "steps", "it failed in evaluation"});
  recipe.training.eval_strategy = "steps";
  if (!r.frames.shows("collects")) return;
  if (s.values.count(metrics_at) == 0)
    out.push_back({metrics_at, true, "the logits of all batches were being joined"});
  recipe.training.compute_metrics = true;
  if (s.values.count(eval_samples_at) != 0) return;
  constexpr uint64_t unit = 8;
  const uint64_t units =
      least_that_fails(s, recipe, room_of(r), most_steps,
                       [](recipe::Recipe& one, uint64_t count) { one.data.eval_samples = count * unit; });
  if (units > 0)
    out.push_back({eval_samples_at, units * unit, "not said; the fewest that are too much for the card"});
}

bool is_weight(const Match& one) {
  return one.model.empty() && (one.kind == TensorKind::weight || one.kind == TensorKind::embedding);
}

// Whether the size that failed is of a weight of this model, of so many bytes an element.
bool is_weight_of(const TextReading& r, int element) {
  return std::any_of(r.matches.begin(), r.matches.end(),
                     [&](const Match& one) { return is_weight(one) && one.element == element; });
}

}  // namespace

bool states_are_fp32(const TextReading& r) {
  const Facts& f = r.facts;
  if (!r.frames.shows("states") || f.method != Method::full || !f.quantization.empty() || f.several() ||
      !f.strategy.empty() || r.matches.empty())
    return false;
  return !is_weight_of(r, 2) && is_weight(r.matches.front()) && r.matches.front().element == 4;
}

bool weights_are_16bit(const Situation& s, const TextReading& r) {
  const Facts& f = r.facts;
  const Message* message = r.message();
  if (s.recipe == nullptr || s.recipe->model_args.dtype != "float32" || s.values.count(type_at) != 0 ||
      f.several() || !f.quantization.empty() || message == nullptr || !message->numbers.allocated)
    return false;
  const bool loaded =
      tokens_by_size(r) > 0 || (r.phase != FailurePhase::unknown && r.phase != FailurePhase::load);
  const double allocated = message->numbers.allocated->bytes;
  return (loaded || (is_weight_of(r, 2) && !is_weight_of(r, 4))) && allocated > f.weights16 &&
         allocated < 2 * f.weights16;
}

std::vector<run::Choice> taken_of(const Situation& s, const TextReading& r) {
  std::vector<run::Choice> out;
  recipe::Recipe recipe = s.recipe == nullptr ? recipe::Recipe() : *s.recipe;
  if (states_are_fp32(r) && s.values.count(type_at) == 0) {
    out.push_back(
        {type_at, "float32", "the optimizer's states have that type, and take it from the weights"});
    recipe.model_args.dtype = "float32";
  }
  if (r.rerun.checkpointed && s.values.count(checkpointing_at) == 0) {
    out.push_back({checkpointing_at, true, "without it the run would not have got to where it failed", true});
    recipe.training.gradient_checkpointing = true;
  }
  const bool host = r.message() == nullptr || r.message()->family->kind == MessageKind::host;
  if (s.recipe == nullptr || s.network == nullptr || s.machine == nullptr || host || room_of(r) <= 0)
    return out;
  if (r.phase == FailurePhase::eval) {
    if (s.values.count(batch_at) == 0) out.push_back({batch_at, uint64_t{1}, least_batch});
    if (s.values.count(batch_at) == 0) recipe.training.per_device_train_batch_size = 1;
    take_evaluation(s, r, std::move(recipe), out);
    return out;
  }
  // No step is made there, so that it says nothing of one.
  if (r.phase == FailurePhase::save || r.phase == FailurePhase::merge || r.phase == FailurePhase::load)
    return out;
  const bool batch = s.values.count(batch_at) == 0, length = s.values.count(length_at) == 0;
  if (batch && length) {
    recipe.training.per_device_train_batch_size = 1;
    out.push_back({batch_at, uint64_t{1}, least_batch});
  }
  if (length) take_length(s, r, recipe, out);
  if (batch && !length) take_batch(s, r, recipe, out);
  return out;
}

}  // namespace plimsoll::diagnosis
