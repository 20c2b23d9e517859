#include "core/report/elsewhere.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/json/rounding.h"
#include "core/recipe/locks.h"
#include "core/run/spread.h"
#include "core/time/cost.h"
#include "core/time/step.h"

namespace plimsoll::report {

namespace {

using json::significant;
using json::whole;
using json::Writer;

bool locked(const run::Run& run, std::string_view pointer) {
  return recipe::is_locked(pointer, run.resolved.recipe.locks);
}

double seconds_on(const run::Run& run, const hardware::Gpu& gpu) {
  const recipe::Recipe& r = run.resolved.recipe;
  return time::step_time(time::work_of(run.network, r), r, gpu).seconds;
}

// The same run on other cards, each replayed once.
struct Cards {
  const run::Run& run;
  std::map<std::string_view, memory::Sizes> known;

  const memory::Sizes& sizes(const hardware::Gpu& gpu) {
    const auto found = known.find(gpu.id);
    if (found != known.end()) return found->second;
    const run::Run there = on_gpu(run, gpu);
    return known.emplace(gpu.id, sizes_of(there.replay.instants[there.replay.peak], there)).first->second;
  }
  bool fits(const hardware::Gpu& gpu) {
    return memory::verdict(sizes(gpu), usable_for(run, gpu.usable_bytes)) == memory::Verdict::fits;
  }
};

void write_speed(Writer& out, const run::Run& run, const hardware::Gpu& gpu) {
  const double here = seconds_on(run, *run.gpu), there = seconds_on(run, gpu);
  if (here > 0 && there > 0) out.field("time_factor", std::round(1000 * there / here) / 1000);
}

void write_larger_gpu(Writer& out, const run::Run& run, const run::Catalog& catalog, Cards& cards) {
  std::vector<const hardware::Gpu*> larger;
  for (const hardware::Gpu& gpu : catalog.gpus) {
    if (gpu.usable_bytes > run.gpu->usable_bytes && suits(run, gpu)) larger.push_back(&gpu);
  }
  std::stable_sort(larger.begin(), larger.end(), [](const hardware::Gpu* a, const hardware::Gpu* b) {
    return a->usable_bytes < b->usable_bytes;
  });
  for (const hardware::Gpu* gpu : larger) {
    if (!cards.fits(*gpu)) continue;
    out.open_object();
    out.field("id", "larger_gpu");
    out.field("title", "A larger GPU");
    out.field("gpu", gpu->id);
    out.field("name", gpu->name);
    out.field("usable", gpu->usable_bytes);
    out.field("high", whole(cards.sizes(*gpu).high));
    write_speed(out, run, *gpu);
    out.field("why", "The smallest card on which this request fits as it is.");
    out.field("source", gpu->usable_source);
    out.close_object();
    return;
  }
}

void write_rented(Writer& out, const run::Run& run, const run::Catalog& catalog, Cards& cards) {
  const recipe::Recipe& r = run.resolved.recipe;
  const double steps = time::length_of(r).steps;
  struct Row {
    const hardware::Offer* offer;
    const hardware::Gpu* gpu;
    double seconds, usd;  // of a step, or of an hour where the card's speed is not known
  };
  std::vector<Row> rows;
  for (const hardware::Cloud& cloud : catalog.clouds) {
    for (const hardware::Offer& offer : cloud.offers) {
      const hardware::Gpu* gpu = catalog.find_gpu(offer.gpu);
      const bool enough = gpu != nullptr && offer.gpus >= r.parallel.num_gpus;
      const bool priced = offer.on_demand.known && offer.on_demand.low > 0;
      if (!enough || !priced || offer.session_hours > 0 || !suits(run, *gpu)) continue;
      const double seconds = seconds_on(run, *gpu);
      if (seconds > 0) rows.push_back({&offer, gpu, seconds, offer.on_demand.low * seconds / 3600});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.usd < b.usd; });
  for (const Row& row : rows) {
    if (!cards.fits(*row.gpu)) continue;
    out.open_object();
    out.field("id", "rented_machine");
    out.field("title", "A rented machine");
    out.field("provider", row.offer->provider);
    out.field("provider_name", row.offer->provider_name);
    out.field("instance", row.offer->instance);
    out.field("gpu", row.gpu->id);
    out.field("name", row.gpu->name);
    out.field("gpus", row.offer->gpus);
    out.field("high", whole(cards.sizes(*row.gpu).high));
    out.field("usd_per_hour", row.offer->on_demand.low);
    if (steps > 0) {
      out.field("hours", significant(steps * row.seconds / 3600));
      out.field("usd", std::round(100 * steps * row.usd) / 100);
    }
    write_speed(out, run, *row.gpu);
    out.field("why", "The machine on which this request fits as it is for the least money.");
    out.field("date", row.offer->date);
    out.field("source", row.offer->source);
    out.close_object();
    return;
  }
}

// The same card more than once, as few of them as it takes.
void write_more_gpus(Writer& out, const run::Run& run, const advice::Basis& basis, double usable) {
  const recipe::Recipe& r = run.resolved.recipe;
  if (locked(run, "/parallel")) return;
  constexpr uint64_t most = 8;
  const double before = time::step_time(time::work_of(run.network, r), r, basis.time_gpu).seconds;
  for (uint64_t count = r.parallel.num_gpus + 1; count <= most; ++count) {
    for (const std::string& strategy : run::strategies_for(run, count)) {
      const std::optional<recipe::Values> changes =
          run::spread(run, count, strategy, r.training.per_device_train_batch_size);
      if (!changes) continue;
      advice::Basis there = basis;
      there.context = run::context_on(*run.gpu, count);
      const std::optional<advice::Changed> changed = advice::change(there, *changes);
      if (!changed || memory::verdict(changed->price.sizes, usable) != memory::Verdict::fits) continue;
      out.open_object();
      out.field("id", "more_gpus");
      out.field("title", "More of the same GPU");
      out.field("gpu", run.gpu->id);
      out.field("name", run.gpu->name);
      out.field("gpus", count);
      out.key("changes");
      out.open_object();
      for (const auto& [pointer, value] : *changes) out.field(pointer, value);
      out.close_object();
      out.field("high", whole(changed->price.sizes.high));
      if (before > 0) out.field("time_factor", std::round(1000 * changed->price.seconds / before) / 1000);
      out.field("efficiency",
                std::round(100 * run::efficiency_of(run, changed->recipe, basis.time_gpu)) / 100);
      out.field("effective_batch", r.effective_batch());
      out.field("why", strategy == "ddp"
                           ? "Each card takes a part of the batch; the model is whole on every one."
                           : "The cards share out what each would hold whole; the effective batch stays.");
      out.field("source", "pytorch torch/nn/parallel/distributed.py; deepspeedai/DeepSpeed runtime/zero");
      out.close_object();
      return;
    }
  }
}

// Rows that are filled with several samples: as many tokens learned in a step need fewer rows. The number of
// samples in a step is kept as nearly as whole rows allow, which is why this is no plan.
void write_packing(Writer& out, const run::Run& run, const advice::Basis& basis, double usable) {
  const recipe::Recipe& r = run.resolved.recipe;
  const recipe::Training& t = r.training;
  const auto length = static_cast<double>(t.max_length);
  const bool causal = run.network.kind == model::Kind::decoder && (r.task == "sft" || r.task == "pretrain");
  if (!causal || t.packing || r.data.mean_length <= 0 || r.data.mean_length > 0.75 * length) return;
  const double fill = length / r.data.mean_length;  // samples in a row
  const uint64_t together = t.per_device_train_batch_size * t.gradient_accumulation_steps;
  const auto rows = static_cast<uint64_t>(std::max(1.0, std::round(static_cast<double>(together) / fill)));
  for (uint64_t batch = std::min(rows, t.per_device_train_batch_size); batch >= 1; --batch) {
    if (rows % batch != 0) continue;
    recipe::Values changes = {{"/training/packing", true}};
    if (run.given.values.count("/training/padded_batches") != 0) changes["/training/padded_batches"] = false;
    if (batch != t.per_device_train_batch_size) changes["/training/per_device_train_batch_size"] = batch;
    if (rows / batch != t.gradient_accumulation_steps)
      changes["/training/gradient_accumulation_steps"] = rows / batch;
    const bool touches = std::any_of(changes.begin(), changes.end(),
                                     [&](const auto& change) { return locked(run, change.first); });
    if (touches) continue;
    const std::optional<advice::Changed> changed = advice::change(basis, changes);
    if (!changed || memory::verdict(changed->price.sizes, usable) != memory::Verdict::fits) continue;
    const double before = time::step_time(time::work_of(run.network, r), r, basis.time_gpu).seconds;
    const auto gpus = static_cast<double>(r.parallel.num_gpus);
    std::string name = "batch " + std::to_string(batch);
    name += ", accumulation " + std::to_string(rows / batch);
    out.open_object();
    out.field("id", "packing");
    out.field("title", "Samples packed into full rows");
    out.field("name", name);
    out.key("changes");
    out.open_object();
    for (const auto& [pointer, value] : changes) out.field(pointer, value);
    out.close_object();
    out.field("high", whole(changed->price.sizes.high));
    if (before > 0) out.field("time_factor", std::round(1000 * changed->price.seconds / before) / 1000);
    out.field("samples_per_step_before", significant(static_cast<double>(together) * gpus));
    out.field("samples_per_step", significant(static_cast<double>(rows) * fill * gpus));
    out.field(
        "why",
        "Samples are shorter than the length, so fewer rows hold as many of them, and no row is padded. "
        "The loop must keep them apart: flash attention with position ids (TRL packing_strategy "
        "\"bfd\", LLaMA-Factory neat_packing, Axolotl sample_packing).");
    out.field(
        "evidence",
        "The same tokens in each step as nearly as whole rows allow. Kept apart, samples learn the same "
        "loss as padded ones; run together, they see each other.");
    out.field("source",
              "arXiv:2107.02027; arXiv:2407.09105; huggingface/trl docs reducing_memory_usage, packing");
    out.close_object();
    return;
  }
}

void write_sibling(Writer& out, const run::Run& run, const run::Catalog& catalog, double usable) {
  const run::ModelEntry* sibling = smaller_sibling(run, catalog, usable);
  if (sibling == nullptr) return;
  out.open_object();
  out.field("id", "smaller_model");
  out.field("title", "A smaller model of the family");
  out.field("model", sibling->preset.id);
  out.field("parameters", sibling->preset.parameters);
  out.field("why", "The largest smaller model of the same family that this recipe trains on this card.");
  out.field("evidence", "A smaller model knows less; how much that matters depends on the task.");
  out.field("source", "presets/models");
  out.close_object();
}

}  // namespace

bool suits(const run::Run& run, const hardware::Gpu& gpu) {
  const recipe::Recipe& r = run.resolved.recipe;
  const bool sixteen = r.training.bf16 || r.model_args.dtype == "bfloat16";
  const bool flash = r.model_args.attn_implementation.rfind("flash_attention", 0) == 0;
  const std::string_view vendor = run.gpu == nullptr ? "NVIDIA" : std::string_view(run.gpu->vendor);
  return gpu.vendor == vendor && !gpu.unified_memory && gpu.segment != "slice" && (gpu.bf16 || !sixteen) &&
         (gpu.flash_attention_2 || !flash);
}

const run::ModelEntry* smaller_sibling(const run::Run& run, const run::Catalog& catalog, double usable) {
  if (run.entry == nullptr || locked(run, "/model")) return nullptr;
  const recipe::Recipe& r = run.resolved.recipe;
  std::vector<const run::ModelEntry*> smaller;
  for (const run::ModelEntry& entry : catalog.models) {
    const bool family = entry.preset.family == run.entry->preset.family &&
                        entry.network.kind == run.entry->network.kind &&
                        entry.preset.parameters < run.entry->preset.parameters;
    if (family) smaller.push_back(&entry);
  }
  std::stable_sort(smaller.begin(), smaller.end(), [](const run::ModelEntry* a, const run::ModelEntry* b) {
    return a->preset.parameters > b->preset.parameters;
  });
  for (const run::ModelEntry* entry : smaller) {
    const memory::Replay replay = memory::replay(entry->network, r, run.machine);
    if (r.peft.on && replay.parameters.matched.empty()) continue;
    memory::Sizes sizes = memory::sizes_of(replay.instants[replay.peak], r, run.context);
    sizes.high *= run.widening;
    if (memory::verdict(sizes, usable) == memory::Verdict::fits) return entry;
  }
  return nullptr;
}

void write_elsewhere(Writer& out, const run::Run& run, const run::Catalog& catalog,
                     const advice::Basis& basis, double usable) {
  out.open_array();
  const memory::Sizes now = sizes_of(run.replay.instants[run.replay.peak], run);
  if (run.gpu != nullptr && memory::verdict(now, usable) != memory::Verdict::fits) {
    Cards cards{run, {}};
    write_packing(out, run, basis, usable);
    write_more_gpus(out, run, basis, usable);
    if (!locked(run, "/hardware")) {
      write_larger_gpu(out, run, catalog, cards);
      write_rented(out, run, catalog, cards);
    }
    write_sibling(out, run, catalog, usable);
  }
  out.close_array();
}

}  // namespace plimsoll::report
