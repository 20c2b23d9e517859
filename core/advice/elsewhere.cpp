#include "core/advice/elsewhere.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/advice/basis.h"
#include "core/advice/fixes/fixes.h"
#include "core/recipe/implementations.h"
#include "core/recipe/locks.h"
#include "core/recipe/stacks.h"
#include "core/recipe/strategies.h"
#include "core/recipe/tasks.h"
#include "core/run/card_sizes.h"
#include "core/run/several_cards.h"
#include "core/time/cost.h"
#include "core/time/step.h"

namespace plimsoll::advice {

namespace {

bool locked(const run::Run& run, std::string_view pointer) {
  return recipe::is_locked(pointer, run.resolved.recipe.locks);
}

double seconds_on(const run::Run& run, const hardware::Gpu& gpu) {
  const recipe::Recipe& r = run.resolved.recipe;
  return time::step_time(time::work_of(run.network, r), r, gpu).seconds;
}

double factor(double there, double here) { return here > 0 && there > 0 ? there / here : 0; }

// The same run on other cards: its size on those where it fits, each replayed once.
struct Cards {
  const run::Run& run;
  std::map<std::string_view, std::optional<memory::Sizes>> known;

  const std::optional<memory::Sizes>& fitting(const hardware::Gpu& gpu) {
    const auto [found, fresh] = known.try_emplace(gpu.id);
    if (fresh) {
      run::Run there = on_gpu(run, gpu);
      if (fits(there)) {
        simulate(there);
        found->second = sizes_at_peak(there);
      }
    }
    return found->second;
  }
};

std::optional<WayOut> larger_gpu(const run::Run& run, const run::Catalog& catalog, Cards& cards) {
  std::vector<const hardware::Gpu*> larger;
  for (const hardware::Gpu& gpu : catalog.gpus) {
    if (gpu.usable_bytes > run.gpu->usable_bytes && suits(run, gpu)) larger.push_back(&gpu);
  }
  std::stable_sort(larger.begin(), larger.end(), [](const hardware::Gpu* a, const hardware::Gpu* b) {
    return a->usable_bytes < b->usable_bytes;
  });
  for (const hardware::Gpu* gpu : larger) {
    const std::optional<memory::Sizes>& sizes = cards.fitting(*gpu);
    if (!sizes) continue;
    WayOut way{.id = "larger_gpu", .title = "A larger GPU", .gpu = gpu, .high = sizes->high};
    way.time_factor = factor(seconds_on(run, *gpu), seconds_on(run, *run.gpu));
    way.why = "The smallest card on which this request fits as it is.";
    way.source = gpu->usable_source;
    return way;
  }
  return std::nullopt;
}

std::optional<WayOut> rented(const run::Run& run, const run::Catalog& catalog, Cards& cards) {
  const recipe::Recipe& r = run.resolved.recipe;
  struct Row {
    const hardware::Offer* offer;
    const hardware::Gpu* gpu;
    double seconds, usd;  // of a step
  };
  std::vector<Row> rows;
  for (const hardware::Cloud& cloud : catalog.clouds) {
    for (const hardware::Offer& offer : cloud.offers) {
      const hardware::Gpu* gpu = catalog.find_gpu(offer.gpu);
      const bool enough = gpu != nullptr && offer.gpus >= r.parallel.num_gpus;
      const bool priced = offer.on_demand.known && offer.on_demand.low > 0;
      if (!enough || !priced || offer.notebook() || !suits(run, *gpu)) continue;
      const double seconds = seconds_on(run, *gpu);
      if (seconds > 0) rows.push_back({&offer, gpu, seconds, offer.on_demand.low * seconds / 3600});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(!a.offer->dated(), a.usd) < std::pair(!b.offer->dated(), b.usd);
  });
  for (const Row& row : rows) {
    const std::optional<memory::Sizes>& sizes = cards.fitting(*row.gpu);
    if (!sizes || !holds(*row.offer, run.replay.host_bytes)) continue;
    WayOut way{.id = "rented_machine", .title = "A rented machine", .gpu = row.gpu, .offer = row.offer};
    way.gpus = row.offer->gpus;
    way.high = sizes->high;
    way.usd_per_step = row.usd;
    way.hours = time::length_of(r).steps * row.seconds / 3600;
    way.time_factor = factor(seconds_on(run, *row.gpu), seconds_on(run, *run.gpu));
    way.why = "The machine on which this request fits as it is for the least money.";
    way.source = row.offer->source;
    return way;
  }
  return std::nullopt;
}

// The same card more than once, as few of them as it takes.
std::optional<WayOut> more_gpus(const run::Run& run, const Basis& basis, double usable) {
  const recipe::Recipe& r = run.resolved.recipe;
  if (locked(run, "/parallel")) return std::nullopt;
  constexpr uint64_t most = 8;
  for (uint64_t count = r.parallel.num_gpus + 1; count <= most; ++count) {
    for (const std::string& strategy : run::strategies_for(run, count)) {
      const std::optional<recipe::Values> changes =
          run::changes_for_cards(run, count, strategy, r.training.per_device_train_batch_size);
      if (!changes) continue;
      Basis there = basis;
      there.card.context = run::context_on(*run.gpu, r.hardware, count);
      const std::optional<Changed> changed = change_that_fits(there, *changes, usable);
      if (!changed) continue;
      WayOut way{.id = "more_gpus", .title = "More of the same GPU", .gpu = run.gpu, .gpus = count};
      way.changes = *changes;
      way.high = changed->price.sizes.high;
      way.time_factor = factor(changed->price.seconds, seconds_on(run, basis.time_gpu));
      way.efficiency = run::efficiency_of(run, changed->recipe, basis.time_gpu);
      way.effective_batch = r.effective_batch();
      way.why = recipe::strategy_of(strategy) == recipe::Strategy::ddp
                    ? "Each card takes a part of the batch; the model is whole on every one."
                    : "The cards share out what each would hold whole; the effective batch stays.";
      way.source = "pytorch torch/nn/parallel/distributed.py; deepspeedai/DeepSpeed runtime/zero";
      return way;
    }
  }
  return std::nullopt;
}

// The way that so many rows of a step make, cut into passes of `batch`.
std::optional<WayOut> packed(const run::Run& run, const Basis& basis, double usable, uint64_t rows,
                             uint64_t batch) {
  const recipe::Training& t = run.resolved.recipe.training;
  recipe::Values changes = {{"/training/packing", true}};
  if (run.given.values.count("/training/padded_batches") != 0) changes["/training/padded_batches"] = false;
  if (batch != t.per_device_train_batch_size) changes["/training/per_device_train_batch_size"] = batch;
  if (rows / batch != t.gradient_accumulation_steps)
    changes["/training/gradient_accumulation_steps"] = rows / batch;
  if (recipe::moves_locked(changes, run.resolved.recipe.locks)) return std::nullopt;
  const std::optional<Changed> changed = change_that_fits(basis, changes, usable);
  if (!changed) return std::nullopt;
  WayOut way{.id = "packing", .title = "Samples packed into full rows"};
  way.name = "batch " + std::to_string(batch) + ", accumulation " + std::to_string(rows / batch);
  way.changes = changes;
  way.high = changed->price.sizes.high;
  way.time_factor = factor(changed->price.seconds, seconds_on(run, basis.time_gpu));
  way.why =
      "Samples are shorter than the length, so fewer rows hold as many of them, and no row is padded. The "
      "loop must keep them apart: flash attention with position ids (TRL packing_strategy \"bfd\", "
      "LLaMA-Factory neat_packing, Axolotl sample_packing).";
  way.evidence =
      "The same tokens in each step as nearly as whole rows allow. Kept apart, samples learn the same loss "
      "as padded ones; run together, they see each other.";
  way.source = "arXiv:2107.02027; arXiv:2407.09105; huggingface/trl docs reducing_memory_usage, packing";
  return way;
}

// Rows that are filled with several samples: as many tokens learned in a step need fewer rows. The number of
// samples in a step is kept as nearly as whole rows allow, which is why this is no plan.
std::optional<WayOut> packing(const run::Run& run, const Basis& basis, double usable) {
  const recipe::Recipe& r = run.resolved.recipe;
  const recipe::Training& t = r.training;
  const auto length = static_cast<double>(t.max_length);
  const bool causal = run.network.kind == model::NetworkKind::decoder && recipe::task_of(r).plain_text();
  if (!causal || t.packing || r.data.mean_length <= 0 || r.data.mean_length > 0.75 * length)
    return std::nullopt;
  const double fill = length / r.data.mean_length;  // samples in a row
  const auto together = static_cast<double>(t.per_device_train_batch_size * t.gradient_accumulation_steps);
  const auto rows = static_cast<uint64_t>(std::max(1.0, std::round(together / fill)));
  const auto gpus = static_cast<double>(r.parallel.num_gpus);
  for (uint64_t batch = std::min(rows, t.per_device_train_batch_size); batch >= 1; --batch) {
    if (rows % batch != 0) continue;
    std::optional<WayOut> way = packed(run, basis, usable, rows, batch);
    if (!way) continue;
    way->samples_before = together * gpus;
    way->samples = static_cast<double>(rows) * fill * gpus;
    return way;
  }
  return std::nullopt;
}

std::optional<WayOut> smaller_model(const run::Run& run, const run::Catalog& catalog, double usable) {
  const run::ModelEntry* sibling = smaller_sibling(run, catalog, usable);
  if (sibling == nullptr) return std::nullopt;
  WayOut way{.id = "smaller_model", .title = "A smaller model of the family", .model = sibling};
  way.why = "The largest smaller model of the same family that this recipe trains on this card.";
  way.evidence = "A smaller model knows less; how much that matters depends on the task.";
  way.source = "presets/models";
  return way;
}

}  // namespace

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
    if (!memory::fits(card_of(run), {entry->network, r, replay, run.widening}, usable)) continue;
    const std::optional<run::Run> there = with_model(run, *entry, catalog);
    if (!there) continue;
    const memory::ReplayedRun itself = like(*there, there->network, there->resolved.recipe, there->replay);
    if (memory::fits(card_of(*there), itself, usable)) return entry;
  }
  return nullptr;
}

namespace {

// The same settings under Unsloth, whose kernels keep less of a layer, and which packs experts that
// bitsandbytes leaves alone (unslothai/unsloth-zoo temporary_patches/gpt_oss.py).
std::optional<WayOut> with_unsloth(const run::Run& run, const run::Catalog& catalog, double usable) {
  const recipe::Recipe& r = run.resolved.recipe;
  if (!recipe::stack_traits(r.stack).unsloth_patches || r.parallel.num_gpus > 1 || locked(run, "/stack"))
    return std::nullopt;
  recipe::Request given = run.given;
  given.values["/stack"] = "unsloth";
  json::Errors errors;
  const std::optional<run::Run> there = run::read_run(std::move(given), catalog, errors);
  if (!there || !recipe::implementation_of(there->resolved.recipe).patched) return std::nullopt;
  const memory::Sizes sizes = sizes_at_peak(*there);
  if (memory::verdict(sizes, usable) != memory::Verdict::fits) return std::nullopt;
  WayOut way{.id = "with_unsloth", .title = "The same run with Unsloth"};
  way.name = "FastLanguageModel";
  way.changes = {{"/stack", "unsloth"}};
  way.high = sizes.high;
  way.time_factor = factor(seconds_on(*there, *run.gpu), seconds_on(run, *run.gpu));
  way.why = "Its own layers and loss keep less for the backward pass.";
  way.source = "unslothai/unsloth unsloth/models/llama.py, unsloth-zoo";
  return way;
}

// What most people do whose card is too small for all weights. It learns something else, so no plan takes it while one
// is left that does not; but nobody offloads the states of 8B over PCIe without having been told of it.
std::optional<WayOut> with_adapters(const run::Run& run, const Basis& basis, double usable) {
  const FixContext situation = situation_of(run);
  const std::vector<Level> levels = levels_of(adapters_instead_of_full, situation);
  if (levels.empty()) return std::nullopt;
  recipe::Values changes = levels.front().changes;
  const Fix* const further[] = {nullptr, &gradient_checkpointing, &nf4, &micro_batch, &fused_loss};
  for (const Fix* fix : further) {
    const std::vector<Level> more = fix == nullptr ? std::vector<Level>(1) : levels_of(*fix, situation);
    if (more.empty()) continue;
    for (const auto& [pointer, value] : more.back().changes) changes[pointer] = value;
    if (recipe::moves_locked(changes, run.resolved.recipe.locks)) return std::nullopt;
    const std::optional<Changed> changed = change_that_fits(basis, changes, usable);
    if (!changed) continue;
    WayOut way{.id = "with_adapters", .title = "Adapters instead of all weights"};
    const bool four_bits = changes.count("/quantization/load_in_4bit") != 0;
    way.name = (four_bits ? "QLoRA, rank " : "LoRA, rank ") + json::write(changes.at("/peft/r"));
    way.changes = changes;
    way.high = changed->price.sizes.high;
    way.time_factor = factor(changed->price.seconds, seconds_on(run, basis.time_gpu));
    way.why = adapters_instead_of_full.why;
    way.evidence = adapters_instead_of_full.evidence;
    way.source = adapters_instead_of_full.source;
    return way;
  }
  return std::nullopt;
}

}  // namespace

std::vector<WayOut> elsewhere(const run::Run& run, const run::Catalog& catalog, const Basis& basis,
                              double usable) {
  std::vector<WayOut> ways;
  const memory::Sizes now = sizes_at_peak(run);
  if (hardware::judged(run.gpu) == nullptr || memory::verdict(now, usable) == memory::Verdict::fits)
    return ways;
  const auto add = [&ways](std::optional<WayOut> way) {
    if (way) ways.push_back(*std::move(way));
  };
  Cards cards{run, {}};
  add(with_adapters(run, basis, usable));
  add(packing(run, basis, usable));
  add(with_unsloth(run, catalog, usable));
  add(more_gpus(run, basis, usable));
  if (!locked(run, "/hardware")) {
    add(larger_gpu(run, catalog, cards));
    add(rented(run, catalog, cards));
  }
  add(smaller_model(run, catalog, usable));
  return ways;
}

}  // namespace plimsoll::advice
