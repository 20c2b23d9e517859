#include "core/report/limits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/json/rounding.h"

namespace plimsoll::report {

namespace {

using json::whole;
using json::Writer;

struct Limits {
  const Run& run;
  double usable;
  bool padded_alone, padded_together;  ///< batches of one, and of more

  memory::Sizes sizes(const recipe::Recipe& recipe) const {
    const memory::Replay replay = memory::replay(run.network, recipe, run.machine);
    memory::Sizes sizes = memory::sizes_of(replay.instants[replay.peak], recipe, run.context);
    sizes.high *= run.widening;
    return sizes;
  }
  memory::Verdict verdict(const recipe::Recipe& recipe) const {
    return memory::verdict(sizes(recipe), usable);
  }
};

using Set = void (*)(const Limits&, recipe::Recipe&, uint64_t);

// Whether a mask is built for batches of that size: a sample alone needs none.
bool padded(const Run& run, uint64_t batch) {
  recipe::Given given = run.given;
  given.values["/training/per_device_train_batch_size"] = batch;
  json::Errors ignored;
  return recipe::resolve(given, *run.stack, surroundings(run), ignored).recipe.training.padded_batches;
}

void set_batch(const Limits& limits, recipe::Recipe& r, uint64_t batch) {
  r.training.per_device_train_batch_size = batch;
  r.training.padded_batches = batch > 1 ? limits.padded_together : limits.padded_alone;
}
void set_length(const Limits&, recipe::Recipe& r, uint64_t length) { r.training.max_length = length; }
void set_rank(const Limits&, recipe::Recipe& r, uint64_t rank) { r.peft.r = rank; }
void set_image(const Limits&, recipe::Recipe& r, uint64_t size) { r.vision.image_size = size; }

// Largest multiple of `step` up to `most` that fits, by bisection: memory grows with each of these from
// `grows_from` steps on. A batch of one may take attention's slow way (core/memory/attention.cpp) where two
// do not.
std::optional<uint64_t> largest(const Limits& limits, Set set, uint64_t step, uint64_t most,
                                uint64_t grows_from = 1) {
  const auto fits = [&](uint64_t steps) {
    recipe::Recipe changed = limits.run.resolved.recipe;
    set(limits, changed, steps * step);
    return limits.verdict(changed) == memory::Verdict::fits;
  };
  if (!fits(grows_from)) {
    if (grows_from > 1 && fits(1)) return step;
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

void write_costs(Writer& out, const Limits& limits) {
  const recipe::Recipe& now = limits.run.resolved.recipe;
  const double before = limits.sizes(now).device;
  const auto cost = [&](std::string_view name, bool applies, Set set, uint64_t value) {
    out.key(name);
    if (!applies) return out.null();
    recipe::Recipe changed = now;
    set(limits, changed, value);
    out.value(whole(limits.sizes(changed).device - before));
  };
  out.open_object();
  cost("one_more_sample", true, set_batch, now.training.per_device_train_batch_size + 1);
  cost("256_more_tokens", true, set_length, now.training.max_length + 256);
  cost("twice_the_rank", now.peft.on, set_rank, 2 * now.peft.r);
  cost(
      "one_more_image", limits.run.network.image.rule != model::ImageTokens::Rule::none,
      [](const Limits&, recipe::Recipe& r, uint64_t images) { r.vision.images_per_sample = images; },
      now.vision.images_per_sample + 1);
  out.close_object();
}

// Rows of batch sizes, columns of lengths: F fits, T tight, N no.
void write_map(Writer& out, const Limits& limits) {
  constexpr std::array<uint64_t, 7> batches = {1, 2, 4, 8, 16, 32, 64};
  std::vector<uint64_t> lengths;
  for (uint64_t length = 256; length <= 32768; length *= 2) lengths.push_back(length);
  const recipe::Recipe& now = limits.run.resolved.recipe;
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
        recipe::Recipe changed = now;
        set_batch(limits, changed, batch);
        changed.training.max_length = lengths[i];
        verdict = limits.verdict(changed);
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
  const Limits limits{run, usable_for(run, run.gpu->usable_bytes), padded(run, 1), padded(run, 2)};
  const bool grows = run.network.image.rule == model::ImageTokens::Rule::grid;
  out.open_object();
  write_limit(out, "per_device_train_batch_size", largest(limits, set_batch, 1, 65536, 2));
  write_limit(out, "max_length", largest(limits, set_length, 16, uint64_t{1} << 24));
  write_limit(out, "r", run.resolved.recipe.peft.on ? largest(limits, set_rank, 1, 8192) : std::nullopt);
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
