#include "core/report/advice.h"

#include <algorithm>
#include <cmath>

#include "core/advice/habits.h"
#include "core/advice/usual.h"
#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/recipe/locks.h"
#include "core/report/advice_parts.h"
#include "core/report/elsewhere.h"
#include "core/report/heading.h"
#include "core/report/limits.h"
#include "core/report/refused.h"
#include "core/report/rent.h"
#include "core/run/components.h"
#include "core/run/paged.h"

namespace plimsoll::report {

namespace {

using advice::Choice;
using advice::Measure;
using json::Json;
using json::whole;
using json::Writer;

constexpr double patience = 3;  // of the fastest plan's time

// What is switched on comes first, then the batch before its accumulation and the rank before alpha.
std::vector<std::pair<std::string, Json>> in_reading_order(const recipe::Values& changes) {
  std::vector<std::pair<std::string, Json>> rows(changes.rbegin(), changes.rend());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return (a.second == Json(true)) > (b.second == Json(true));
  });
  return rows;
}

// Steps are compared on the chosen card, or on an A100 where none was chosen or its rates are not known.
const hardware::Gpu& timed_on(const run::Run& run, const run::Catalog& catalog) {
  static const hardware::Gpu none{};
  const bool known = run.gpu != nullptr && run.gpu->tensor_flops > 0;
  if (known) return *run.gpu;
  const hardware::Gpu* usual = catalog.find_gpu("a100-sxm-80");
  return usual == nullptr ? none : *usual;
}

}  // namespace

advice::Basis basis_of(const run::Run& run, const recipe::Surroundings& around, const run::Catalog& catalog) {
  return {run.network,
          run.given,
          *run.stack,
          around,
          run.resolved,
          run.gpu,
          timed_on(run, catalog),
          run.machine,
          run.context,
          run.resolved.recipe.locks,
          run.widening,
          wants(run, "allocator"),
          capacity_for(run),
          run.adapted_network ? &*run.adapted_network : nullptr};
}

Advisor::Advisor(const run::Run& run, const run::Catalog& catalog)
    : run_(run), catalog_(catalog), around_(run::surroundings(run)) {
  basis_ = std::make_unique<advice::Basis>(basis_of(run, around_, catalog));
  const advice::Situation situation{run.network, run.resolved.recipe, run.resolved.values, run.gpu};
  planner_ =
      std::make_unique<advice::Planner>(*basis_, advice::open_choices(situation, run.resolved.recipe.locks));
  seconds_ = planner_->pricer().seconds(Choice{});
}

const advice::Changed* Advisor::checked(const Choice& choice) {
  const auto [found, fresh] = checked_.try_emplace(choice);
  if (fresh) found->second = planner_->pricer().changed(choice);
  return found->second ? &*found->second : nullptr;
}

std::vector<Advisor::Named> Advisor::plans_for(double usable, memory::Verdict& verdict) {
  const memory::Sizes now = sizes_of(run_.replay.instants[run_.replay.peak], run_);
  verdict = memory::verdict(now, usable);
  std::vector<Named> found;
  if (verdict == memory::Verdict::fits) return found;
  advice::Plans plans = planner_->plans({usable, Measure::high});
  if (!plans.any() && verdict == memory::Verdict::no) plans = planner_->plans({usable, Measure::needed});
  const auto add = [&](const char* name, const std::optional<advice::PricedPlan>& plan) {
    if (!plan) return;
    for (Named& known : found) {
      if (known.plan.choice != plan->choice) continue;
      known.readings.emplace_back(name);
      return;
    }
    // A full replay of the changed request has the last word.
    const advice::Changed* full = checked(plan->choice);
    if (full == nullptr || memory::verdict(full->price.sizes, usable) == memory::Verdict::no) return;
    const double seconds = run::step_on({basis_->network_of(full->recipe), full->recipe, full->replay},
                                        full->price.sizes, usable, basis_->time_gpu)
                               .seconds;
    found.push_back({name, {name}, *plan, full, seconds});
    found.back().plan.price.sizes = full->price.sizes;
  };
  add("usual", plans.usual);
  add("same", plans.same);
  add("fewest", plans.fewest);
  add("fastest", plans.fastest);
  // Nobody waits several times as long for what another plan does as well.
  const auto sooner = [](const Named& a, const Named& b) { return a.seconds < b.seconds; };
  const auto first = std::min_element(found.begin(), found.end(), sooner);
  const double longest = first == found.end() ? 0 : patience * first->seconds;
  std::stable_partition(found.begin(), found.end(),
                        [&](const Named& named) { return named.seconds <= longest; });
  // What published comparisons can tell apart comes after what they cannot.
  std::stable_partition(found.begin(), found.end(), [&](const Named& named) {
    return advice::heaviest_in(planner_->space(), named.plan.choice) <= advice::quality::parity;
  });
  return found;
}

// What a field that was not given becomes beside a plan's other changes.
Json Advisor::beside(const Choice& choice, const std::string& pointer) const {
  recipe::Values others = advice::changes_of(planner_->space(), choice);
  others.erase(pointer);
  return planner_->pricer().value_beside(others, pointer);
}

// Each fix saves what it takes off the peak after those before it, so that the savings add up.
// A plan is often that of several cards.
void Advisor::write_changes(Writer& out, const Choice& choice) {
  const auto [found, fresh] = changes_.try_emplace(choice);
  if (fresh) {
    Writer text;
    describe_changes(text, choice);
    found->second = text.take();
  }
  out.text(found->second);
}

void Advisor::describe_changes(Writer& out, const Choice& choice) {
  const advice::Space& space = planner_->space();
  const recipe::Values together = advice::changes_of(space, choice);
  Choice so_far{};
  const advice::Price* before = planner_->pricer().price(so_far);
  double device = before->sizes.device;
  out.open_array();
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    if (choice[i] == 0) continue;
    const advice::Option& option = space.slots[i].options[choice[i]];
    so_far[i] = choice[i];
    const advice::Price* after = planner_->pricer().price(so_far);
    double saved = 0;
    if (after != nullptr) {
      saved = device - after->sizes.device;
      device = after->sizes.device;
    }
    bool first = true;
    for (const auto& [pointer, value] : in_reading_order(option.level.changes)) {
      // "/peft" alone only says that the section is there; its fields follow.
      if (recipe::find_field(pointer) == nullptr) continue;
      if (together.at(pointer) != value) continue;  // another change of the plan has the last word
      Json old;
      if (const auto found = run_.resolved.values.find(pointer); found != run_.resolved.values.end()) {
        old = found->second;
      }
      const auto given = run_.given.values.find(pointer);
      if (given != run_.given.values.end() && given->second == value) continue;
      // A default may become another one beside the other changes; where it does not, nothing need be said.
      if (old == value) old = beside(choice, pointer);
      if (old == value) continue;
      out.open_object();
      out.field("fix", option.fix->id);
      out.field("title", option.fix->title);
      out.field("pointer", pointer);
      out.field("from", old);
      out.field("to", value);
      out.field("saves", first ? whole(saved) : int64_t{0});
      out.field("why", option.fix->why);
      out.field("quality", quality_word(option.level.quality));
      out.field("evidence", advice::evidence_for(*option.fix, option.level));
      out.field("effort", option.fix->effort);
      out.field("setting", advice::setting_for(*option.fix, option.level, run_.resolved.recipe.stack));
      out.field("source", option.fix->source);
      out.close_object();
      first = false;
    }
  }
  out.close_array();
}

void Advisor::write_plan(Writer& out, const Named& named, double usable) {
  const memory::Sizes& sizes = named.plan.price.sizes;
  out.open_object();
  out.field("name", named.name);
  out.field("readings", named.readings);
  out.field("verdict", memory::word(memory::verdict(sizes, usable)));
  out.field("headroom", whole(memory::headroom(sizes, usable)));
  out.key("changes");
  write_changes(out, named.plan.choice);
  out.key("peak");
  write_sizes(out, sizes);
  const double now =
      run::step_on({run_.network, run_.resolved.recipe, run_.replay, weighed(run_)},
                   sizes_of(run_.replay.instants[run_.replay.peak], run_), usable, basis_->time_gpu)
          .seconds;
  out.field("time_factor", factor(named.seconds, now));
  out.field("quality", quality_word(advice::heaviest_in(planner_->space(), named.plan.choice)));
  out.field("quality_cost", static_cast<int64_t>(named.plan.quality));
  out.field("effective_batch", named.full->recipe.effective_batch());
  out.field("host_bytes", whole(named.full->replay.host_bytes));
  if (named.full->replay.paged_bytes > 0) {
    const run::Paged paged = run::paged_of(named.full->replay, sizes, usable);
    out.key("paged");
    out.open_object();
    out.field("bytes", whole(paged.bytes));
    out.field("on_card", whole(paged.on_card));
    out.close_object();
  }
  out.close_object();
}

void Advisor::write_plans(Writer& out, double usable) {
  memory::Verdict verdict = memory::Verdict::no;
  out.open_array();
  for (const Named& named : plans_for(usable, verdict)) write_plan(out, named, usable);
  out.close_array();
}

void Advisor::write_blocked(Writer& out, double usable) {
  memory::Verdict verdict = memory::Verdict::no;
  if (verdict = memory::Verdict::no; !plans_for(usable, verdict).empty() || verdict != memory::Verdict::no) {
    return out.null();
  }
  Choice least = planner_->least(Measure::needed).choice;
  if (checked(least) == nullptr) least = Choice{};  // the run as it is, which is always an answer
  const advice::Changed& full = *checked(least);
  out.open_object();
  out.field("least", whole(full.price.sizes.needed));
  out.key("changes");
  write_changes(out, least);
  // The smallest size that works, by the same choices.
  out.key("smallest_tier");
  const hardware::Tier* smallest = nullptr;
  for (const hardware::Tier& tier : catalog_.tiers) {
    if (smallest == nullptr && full.price.sizes.needed <= usable_for(run_, tier.usable_bytes))
      smallest = &tier;
  }
  if (smallest == nullptr) {
    out.null();
  } else {
    out.value(smallest->gib);
  }
  // Each lock alone: would the run fit without it?
  const std::vector<std::string>& locks = run_.resolved.recipe.locks;
  std::vector<std::string> in_the_way;
  for (const std::string& lock : locks) {
    std::vector<std::string> others;
    for (const std::string& other : locks) {
      if (other != lock) others.push_back(other);
    }
    advice::Basis freed = *basis_;
    freed.locks = others;
    const advice::Situation situation{run_.network, run_.resolved.recipe, run_.resolved.values, run_.gpu};
    advice::Planner planner(freed, advice::open_choices(situation, others));
    if (planner.least(Measure::needed).price.sizes.needed <= usable) in_the_way.push_back(lock);
  }
  out.field("locks_in_the_way", in_the_way);
  out.key("sibling");
  const run::ModelEntry* sibling = smaller_sibling(run_, catalog_, usable);
  if (sibling == nullptr) {
    out.null();
  } else {
    out.value(sibling->preset.id);
  }
  // The largest part of what is left.
  const memory::Instant& peak = full.replay.instants[full.replay.peak];
  std::size_t largest = 0;
  for (std::size_t c = 1; c < memory::component_count; ++c) {
    if (peak.live.bytes[c] > peak.live.bytes[largest]) largest = c;
  }
  out.field("component", run::component_id(static_cast<memory::Component>(largest)));
  out.field("component_bytes", whole(peak.live.bytes[largest]));
  out.close_object();
}

void Advisor::write_elsewhere(Writer& out, double usable) {
  report::write_elsewhere(out, run_, catalog_, *basis_, usable);
}

void write_habits(Writer& out, const std::vector<advice::Habit>& habits) {
  out.open_array();
  for (const advice::Habit& habit : habits) {
    out.open_object();
    out.field("code", habit.code);
    out.field("message", habit.message);
    out.field("bytes", static_cast<int64_t>(std::llround(habit.bytes)));
    out.field("source", habit.source);
    out.close_object();
  }
  out.close_array();
}

std::string advise_text(std::string_view request, const run::Catalog& catalog) {
  json::Errors errors;
  const std::optional<run::Run> run = run::read_run(request, catalog, errors);
  if (!run) return refusal(errors);
  const memory::Sizes now = sizes_of(run->replay.instants[run->replay.peak], *run);
  Advisor advisor(*run, catalog);
  Writer out;
  out.open_object();
  write_heading(out, {});
  out.key("refused");
  write_notes(out, refused(*run));
  out.key("peak");
  write_sizes(out, now);
  const auto write_target = [&](double usable) {
    out.field("usable", whole(usable));
    out.field("verdict", memory::word(memory::verdict(now, usable)));
    out.field("headroom", whole(memory::headroom(now, usable)));
    out.key("plans");
    advisor.write_plans(out, usable);
    out.key("blocked");
    advisor.write_blocked(out, usable);
  };
  // Largest first: what is worked out for one size serves the smaller ones.
  std::vector<const hardware::Tier*> tiers;
  for (const hardware::Tier& tier : catalog.tiers) tiers.push_back(&tier);
  std::reverse(tiers.begin(), tiers.end());
  out.key("tiers");
  out.open_array();
  for (const hardware::Tier* tier : tiers) {
    out.open_object();
    out.field("gib", tier->gib);
    out.field("gpus", tier->gpus);
    write_target(usable_for(*run, tier->usable_bytes));
    out.close_object();
  }
  out.close_array();
  out.key("gpu");
  if (run->gpu == nullptr) {
    out.null();
  } else {
    const double usable = usable_for(*run, run->gpu->usable_bytes);
    out.open_object();
    out.field("id", run->gpu->id);
    out.field("name", run->gpu->name);
    write_target(usable);
    out.key("ladder");
    advisor.write_ladder(out, usable);
    out.key("spend");
    advisor.write_spend(out, usable);
    out.key("elsewhere");
    advisor.write_elsewhere(out, usable);
    out.close_object();
  }
  out.key("rent");
  if (wants(*run, "rent")) {
    write_rent(out, *run, catalog);
  } else {
    out.null();
  }
  out.key("fixes");
  advisor.write_fixes(out);
  out.key("front");
  advisor.write_front(out);
  out.key("limits");
  write_limits(out, *run, catalog);
  out.key("habits");
  write_habits(out, advice::habits_of(*run));
  out.key("search");
  out.open_object();
  out.field("replays", advisor.planner().pricer().replays);
  out.field("priced", advisor.planner().pricer().priced);
  out.close_object();
  out.close_object();
  return out.take();
}

}  // namespace plimsoll::report
