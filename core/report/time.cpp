#include "core/report/time.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/json/rounding.h"
#include "core/recipe/stacks.h"
#include "core/run/paged.h"
#include "core/time/cost.h"
#include "core/time/step.h"

namespace plimsoll::report {

namespace {

using json::significant;
using json::Writer;

double rounded(double value, double steps) { return std::round(value * steps) / steps; }
double cents(double usd) { return rounded(usd, 100); }

double checkpoint_bytes(const run::Run& run) {
  const memory::Parameters& p = run.replay.parameters;
  const double saved = run.resolved.recipe.peft.on ? p.adapter_bytes : p.weight_bytes - p.buffer_bytes;
  return saved + run.replay.optimizer_bytes + run.replay.paged_bytes;
}

void write_range(Writer& out, std::string_view name, double low, double high) {
  out.key(name);
  out.open_array();
  out.value(low);
  out.value(high);
  out.close_array();
}

void write_parts(Writer& out, const time::StepTime& t) {
  out.open_object();
  out.field("multiply", significant(t.multiply));
  out.field("attention", significant(t.attention));
  out.field("move", significant(t.move));
  out.field("unpack", significant(t.unpack));
  out.field("optimizer", significant(t.optimizer));
  out.field("launch", significant(t.launch));
  out.close_object();
}

time::StepTime step_of(const run::Run& run, const hardware::Gpu& gpu) {
  return run::step_on({run.network, run.resolved.recipe, run.replay, weighed(run)},
                      sizes_of(run.replay.instants[run.replay.peak], run), usable_for(run, gpu.usable_bytes),
                      gpu);
}

// The run on all cards of a machine that has more than it asks for: each takes a part of the batch. Where the
// samples of a step cannot be shared out evenly, the other cards stand idle.
recipe::Recipe on_cards(const recipe::Recipe& r, uint64_t cards) {
  recipe::Recipe shared = r;
  const uint64_t each = r.effective_batch() / cards;
  const bool alone = recipe::stack_traits(r.stack).one_process || !r.model_args.device_map.empty();
  if (cards <= r.parallel.num_gpus || r.effective_batch() % cards != 0 || alone) return shared;
  uint64_t batch = std::min(r.training.per_device_train_batch_size, each);
  while (each % batch != 0) --batch;
  shared.parallel.num_gpus = cards;
  if (r.parallel.strategy == "none") shared.parallel.strategy = "ddp";
  shared.training.per_device_train_batch_size = batch;
  shared.training.gradient_accumulation_steps = each / batch;
  return shared;
}

// One offer of a cloud, for this run.
struct Machine {
  const hardware::Offer* offer;
  const hardware::Gpu* gpu;
  time::StepTime step;
  const char* verdict;
  uint64_t used;  ///< of its cards
  double usd;     ///< of the run, or of an hour where the data is not known
};

Machine machine_of(const run::Run& run, const hardware::Offer& offer, const hardware::Gpu& gpu) {
  run::Run there = run;
  there.resolved.recipe = on_cards(run.resolved.recipe, offer.gpus);
  there = on_gpu(there, gpu);
  const memory::Sizes sizes = sizes_of(there.replay.instants[there.replay.peak], there);
  const recipe::Recipe& r = there.resolved.recipe;
  return {&offer,
          &gpu,
          step_of(there, gpu),
          memory::word(memory::verdict(sizes, usable_for(there, gpu.usable_bytes))),
          r.parallel.num_gpus,
          0};
}

// Cheapest first; a notebook service, which ends its sessions, after all others.
std::vector<Machine> machines(const run::Run& run, const run::Catalog& catalog, const time::Length& length) {
  std::map<std::pair<std::string_view, uint64_t>, Machine> known;
  std::vector<Machine> rows;
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
      Machine row = found->second;
      row.offer = &offer;
      const double hours = length.steps > 0 ? length.steps * row.step.seconds / 3600 : 1;
      const double price = offer.on_demand.known ? offer.on_demand.low : offer.spot.low;
      row.usd = row.step.known ? price * hours : 1e18;
      rows.push_back(row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Machine& a, const Machine& b) {
    const bool notebook = a.offer->session_hours > 0, other = b.offer->session_hours > 0;
    return notebook != other ? other : a.usd < b.usd;
  });
  return rows;
}

void write_price(Writer& out, const hardware::Price& price, double hours) {
  out.open_object();
  write_range(out, "usd_per_hour", price.low, price.high);
  if (hours > 0) write_range(out, "usd", cents(price.low * hours), cents(price.high * hours));
  out.close_object();
}

void write_spot(Writer& out, const hardware::Offer& offer, double hours, double interval,
                const recipe::Recipe& r) {
  out.open_object();
  write_range(out, "usd_per_hour", offer.spot.low, offer.spot.high);
  if (hours > 0) {
    const time::Spot spot = time::on_spot(hours, interval, r.cloud);
    out.field("expected_hours", significant(spot.hours));
    out.field("expected_interruptions", significant(spot.interruptions));
    out.field("chance_of_none", rounded(spot.chance_of_none, 1000));
    write_range(out, "expected_usd", cents(offer.spot.low * spot.hours), cents(offer.spot.high * spot.hours));
  }
  out.close_object();
}

void write_machine(Writer& out, const Machine& m, const run::Run& run, const time::Length& length,
                   double chosen) {
  const double hours = length.steps * m.step.seconds / 3600;
  const auto every = static_cast<double>(run.resolved.recipe.training.save_steps);
  out.open_object();
  out.field("provider", m.offer->provider);
  out.field("provider_name", m.offer->provider_name);
  out.field("instance", m.offer->instance);
  out.field("region", m.offer->region);
  out.field("gpu", m.gpu->id);
  out.field("gpus", m.offer->gpus);
  out.field("gpus_used", m.used);
  if (m.offer->session_hours > 0) out.field("session_hours", m.offer->session_hours);
  out.field("verdict", m.verdict);
  if (m.step.known) {
    out.field("seconds_per_step", significant(m.step.seconds));
    if (length.steps > 0) out.field("hours", significant(hours));
    if (chosen > 0) out.field("relative_speed", significant(chosen / m.step.seconds));
  }
  if (m.offer->on_demand.known) {
    out.key("on_demand");
    write_price(out, m.offer->on_demand, m.step.known ? hours : 0);
  }
  if (m.offer->spot.known) {
    out.key("spot");
    write_spot(out, *m.offer, m.step.known ? hours : 0, every * m.step.seconds / 3600, run.resolved.recipe);
  }
  out.field("date", m.offer->date);
  if (m.offer->low_confidence) out.field("confidence", "low");
  if (!m.offer->note.empty()) out.field("note", m.offer->note);
  out.field("source", m.offer->source);
  out.close_object();
}

// The lowest price of a machine with the chosen GPU, or what the user pays.
double price_of_chosen(const run::Run& run, const run::Catalog& catalog) {
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

void write_chosen(Writer& out, const run::Run& run, const run::Catalog& catalog, const time::StepTime& t,
                  const time::Length& length) {
  out.field("gpu", run.gpu->id);
  if (!t.known) return;
  out.field("seconds_per_step", significant(t.seconds));
  out.field("tokens_per_second", significant(t.tokens_per_second));
  out.field("low", significant(t.low));
  out.field("high", significant(t.high));
  out.field("launch_bound", t.launch_bound);
  out.key("parts");
  write_parts(out, t);
  if (length.steps == 0) return;
  const double hours = length.steps * t.seconds / 3600;
  out.field("hours", significant(hours));
  write_range(out, "hours_range", significant(length.steps * t.low / 3600),
              significant(length.steps * t.high / 3600));
  const double price = price_of_chosen(run, catalog);
  if (price > 0) out.field("cost", cents(price * hours));
}

}  // namespace

void write_time(Writer& out, const run::Run& run, const run::Catalog& catalog) {
  const bool listed = wants(run, "machines");
  if (run.gpu == nullptr && !listed) return out.null();
  const recipe::Recipe& r = run.resolved.recipe;
  const time::Work work = time::work_of(run.network, r, weighed(run));
  const time::Length length = time::length_of(r);
  time::StepTime chosen;
  out.open_object();
  if (run.gpu != nullptr) {
    chosen = step_of(run, *run.gpu);
    write_chosen(out, run, catalog, chosen, length);
  }
  out.field("tokens_per_step", work.tokens * static_cast<double>(r.training.gradient_accumulation_steps) *
                                   static_cast<double>(r.parallel.num_gpus));
  out.field("flops_per_step",
            significant(work.flops() * static_cast<double>(r.training.gradient_accumulation_steps)));
  if (length.steps > 0) {
    out.field("steps", length.steps);
    out.field("checkpoints", length.checkpoints);
    out.field("checkpoints_kept", length.kept);
    out.field("disk_bytes", json::whole(length.kept * checkpoint_bytes(run)));
  }
  if (listed) {
    out.key("machines");
    out.open_array();
    for (const Machine& m : machines(run, catalog, length)) {
      write_machine(out, m, run, length, chosen.seconds);
    }
    out.close_array();
  }
  out.close_object();
}

}  // namespace plimsoll::report
