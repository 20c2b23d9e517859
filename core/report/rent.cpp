#include "core/report/rent.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/advice/usual.h"
#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/recipe/locks.h"
#include "core/report/advice.h"
#include "core/report/elsewhere.h"
#include "core/run/paged.h"
#include "core/run/spread.h"
#include "core/time/cost.h"

namespace plimsoll::report {

namespace {

using json::significant;
using json::whole;
using json::Writer;

// The run on so many cards of one kind, as it fits there.
struct Setup {
  const hardware::Gpu* gpu = nullptr;
  recipe::Values changes;            ///< all fields that are set
  const advice::Fix* fix = nullptr;  ///< the one change to the recipe; null: none
  std::string strategy;
  uint64_t cards = 1;
  double high = 0, seconds = 0, efficiency = 1;
};

struct Row {
  const hardware::Offer* offer;
  const Setup* setup;
  double usd_per_step;
};

// One kind of card: the run there, and what its recipe could change.
class Place {
 public:
  Place(const run::Run& run, const run::Catalog& catalog, const hardware::Gpu& gpu)
      : run_(on_gpu(run, gpu)),
        around_(run::surroundings(run_)),
        basis_(basis_of(run_, around_, catalog)),
        usable_(usable_for(run_, gpu.usable_bytes)) {}

  // The strategy that shares least comes first: it sends least.
  std::optional<Setup> fitting(uint64_t cards) {
    const std::vector<std::string> strategies = run::strategies_for(run_, cards);
    const uint64_t batch = run_.resolved.recipe.training.per_device_train_batch_size;
    for (const std::string& strategy : strategies) {
      if (std::optional<Setup> found = tried(cards, strategy, batch, nullptr, {})) return found;
    }
    for (const advice::Fix* fix : advice::usual_order()) {
      for (const std::string& strategy : strategies) {
        if (std::optional<Setup> found = changed(cards, strategy, fix)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<Setup> changed(uint64_t cards, const std::string& strategy, const advice::Fix* fix) {
    const recipe::Recipe& r = run_.resolved.recipe;
    uint64_t batch = r.training.per_device_train_batch_size;
    if (fix->slot == "micro_batch") return batch > 1 ? tried(cards, strategy, 1, fix, {}) : std::nullopt;
    const advice::Situation situation{run_.network, r, run_.resolved.values, run_.gpu};
    for (const advice::Level& level : advice::levels_of(*fix, situation)) {
      const bool moved = std::any_of(level.changes.begin(), level.changes.end(), [&](const auto& change) {
        return change.first.rfind("/parallel", 0) == 0 || recipe::is_locked(change.first, r.locks);
      });
      if (moved || level.quality > advice::quality::parity) continue;
      if (std::optional<Setup> found = tried(cards, strategy, batch, fix, level.changes)) return found;
    }
    return std::nullopt;
  }

  std::optional<Setup> tried(uint64_t cards, const std::string& strategy, uint64_t batch,
                             const advice::Fix* fix, const recipe::Values& further) {
    std::optional<recipe::Values> changes = run::spread(run_, cards, strategy, batch);
    if (!changes) return std::nullopt;
    changes->insert(further.begin(), further.end());
    basis_.context = run::context_on(*run_.gpu, cards);
    const std::optional<advice::Changed> there = advice::change(basis_, *changes);
    if (!there || memory::verdict(there->price.sizes, usable_) != memory::Verdict::fits) return std::nullopt;
    const double seconds = run::step_on({basis_.network_of(there->recipe), there->recipe, there->replay},
                                        there->price.sizes, usable_, *run_.gpu)
                               .seconds;
    Setup setup{run_.gpu, *changes, fix, strategy, cards, there->price.sizes.high, seconds, 1};
    if (cards > 1) setup.efficiency = run::efficiency_of(run_, there->recipe, *run_.gpu);
    return setup;
  }

  run::Run run_;
  recipe::Surroundings around_;
  advice::Basis basis_;
  double usable_;
};

using Setups = std::map<std::pair<std::string, uint64_t>, std::optional<Setup>>;

std::vector<Row> rows_of(const run::Run& run, const run::Catalog& catalog, Setups& setups) {
  std::map<std::string, std::optional<Place>> places;
  std::vector<Row> rows;
  for (const hardware::Cloud& cloud : catalog.clouds) {
    for (const hardware::Offer& offer : cloud.offers) {
      const hardware::Gpu* gpu = catalog.find_gpu(offer.gpu);
      if (gpu == nullptr || !offer.on_demand.known || gpu->tensor_flops <= 0 || !suits(run, *gpu)) continue;
      const auto [setup, fresh] = setups.try_emplace({gpu->id, offer.gpus});
      if (fresh) {
        std::optional<Place>& place = places[gpu->id];
        if (!place) place.emplace(run, catalog, *gpu);
        setup->second = place->fitting(offer.gpus);
      }
      if (!setup->second) continue;
      const double seconds = setup->second->seconds;
      rows.push_back({&offer, &*setup->second, offer.on_demand.low * seconds / 3600});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.usd_per_step < b.usd_per_step; });
  return rows;
}

void write_changes(Writer& out, const Setup& setup) {
  out.open_object();
  for (const auto& [pointer, value] : setup.changes) {
    if (recipe::find_field(pointer) != nullptr) out.field(pointer, value);
  }
  out.close_object();
}

void write_row(Writer& out, const Row& row, double steps) {
  const hardware::Offer& offer = *row.offer;
  const Setup& setup = *row.setup;
  out.open_object();
  out.field("provider", offer.provider);
  out.field("provider_name", offer.provider_name);
  out.field("instance", offer.instance);
  out.field("region", offer.region);
  out.field("gpu", setup.gpu->id);
  out.field("name", setup.gpu->name);
  out.field("gpus", setup.cards);
  out.field("strategy", setup.strategy);
  out.field("fix", setup.fix == nullptr ? "" : setup.fix->id);
  out.field("title", setup.fix == nullptr ? "" : setup.fix->title);
  out.key("changes");
  write_changes(out, setup);
  out.field("high", whole(setup.high));
  out.field("seconds_per_step", significant(setup.seconds));
  out.field("efficiency", std::round(100 * setup.efficiency) / 100);
  out.field("usd_per_hour", offer.on_demand.low);
  out.field("usd_per_1000_steps", std::round(100000 * row.usd_per_step) / 100);
  if (steps > 0) {
    out.field("hours", significant(steps * setup.seconds / 3600));
    out.field("usd", std::round(100 * steps * row.usd_per_step) / 100);
  }
  if (offer.session_hours > 0) {
    out.field("session_hours", offer.session_hours);
    if (steps > 0) out.field("sessions", std::ceil(steps * setup.seconds / 3600 / offer.session_hours));
  }
  out.field("date", offer.date);
  if (!offer.note.empty()) out.field("note", offer.note);
  out.field("source", offer.source);
  out.close_object();
}

void write_one(Writer& out, std::string_view name, const Row* row, double steps) {
  out.key(name);
  if (row == nullptr) return out.null();
  write_row(out, *row, steps);
}

}  // namespace

void write_rent(Writer& out, const run::Run& run, const run::Catalog& catalog) {
  const bool locked = recipe::is_locked("/hardware", run.resolved.recipe.locks);
  if (locked) return out.null();
  Setups setups;
  const std::vector<Row> rows = rows_of(run, catalog, setups);
  const double steps = time::length_of(run.resolved.recipe).steps;
  const Row *cheapest = nullptr, *unchanged = nullptr, *fastest = nullptr;
  for (const Row& row : rows) {
    if (row.offer->session_hours > 0) continue;
    if (cheapest == nullptr) cheapest = &row;
    if (unchanged == nullptr && row.setup->fix == nullptr) unchanged = &row;
    if (fastest == nullptr || row.setup->seconds < fastest->setup->seconds) fastest = &row;
  }
  out.open_object();
  write_one(out, "cheapest", cheapest, steps);
  write_one(out, "unchanged", unchanged, steps);
  write_one(out, "fastest", fastest, steps);
  for (const bool notebook : {false, true}) {
    out.key(notebook ? "notebooks" : "machines");
    out.open_array();
    for (const Row& row : rows) {
      if ((row.offer->session_hours > 0) == notebook) write_row(out, row, steps);
    }
    out.close_array();
  }
  out.close_object();
}

}  // namespace plimsoll::report
