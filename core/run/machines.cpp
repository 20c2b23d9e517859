#include "core/run/machines.h"

#include <algorithm>
#include <map>

#include "core/recipe/stacks.h"
#include "core/recipe/strategies.h"
#include "core/run/paged.h"
#include "core/time/cost.h"

namespace plimsoll::run {

namespace {

// The run on all cards of a machine that has more than it asks for: each takes a part of the batch. Where the
// samples of a step cannot be shared out evenly, the other cards stand idle.
recipe::Recipe on_cards(const recipe::Recipe& r, uint64_t cards) {
  recipe::Recipe shared = r;
  const uint64_t each = r.effective_batch() / cards;
  const bool alone = recipe::stack_traits(r.stack).one_process || !r.model_args.device_map.empty() ||
                     r.parallel.sequence_parallel_size > 1;
  if (cards <= r.parallel.num_gpus || r.effective_batch() % cards != 0 || alone) return shared;
  uint64_t batch = std::min(r.training.per_device_train_batch_size, each);
  while (each % batch != 0) --batch;
  shared.parallel.num_gpus = cards;
  if (strategy_of(r) == recipe::Strategy::none) shared.parallel.strategy = "ddp";
  shared.training.per_device_train_batch_size = batch;
  shared.training.gradient_accumulation_steps = each / batch;
  // As many completions are written at once as before.
  const uint64_t written =
      r.training.per_device_train_batch_size * r.parallel.num_gpus * r.rl.steps_per_generation;
  shared.rl.steps_per_generation = std::max<uint64_t>(1, written / (batch * cards));
  return shared;
}

OfferedMachine machine_of(const Run& run, const hardware::Offer& offer, const hardware::Gpu& gpu) {
  Run there = run;
  there.resolved.recipe = on_cards(run.resolved.recipe, offer.gpus);
  there = on_gpu(there, gpu);
  const recipe::Recipe& r = there.resolved.recipe;
  return {&offer,
          &gpu,
          step_of(there, gpu),
          memory::verdict(card_of(there), like(there, there.network, r, there.replay), usable_on_card(there)),
          r.parallel.num_gpus,
          0};
}

}  // namespace

std::vector<OfferedMachine> machines(const Run& run, const Catalog& catalog) {
  const time::Length length = time::length_of(run.resolved.recipe);
  std::map<std::pair<std::string_view, uint64_t>, OfferedMachine> known;
  std::vector<OfferedMachine> rows;
  for (const hardware::Cloud& cloud : catalog.clouds) {
    for (const hardware::Offer& offer : cloud.offers) {
      const hardware::Gpu* gpu = catalog.find_gpu(offer.gpu);
      if (gpu == nullptr || offer.gpus < run.resolved.recipe.parallel.num_gpus) continue;
      auto found = known.find({gpu->id, offer.gpus});
      if (found == known.end()) {
        found =
            known.emplace(std::make_pair(std::string_view(gpu->id), offer.gpus), machine_of(run, offer, *gpu))
                .first;
      }
      OfferedMachine row = found->second;
      row.offer = &offer;
      const double hours = length.steps > 0 ? length.steps * row.step.seconds / 3600 : 1;
      const double price = offer.on_demand.known ? offer.on_demand.low : offer.spot.low;
      row.usd = row.step.known ? price * hours : 1e18;
      rows.push_back(row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const OfferedMachine& a, const OfferedMachine& b) {
    return std::pair(a.offer->notebook(), a.usd) < std::pair(b.offer->notebook(), b.usd);
  });
  return rows;
}

double price_of_chosen(const Run& run, const Catalog& catalog) {
  const recipe::Recipe& r = run.resolved.recipe;
  if (r.cloud.usd_per_hour > 0) return r.cloud.usd_per_hour;
  double lowest = 0;
  for (const hardware::Cloud& cloud : catalog.clouds) {
    for (const hardware::Offer& offer : cloud.offers) {
      const bool same = offer.gpu == run.gpu->id && offer.gpus >= r.parallel.num_gpus;
      if (!same || !offer.on_demand.known || offer.on_demand.high == 0) continue;
      if (lowest == 0 || offer.on_demand.low < lowest) lowest = offer.on_demand.low;
    }
  }
  return lowest;
}

const hardware::Gpu& timed_on(const Run& run, const Catalog& catalog) {
  static const hardware::Gpu none{};
  if (run.gpu != nullptr && run.gpu->tensor_flops > 0) return *run.gpu;
  const hardware::Gpu* usual = catalog.find_gpu("a100-sxm-80");
  return usual == nullptr ? none : *usual;
}

time::StepTime step_of(const Run& run, const hardware::Gpu& gpu) {
  return step_on({run.network, run.resolved.recipe, run.replay, known_parameters(run)}, sizes_at_peak(run),
                 usable_for(run, gpu.usable_bytes), gpu);
}

}  // namespace plimsoll::run
