#include "core/run/limits.h"

#include <algorithm>
#include <optional>

#include "core/memory/parameters/targets.h"
#include "core/recipe/tasks.h"
#include "core/run/last_that.h"

namespace plimsoll::run {

namespace {

// Fields that make the run one of that size, others set with them where they must agree.
using Set = recipe::Values (*)(const Run&, uint64_t);

// The run with some fields set as a request would set them, defaults following.
class Sizing {
 public:
  Sizing(const Run& run, double usable)
      : run(run), usable(usable), card(card_of(run)), traits_(model_traits(run)) {}

  const Run& run;
  const double usable;
  const memory::Card card;

  /// Nothing where the fields contradict the rest of the request.
  std::optional<recipe::Recipe> with(const recipe::Values& changes) const {
    json::Errors errors;
    recipe::Request request = run.given;
    for (const auto& [pointer, value] : changes) request.values[pointer] = value;
    recipe::Recipe changed = recipe::resolve(request, *run.stack, traits_, errors).recipe;
    memory::expand_targets(run.network, run.resolved.recipe, changed, errors);
    if (!errors.empty()) return std::nullopt;
    return changed;
  }
  memory::Sizes usual(const recipe::Recipe& recipe) const {
    return memory::usual_sizes(card, like(run, run.network, recipe, replay(recipe)));
  }
  bool fits(const recipe::Recipe& recipe) const {
    return memory::fits(card, like(run, run.network, recipe, replay(recipe)), usable);
  }
  memory::Verdict verdict(const recipe::Values& changes) const {
    const std::optional<recipe::Recipe> changed = with(changes);
    if (!changed) return memory::Verdict::no;
    return memory::verdict(card, like(run, run.network, *changed, replay(*changed)), usable);
  }
  /// How much more the usual reserve asks for than the simulated allocator.
  double slack(Set set, uint64_t value) const {
    const std::optional<recipe::Recipe> changed = with(set(run, value));
    if (!changed) return 1;
    const memory::Replay there = replay(*changed);
    const memory::ReplayedRun like_this = like(run, run.network, *changed, there);
    return memory::usual_sizes(card, like_this).enough / memory::simulated_sizes(card, like_this).enough;
  }
  bool fits(Set set, uint64_t value) const {
    const std::optional<recipe::Recipe> changed = with(set(run, value));
    return changed && fits(*changed);
  }

 private:
  memory::Replay replay(const recipe::Recipe& recipe) const {
    return memory::replay(run.network, recipe, run.machine);
  }
  const recipe::ModelTraits traits_;
};

recipe::Values set_batch(const Run&, uint64_t batch) {
  return {{"/training/per_device_train_batch_size", batch}};
}
// Of a sequence that the policy writes, the prompt takes what the completion leaves. Where that is nothing,
// the completion is half of it, as its default is.
recipe::Values set_length(const Run& run, uint64_t length) {
  recipe::Values changes = {{"/training/max_length", length}};
  if (!task_of(run.resolved.recipe).online) return changes;
  uint64_t completion = run.resolved.recipe.rl.max_completion_length;
  if (completion >= length) changes["/rl/max_completion_length"] = completion = length / 2;
  changes["/rl/max_prompt_length"] = length - completion;
  return changes;
}
recipe::Values set_rank(const Run&, uint64_t rank) { return {{"/peft/r", rank}}; }
recipe::Values set_image(const Run& run, uint64_t size) {
  recipe::Values changes = {{"/vision/image_size", size}};
  if (run.resolved.recipe.vision.image_height > 0) changes["/vision/image_height"] = size;
  return changes;
}

recipe::Values set_images(const Run&, uint64_t images) { return {{"/vision/images_per_sample", images}}; }

// No kernel indexes beyond the rows of a table of positions: "index out of range", whatever memory is left.
uint64_t longest(const Run& run) {
  const uint64_t positions = model::learned_positions(run.network);
  return positions == 0 ? uint64_t{1} << 24 : positions;
}

// What the model was made to read ends how far it is sure to go, unless the run is already beyond that.
uint64_t longest_read(const Run& run) {
  const uint64_t read = run.network.max_position_embeddings;
  const bool within = read > 0 && run.resolved.recipe.training.max_length <= read;
  return within ? std::min(read, longest(run)) : longest(run);
}

// `last_that`, found from a guess outwards.
template <class Holds>
uint64_t last_that_near(uint64_t guess, uint64_t low, uint64_t high, const Holds& holds) {
  const bool up = guess == low || holds(guess);
  (up ? low : high) = guess;
  for (uint64_t away = 1; high - low > away; away *= 2) {
    const uint64_t next = up ? low + away : high - away;
    const bool held = holds(next);
    (held ? low : high) = next;
    if (held != up) break;
  }
  return last_that(low, high, holds);
}

// Largest multiple of `step` up to `most` that fits; from `grows_from` steps on memory grows with each of these.
// The usual reserve costs no simulation: corrected by one, it tells about where that is.
std::optional<uint64_t> largest(const Sizing& sizing, Set set, uint64_t step, uint64_t most,
                                uint64_t grows_from = 1) {
  const auto fits = [&](uint64_t steps) { return sizing.fits(set, steps * step); };
  const uint64_t end = most / step + 1;
  if (grows_from >= end || !fits(grows_from)) return std::nullopt;
  uint64_t guess = grows_from;
  double slack = 1;
  const auto usually_fits = [&](uint64_t steps) {
    const std::optional<recipe::Recipe> there = sizing.with(set(sizing.run, steps * step));
    return there && sizing.usual(*there).enough <= sizing.usable * slack;
  };
  for (int tries = 0; tries < 2; ++tries) {
    if (tries > 0) slack = sizing.slack(set, guess * step);
    guess = last_that(grows_from, end, usually_fits);
  }
  return step * last_that_near(guess, grows_from, end, fits);
}

// The preset with the most parameters that the same recipe trains on this GPU.
std::optional<LargestModel> largest_model(const Sizing& sizing, const Catalog& catalog) {
  std::vector<const ModelEntry*> order;
  for (const ModelEntry& entry : catalog.models) {
    if (entry.network.kind == sizing.run.network.kind) order.push_back(&entry);
  }
  std::stable_sort(order.begin(), order.end(), [](const ModelEntry* a, const ModelEntry* b) {
    return a->preset.parameters > b->preset.parameters;
  });
  const recipe::Recipe& r = sizing.run.resolved.recipe;
  // Without reading its layers: no preset takes less than this for each parameter.
  const double least = r.quantization.load_in_4bit   ? 0.5
                       : r.quantization.load_in_8bit ? 1
                       : !r.quantized()              ? memory::parameter_size(r)
                                                     : 0;
  for (const ModelEntry* entry : order) {
    if (least * static_cast<double>(entry->preset.parameters) > sizing.usable) continue;
    const memory::Parameters p = memory::count_parameters(entry->network, r);
    if (p.weight_bytes > sizing.usable || (r.peft.on && p.matched.empty())) continue;
    const memory::Replay replay = memory::replay(entry->network, r, sizing.run.machine);
    const memory::ReplayedRun there = like(sizing.run, entry->network, r, replay);
    if (!memory::fits(sizing.card, there, sizing.usable)) continue;
    const std::optional<Run> asked = with_model(sizing.run, *entry, catalog);
    if (!asked || !fits(*asked)) continue;
    return LargestModel{entry, sizes_at_peak(*asked).high};
  }
  return std::nullopt;
}

Costs costs_of(const Sizing& sizing) {
  const recipe::Recipe& now = sizing.run.resolved.recipe;
  const double before = sizing.usual(now).device;
  const auto cost = [&](bool applies, Set set, uint64_t value) -> std::optional<double> {
    const std::optional<recipe::Recipe> changed =
        applies ? sizing.with(set(sizing.run, value)) : std::nullopt;
    if (!changed) return std::nullopt;
    return sizing.usual(*changed).device - before;
  };
  const bool sees = sizing.run.network.image.rule != model::ImageTokens::Rule::none;
  Costs costs;
  costs.one_more_sample = cost(true, set_batch, now.training.per_device_train_batch_size + 1);
  const uint64_t longer = now.training.max_length + 256;
  costs.more_tokens = cost(longer <= longest(sizing.run), set_length, longer);
  costs.twice_the_rank = cost(now.peft.on, set_rank, 2 * now.peft.r);
  costs.one_more_image = cost(sees, set_images, now.vision.images_per_sample + 1);
  return costs;
}

Map map_of(const Sizing& sizing) {
  Map map;
  map.batches = {1, 2, 4, 8, 16, 32, 64};
  const uint64_t most = std::min<uint64_t>(32768, longest(sizing.run));
  for (uint64_t length = 256; length <= most; length *= 2) map.lengths.push_back(length);
  if (map.lengths.empty()) map.lengths.push_back(most);
  // From here on a smaller batch did not fit: neither does a larger. A batch of one says nothing of that.
  std::size_t columns = map.lengths.size();
  for (uint64_t batch : map.batches) {
    std::vector<memory::Verdict> row(map.lengths.size(), memory::Verdict::no);
    std::size_t until = columns;
    for (std::size_t i = 0; i < until; ++i) {
      recipe::Values changes = set_length(sizing.run, map.lengths[i]);
      changes.merge(set_batch(sizing.run, batch));
      row[i] = sizing.verdict(changes);
      if (row[i] == memory::Verdict::no) until = i;
    }
    if (batch > 1) columns = until;
    map.verdicts.push_back(std::move(row));
  }
  return map;
}

}  // namespace

std::optional<Limits> limits_of(const Run& run, const Catalog& catalog) {
  if (hardware::judged(run.gpu) == nullptr) return std::nullopt;
  const Sizing sizing(run, usable_for(run, run.gpu->usable_bytes));
  const bool grows = run.network.image.grows();
  const recipe::Recipe& now = run.resolved.recipe;
  Limits limits;
  // A batch of one may take attention's slow way (core/memory/layers/attention.cpp) where two do not.
  limits.batch = largest(sizing, set_batch, 1, 65536, 2);
  if (!limits.batch && sizing.fits(set_batch, 1)) limits.batch = 1;
  const uint64_t shortest = task_of(now).online ? now.rl.max_completion_length / 16 + 1 : 1;
  limits.length = largest(sizing, set_length, 16, longest_read(run), shortest);
  if (now.peft.on) limits.rank = largest(sizing, set_rank, 1, 8192);
  if (grows) limits.image_size = largest(sizing, set_image, 28, 16384);
  limits.model = largest_model(sizing, catalog);
  limits.costs = costs_of(sizing);
  limits.map = map_of(sizing);
  return limits;
}

}  // namespace plimsoll::run
