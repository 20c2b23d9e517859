#include "core/advice/rent.h"

#include <algorithm>

#include "core/advice/basis.h"
#include "core/advice/elsewhere.h"
#include "core/advice/refused.h"
#include "core/advice/usual.h"
#include "core/recipe/locks.h"
#include "core/run/card_sizes.h"
#include "core/run/paged.h"
#include "core/run/several_cards.h"

namespace plimsoll::advice {

namespace {

// One kind of card: the run there, and what its recipe could change.
class Place {
 public:
  Place(const run::Run& run, const run::Catalog& catalog, const hardware::Gpu& gpu)
      : run_(on_gpu(run, gpu)),
        traits_(run::model_traits(run_)),
        basis_(basis_of(run_, traits_, catalog)),
        usable_(usable_for(run_, gpu.usable_bytes)) {}

  // The strategy that shares least comes first: it sends least.
  std::optional<Setup> fitting(uint64_t cards) {
    const std::vector<std::string> strategies = run::strategies_for(run_, cards);
    const uint64_t batch = run_.resolved.recipe.training.per_device_train_batch_size;
    for (const std::string& strategy : strategies) {
      if (std::optional<Setup> found = tried(cards, strategy, batch, nullptr, {})) return found;
    }
    for (const Fix* fix : usual_order()) {
      for (const std::string& strategy : strategies) {
        if (std::optional<Setup> found = changed(cards, strategy, fix)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<Setup> changed(uint64_t cards, const std::string& strategy, const Fix* fix) {
    const recipe::Recipe& r = run_.resolved.recipe;
    uint64_t batch = r.training.per_device_train_batch_size;
    if (fix->slot == "micro_batch") return batch > 1 ? tried(cards, strategy, 1, fix, {}) : std::nullopt;
    for (const Level& level : levels_of(*fix, situation_of(run_))) {
      const bool shares = std::any_of(level.changes.begin(), level.changes.end(), [](const auto& change) {
        return change.first.rfind("/parallel", 0) == 0;
      });
      if (shares || recipe::moves_locked(level.changes, r.locks) || level.quality > quality::parity) continue;
      if (std::optional<Setup> found = tried(cards, strategy, batch, fix, level.changes)) return found;
    }
    return std::nullopt;
  }

  std::optional<Setup> tried(uint64_t cards, const std::string& strategy, uint64_t batch, const Fix* fix,
                             const recipe::Values& further) {
    std::optional<recipe::Values> changes = run::changes_for_cards(run_, cards, strategy, batch);
    if (!changes) return std::nullopt;
    changes->insert(further.begin(), further.end());
    basis_.card.context = run::context_on(*run_.gpu, run_.resolved.recipe.hardware, cards);
    const std::optional<Changed> there = change_that_fits(basis_, *changes, usable_);
    if (!there) return std::nullopt;
    const double seconds = run::step_on({basis_.network_of(there->recipe), there->recipe, there->replay},
                                        there->price.sizes, usable_, *run_.gpu)
                               .seconds;
    Setup setup{run_.gpu, *changes, fix, strategy, cards, there->price.sizes.high, seconds, 1};
    setup.host = there->replay.host_bytes;
    if (cards > 1) setup.efficiency = run::efficiency_of(run_, there->recipe, *run_.gpu);
    return setup;
  }

  run::Run run_;
  recipe::ModelTraits traits_;
  Basis basis_;
  double usable_;
};

// A library refuses the run on that card, and not on the one that was chosen.
bool is_refused_there(const run::Run& run, const hardware::Gpu& gpu) {
  const recipe::Recipe& r = run.resolved.recipe;
  const recipe::Refusing here = refusing(run.network, run.gpu), there = refusing(run.network, &gpu);
  const std::vector<const recipe::Refusal*> rows = recipe::refusals_of(r, there);
  return std::any_of(rows.begin(), rows.end(),
                     [&](const recipe::Refusal* row) { return !row->applies(r, here); });
}

}  // namespace

Rent rent_of(const run::Run& run, const run::Catalog& catalog) {
  Rent rent;
  std::map<std::string, std::optional<Place>> places;
  for (const hardware::Cloud& cloud : catalog.clouds) {
    for (const hardware::Offer& offer : cloud.offers) {
      const hardware::Gpu* gpu = catalog.find_gpu(offer.gpu);
      if (gpu == nullptr || !offer.on_demand.known || gpu->tensor_flops <= 0 || !suits(run, *gpu)) continue;
      if (is_refused_there(run, *gpu)) continue;
      const auto [setup, fresh] = rent.setups.try_emplace({gpu->id, offer.gpus});
      if (fresh) {
        std::optional<Place>& place = places[gpu->id];
        if (!place) place.emplace(run, catalog, *gpu);
        setup->second = place->fitting(offer.gpus);
      }
      if (!setup->second || !holds(offer, setup->second->host)) continue;
      const double seconds = setup->second->seconds;
      rent.rows.push_back({&offer, &*setup->second, offer.on_demand.low * seconds / 3600});
    }
  }
  std::stable_sort(rent.rows.begin(), rent.rows.end(),
                   [](const RentRow& a, const RentRow& b) { return a.usd_per_step < b.usd_per_step; });
  return rent;
}

// The cheapest of those that stay and that `suits`: at a dated price before one that may be of any year.
template <typename Suits>
const RentRow* first_of(const std::vector<RentRow>& rows, const Suits& suits) {
  const RentRow* found = nullptr;
  for (const RentRow& row : rows) {
    if (row.offer->notebook() || !suits(row)) continue;
    if (row.offer->dated()) return &row;
    if (found == nullptr) found = &row;
  }
  return found;
}

const RentRow* Rent::cheapest() const {
  return first_of(rows, [](const RentRow&) { return true; });
}

const RentRow* Rent::unchanged() const {
  const RentRow* lead = cheapest();
  const bool dated = lead != nullptr && lead->offer->dated();
  return first_of(rows, [dated](const RentRow& row) {
    return row.setup->fix == nullptr && (row.offer->dated() || !dated);
  });
}

// How fast a machine is hangs on no date; of equals the cheapest, at a dated price before one of any year.
const RentRow* Rent::fastest() const {
  const RentRow* found = nullptr;
  for (const RentRow& row : rows) {
    if (row.offer->notebook()) continue;
    const bool faster = found == nullptr || row.setup->seconds < found->setup->seconds;
    const bool surer = found != nullptr && row.setup->seconds == found->setup->seconds &&
                       row.offer->dated() && !found->offer->dated();
    if (faster || surer) found = &row;
  }
  return found;
}

const RentRow* Rent::undated() const {
  const RentRow* lead = cheapest();
  if (lead == nullptr || !lead->offer->dated()) return nullptr;
  const RentRow* found = first_of(rows, [](const RentRow& row) { return !row.offer->dated(); });
  return found != nullptr && found->usd_per_step < lead->usd_per_step ? found : nullptr;
}

}  // namespace plimsoll::advice
