// Advice for one run, as values: plans for a memory size, why nothing fits, further changes one after
// another, each fix alone, what room to spare can buy.
//
//     Advisor advisor(run, catalog);
//     for (const NamedPlan& plan : advisor.plans(usable)) advisor.changes(plan.choice, usable);
//
// What was priced for one size serves the others: ask for the largest size first.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/advice/planner.h"
#include "core/run/run.h"

namespace plimsoll::advice {

struct NamedPlan {
  std::string name;                   ///< of the first reading that chose it (planner.h)
  std::vector<std::string> readings;  ///< all that did
  Choice choice{};
  memory::Sizes sizes;
  int quality = 0;
  const Changed* full = nullptr;  ///< the changed run, replayed whole
  double seconds = 0;             ///< of a step of it, on a card of this size
};

/// A field that a plan sets.
struct ChangeRow {
  const Option* option;
  std::string pointer;
  json::Json from, to;
  /// What its fix takes off the peak after those before it, so that the savings add up; 0 for its further
  /// fields.
  double saves;
};

/// Why nothing fits.
struct Blocked {
  double least = 0;  ///< bytes that the run needs with the changes of `choice`
  Choice choice{};
  const hardware::Tier* smallest_tier = nullptr;   ///< that works by these changes; null: none
  std::vector<std::string> locks_in_the_way = {};  ///< without one of them the run would fit
  const run::ModelEntry* sibling = nullptr;        ///< a smaller model that fits, or null
  memory::Component component{};                   ///< the largest part of what is left
  double component_bytes = 0;
};

/// A fix alone, by the usual reserve, as are rungs and points of the front: there are hundreds of them.
struct SingleFix {
  const Option* option;
  double saves, seconds;
};

/// One further change on top of those before it.
struct Rung {
  const Option* option;
  memory::Sizes sizes;
  double device_before, seconds_before;  ///< of the rung below
  double seconds;
};

/// A choice that no other beats in memory, time and quality.
struct FrontPoint {
  Choice choice;
  double high, seconds;
  int quality;
};

/// What room to spare can buy.
struct Purchase {
  const char *id, *title, *why;
  recipe::Values changes;
  memory::Sizes sizes;
  double costs, seconds;
};

class Advisor {
 public:
  /// Both outlive it.
  Advisor(const run::Run& run, const run::Catalog& catalog);
  Advisor(const Advisor&) = delete;
  Advisor& operator=(const Advisor&) = delete;

  /// Best first; empty where the run fits as it is or nothing makes it fit.
  std::vector<NamedPlan> plans(double usable);
  /// The fields that a choice sets, what is switched on first.
  const std::vector<ChangeRow>& changes(const Choice& choice, double usable);
  /// Nothing where the run, or a plan for it, fits.
  std::optional<Blocked> blocked(double usable);
  /// From the first plan on: the further change that costs least in quality, then the one that people try
  /// first; each takes about a fiftieth off the peak, or more. Sizes are those of a report of the changed request.
  std::vector<Rung> ladder(double usable);
  /// Every fix that applies, each level; of `ids` alone where there are some.
  std::vector<SingleFix> fixes(std::span<const std::string_view> ids = {});
  /// Of all choices priced so far, least memory first.
  std::vector<FrontPoint> front();
  /// Nothing where the run does not fit.
  std::vector<Purchase> purchases(double usable) const;

  /// Seconds of a step as it is; on a card that leaves `usable`, where paged states may have to travel.
  double seconds() const { return seconds_; }
  double seconds(double usable) const;

  const run::Run& run() const { return run_; }
  const Basis& basis() const { return *basis_; }
  Planner& planner() { return *planner_; }

 private:
  std::optional<NamedPlan> named(const char* name, const PricedPlan& plan, double usable);
  std::vector<ChangeRow> listed(const Choice& choice, double usable);
  json::Json before(const Choice& choice, const std::string& pointer, const json::Json& value) const;
  const std::map<std::string, double>& needed_without_locks();
  std::vector<Choice> further(const Choice& at);
  std::optional<Rung> rung(Choice& at, double usable);
  /// By a full replay; null when the changes contradict each other.
  const Changed* checked(const Choice& choice);

  const run::Run& run_;
  const run::Catalog& catalog_;
  recipe::ModelTraits traits_;
  std::unique_ptr<Basis> basis_;
  std::unique_ptr<Planner> planner_;
  double seconds_ = 0;
  std::map<Choice, std::optional<Changed>> checked_;
  std::map<std::pair<Choice, double>, std::vector<ChangeRow>> changes_;  ///< by what is usable
  std::map<std::string, double> needed_without_locks_;  ///< by lock; empty until it is asked for
};

}  // namespace plimsoll::advice
