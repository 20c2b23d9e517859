#include "core/report/limits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/json/rounding.h"
#include "core/memory/parameters/targets.h"
#include "core/recipe/tasks.h"
#include "core/recipe/variations.h"

namespace plimsoll::report {

namespace {

using json::whole;
using json::Writer;

// Fields that make the run one of that size, others set with them where they must agree.
using Set = recipe::Values (*)(const Run&, uint64_t);

// The run with some fields set as a request would set them, defaults following.
class Limits {
 public:
  Limits(const Run& run, double usable)
      : run(run),
        usable(usable),
        around_(surroundings(run)),
        variations_(run.given, *run.stack, around_, run.resolved) {}

  const Run& run;
  const double usable;

  /// Nothing where the fields contradict the rest of the request.
  std::optional<recipe::Recipe> with(const recipe::Values& changes) {
    json::Errors errors;
    recipe::Recipe changed = variations_.with(changes, errors).recipe;
    memory::expand_targets(run.network, run.resolved.recipe, changed, errors);
    if (!errors.empty()) return std::nullopt;
    return changed;
  }
  memory::Sizes sizes(const recipe::Recipe& recipe) const {
    const memory::Replay replay = memory::replay(run.network, recipe, run.machine);
    memory::Sizes sizes = memory::sizes_of(replay.instants[replay.peak], recipe, run.context);
    sizes.high *= run.widening;
    return sizes;
  }
  memory::Verdict verdict(const recipe::Values& changes) {
    const std::optional<recipe::Recipe> changed = with(changes);
    return changed ? memory::verdict(sizes(*changed), usable) : memory::Verdict::no;
  }
  bool fits(Set set, uint64_t value) { return verdict(set(run, value)) == memory::Verdict::fits; }

 private:
  const recipe::Surroundings around_;
  recipe::Variations variations_;
};

recipe::Values set_batch(const Run&, uint64_t batch) {
  return {{"/training/per_device_train_batch_size", batch}};
}
bool writes_completions(const Run& run) {
  const recipe::Task* task = recipe::find_task(run.resolved.recipe.task);
  return task != nullptr && task->online;
}
// Of a sequence that the policy writes, the prompt takes what the completion leaves. Where that is nothing,
// the completion is half of it, as its default is.
recipe::Values set_length(const Run& run, uint64_t length) {
  recipe::Values changes = {{"/training/max_length", length}};
  if (!writes_completions(run)) return changes;
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

// Largest multiple of `step` up to `most` that fits, by bisection from `grows_from` steps on: memory grows
// with each of these from there.
std::optional<uint64_t> largest(Limits& limits, Set set, uint64_t step, uint64_t most,
                                uint64_t grows_from = 1) {
  const auto fits = [&](uint64_t steps) { return limits.fits(set, steps * step); };
  if (!fits(grows_from)) {
    return std::nullopt;
  }
  uint64_t low = grows_from, high = 2 * low;
  while (high * step <= most && fits(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, most / step + 1);
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low * step;
}

void write_limit(Writer& out, std::string_view name, const std::optional<uint64_t>& value) {
  out.key(name);
  if (value) {
    out.value(*value);
  } else {
    out.null();
  }
}

// The preset with the most parameters that the same recipe trains on this GPU.
void write_largest_model(Writer& out, const Limits& limits, const Catalog& catalog) {
  std::vector<const ModelEntry*> order;
  for (const ModelEntry& entry : catalog.models) {
    if (entry.network.kind == limits.run.network.kind) order.push_back(&entry);
  }
  std::stable_sort(order.begin(), order.end(), [](const ModelEntry* a, const ModelEntry* b) {
    return a->preset.parameters > b->preset.parameters;
  });
  const recipe::Recipe& r = limits.run.resolved.recipe;
  // Without reading its layers: no preset takes less than this for each parameter.
  const double least = r.quantization.load_in_4bit   ? 0.5
                       : r.quantization.load_in_8bit ? 1
                       : !r.quantized()              ? memory::parameter_size(r)
                                                     : 0;
  for (const ModelEntry* entry : order) {
    if (least * static_cast<double>(entry->preset.parameters) > limits.usable) continue;
    const memory::Parameters p = memory::weigh(entry->network, r);
    if (p.weight_bytes > limits.usable || (r.peft.on && p.matched.empty())) continue;
    const memory::Replay replay = memory::replay(entry->network, r, limits.run.machine);
    memory::Sizes sizes = memory::sizes_of(replay.instants[replay.peak], r, limits.run.context);
    sizes.high *= limits.run.widening;
    if (memory::verdict(sizes, limits.usable) != memory::Verdict::fits) continue;
    out.open_object();
    out.field("id", entry->preset.id);
    out.field("parameters", entry->preset.parameters);
    out.field("high", whole(sizes.high));
    out.close_object();
    return;
  }
  out.null();
}

void write_costs(Writer& out, Limits& limits) {
  const recipe::Recipe& now = limits.run.resolved.recipe;
  const double before = limits.sizes(now).device;
  const auto cost = [&](std::string_view name, bool applies, Set set, uint64_t value) {
    out.key(name);
    const std::optional<recipe::Recipe> changed =
        applies ? limits.with(set(limits.run, value)) : std::nullopt;
    if (!changed) return out.null();
    out.value(whole(limits.sizes(*changed).device - before));
  };
  out.open_object();
  cost("one_more_sample", true, set_batch, now.training.per_device_train_batch_size + 1);
  cost("256_more_tokens", true, set_length, now.training.max_length + 256);
  cost("twice_the_rank", now.peft.on, set_rank, 2 * now.peft.r);
  cost(
      "one_more_image", limits.run.network.image.rule != model::ImageTokens::Rule::none,
      [](const Run&, uint64_t images) {
        return recipe::Values{{"/vision/images_per_sample", images}};
      },
      now.vision.images_per_sample + 1);
  out.close_object();
}

// Rows of batch sizes, columns of lengths: F fits, T tight, N no.
void write_map(Writer& out, Limits& limits) {
  constexpr std::array<uint64_t, 7> batches = {1, 2, 4, 8, 16, 32, 64};
  std::vector<uint64_t> lengths;
  for (uint64_t length = 256; length <= 32768; length *= 2) lengths.push_back(length);
  out.open_object();
  out.key("per_device_train_batch_size");
  out.open_array();
  for (uint64_t batch : batches) out.value(batch);
  out.close_array();
  out.key("max_length");
  out.open_array();
  for (uint64_t length : lengths) out.value(length);
  out.close_array();
  out.key("verdicts");
  out.open_array();
  // From here on a smaller batch did not fit: neither does a larger. A batch of one says nothing of that.
  std::size_t columns = lengths.size();
  for (uint64_t batch : batches) {
    out.open_array();
    std::size_t until = columns;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      memory::Verdict verdict = memory::Verdict::no;
      if (i < until) {
        recipe::Values changes = set_length(limits.run, lengths[i]);
        changes.merge(set_batch(limits.run, batch));
        verdict = limits.verdict(changes);
        if (verdict == memory::Verdict::no) until = i;
      }
      out.value(memory::word(verdict));
    }
    if (batch > 1) columns = until;
    out.close_array();
  }
  out.close_array();
  out.close_object();
}

}  // namespace

void write_limits(Writer& out, const Run& run, const Catalog& catalog) {
  if (run.gpu == nullptr) return out.null();
  Limits limits(run, usable_for(run, run.gpu->usable_bytes));
  const bool grows = run.network.image.rule == model::ImageTokens::Rule::grid;
  out.open_object();
  // A batch of one may take attention's slow way (core/memory/layers/attention.cpp) where two do not.
  std::optional<uint64_t> batch = largest(limits, set_batch, 1, 65536, 2);
  if (!batch && limits.fits(set_batch, 1)) batch = 1;
  write_limit(out, "per_device_train_batch_size", batch);
  const recipe::Recipe& now = run.resolved.recipe;
  const uint64_t shortest = writes_completions(run) ? now.rl.max_completion_length / 16 + 1 : 1;
  write_limit(out, "max_length", largest(limits, set_length, 16, uint64_t{1} << 24, shortest));
  write_limit(out, "r", now.peft.on ? largest(limits, set_rank, 1, 8192) : std::nullopt);
  write_limit(out, "image_size", grows ? largest(limits, set_image, 28, 16384) : std::nullopt);
  out.key("model");
  write_largest_model(out, limits, catalog);
  out.key("costs");
  write_costs(out, limits);
  out.key("map");
  write_map(out, limits);
  out.close_object();
}

}  // namespace plimsoll::report
