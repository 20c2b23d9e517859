// Plans as JSON: for the report's tiers, and for `plimsoll advise`.
//
//     Advisor advisor(run, catalog);
//     advisor.write_plans(out, usable);         // [{"name", "changes", "peak", "time_factor", ...}]
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/advice/planner.h"
#include "core/json/writer.h"
#include "core/run/run.h"

namespace plimsoll::report {

/// What plans for this run are found from; `around` outlives it.
advice::Basis basis_of(const run::Run& run, const recipe::Surroundings& around, const run::Catalog& catalog);

class Advisor {
 public:
  Advisor(const run::Run& run, const run::Catalog& catalog);
  Advisor(const Advisor&) = delete;
  Advisor& operator=(const Advisor&) = delete;

  /// The list of plans for a usable size; empty where the run fits as it is or nothing makes it fit.
  void write_plans(json::Writer& out, double usable);
  /// Why nothing fits, or null: least memory, what stands in the way, the smallest size that works.
  void write_blocked(json::Writer& out, double usable);
  /// Further changes, one after another, each making the peak smaller.
  void write_ladder(json::Writer& out, double usable);
  /// What room to spare can buy.
  void write_spend(json::Writer& out, double usable);
  /// Other machines, and a smaller model, on which the request fits as it is.
  void write_elsewhere(json::Writer& out, double usable);

  /// Every fix that applies, alone: what it saves and what it costs, each level.
  void write_fixes(json::Writer& out);
  /// Those of them that `ids` names, in the order of the list.
  void write_fixes(json::Writer& out, std::span<const std::string_view> ids);
  /// Of all choices priced so far those that no other beats in memory, time and quality, least memory first.
  void write_front(json::Writer& out);

  advice::Planner& planner() { return *planner_; }

 private:
  struct Named {
    std::string name;
    std::vector<std::string> readings;
    advice::PricedPlan plan;
    const advice::Changed* full = nullptr;  ///< the changed run
    double seconds = 0;                     ///< of a step of it, on a card of this size
  };
  std::vector<Named> plans_for(double usable, memory::Verdict& verdict);
  void write_plan(json::Writer& out, const Named& named, double usable);
  void write_changes(json::Writer& out, const advice::Choice& choice);
  void describe_changes(json::Writer& out, const advice::Choice& choice);
  std::optional<advice::Changed> fitting(const recipe::Values& changes, double usable) const;
  json::Json beside(const advice::Choice& choice, const std::string& pointer) const;
  /// By a full replay; null when the changes contradict each other.
  const advice::Changed* checked(const advice::Choice& choice);

  const run::Run& run_;
  const run::Catalog& catalog_;
  recipe::Surroundings around_;
  std::unique_ptr<advice::Basis> basis_;
  std::unique_ptr<advice::Planner> planner_;
  double seconds_ = 0;  // of a step as it is
  std::map<advice::Choice, std::optional<advice::Changed>> checked_;
  std::map<advice::Choice, std::string> changes_;  ///< as they are written
};

/// {"schema", "core", "ok", "errors", "refused", "gpu", "tiers", "rent", "limits", "habits", "search"};
/// "rent", with "want": ["rent"], says which machine to rent, whether a card is chosen or not
std::string advise_text(std::string_view request, const run::Catalog& catalog);

}  // namespace plimsoll::report
