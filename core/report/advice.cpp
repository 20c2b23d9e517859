#include "core/report/advice.h"

#include <algorithm>
#include <cmath>

#include "core/advice/habits.h"
#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/report/advice_parts.h"
#include "core/report/elsewhere.h"
#include "core/report/heading.h"
#include "core/report/limits.h"
#include "core/report/refused.h"
#include "core/report/rent.h"
#include "core/run/card_sizes.h"
#include "core/run/components.h"
#include "core/run/paged.h"

namespace plimsoll::report {

namespace {

using advice::Advisor;
using advice::NamedPlan;
using json::whole;
using json::Writer;

const std::string& stack_of(const Advisor& advisor) { return advisor.run().resolved.recipe.stack; }

void write_rows(Writer& out, Advisor& advisor, const advice::Choice& choice, double usable) {
  out.open_array();
  for (const advice::ChangeRow& row : advisor.changes(choice, usable)) {
    const advice::Option& option = *row.option;
    out.open_object();
    out.field("fix", option.fix->id);
    out.field("title", option.fix->title);
    out.field("pointer", row.pointer);
    out.field("from", row.from);
    out.field("to", row.to);
    out.field("saves", whole(row.saves));
    out.field("why", option.fix->why);
    out.field("quality", quality_word(option.level.quality));
    out.field("evidence", advice::evidence_for(*option.fix, option.level));
    out.field("effort", option.fix->effort);
    out.field("setting", advice::setting_for(*option.fix, option.level, stack_of(advisor)));
    out.field("source", option.fix->source);
    out.close_object();
  }
  out.close_array();
}

void write_plan(Writer& out, Advisor& advisor, const NamedPlan& plan, double usable) {
  out.open_object();
  out.field("name", plan.name);
  out.field("readings", plan.readings);
  out.field("verdict", memory::word(memory::verdict(plan.sizes, usable)));
  out.field("headroom", whole(memory::headroom(plan.sizes, usable)));
  out.key("changes");
  write_rows(out, advisor, plan.choice, usable);
  out.key("peak");
  write_sizes(out, plan.sizes);
  out.field("time_factor", factor(plan.seconds, advisor.seconds(usable)));
  out.field("quality", quality_word(advice::heaviest_in(advisor.planner().space(), plan.choice)));
  out.field("quality_cost", static_cast<int64_t>(plan.quality));
  out.field("effective_batch", plan.full->recipe.effective_batch());
  out.field("host_bytes", whole(plan.full->replay.host_bytes));
  if (plan.full->replay.sharding.paged > 0) {
    const run::Paged paged = run::paged_of(plan.full->replay, plan.sizes, usable);
    out.key("paged");
    out.open_object();
    out.field("bytes", whole(paged.bytes));
    out.field("on_card", whole(paged.on_card));
    out.close_object();
  }
  out.close_object();
}

// The fields that a change sets; "/peft" alone only says that the section is there.
void write_fields(Writer& out, const recipe::Values& changes) {
  out.key("changes");
  out.open_object();
  for (const auto& [pointer, value] : changes) {
    if (recipe::find_field(pointer) != nullptr) out.field(pointer, value);
  }
  out.close_object();
}

void write_effect(Writer& out, const char* name, int64_t saved, double slower) {
  out.key(name);
  out.open_object();
  out.field("saves", saved);
  out.field("time_factor", slower);
  out.close_object();
}

// What each further change saves by itself, and with those before it.
void write_ladder(Writer& out, Advisor& advisor, double usable) {
  const double begin = sizes_at_peak(advisor.run()).device;
  out.open_array();
  for (const advice::Rung& rung : advisor.ladder(usable)) {
    const advice::Option& option = *rung.option;
    out.open_object();
    out.field("fix", option.fix->id);
    out.field("title", option.fix->title);
    write_fields(out, option.level.changes);
    out.field("setting", advice::setting_for(*option.fix, option.level, stack_of(advisor)));
    out.field("saves", whole(rung.device_before - rung.sizes.device));
    out.key("peak");
    write_sizes(out, rung.sizes);
    const double slower = factor(rung.seconds, advisor.seconds());
    out.field("time_factor", slower);
    const int64_t so_far = whole(begin - rung.sizes.device);
    write_effect(out, "step", so_far - whole(begin - rung.device_before),
                 factor(rung.seconds, rung.seconds_before));
    write_effect(out, "so_far", so_far, slower);
    out.field("quality", quality_word(option.level.quality));
    out.close_object();
  }
  out.close_array();
}

void write_purchases(Writer& out, const Advisor& advisor, double usable) {
  out.open_array();
  for (const advice::Purchase& purchase : advisor.purchases(usable)) {
    out.open_object();
    out.field("fix", purchase.id);
    out.field("title", purchase.title);
    write_fields(out, purchase.changes);
    out.field("costs", whole(purchase.costs));
    out.key("peak");
    write_sizes(out, purchase.sizes);
    out.field("time_factor", factor(purchase.seconds, advisor.seconds()));
    out.field("why", purchase.why);
    out.close_object();
  }
  out.close_array();
}

void write_front(Writer& out, Advisor& advisor) {
  const advice::Space& space = advisor.planner().space();
  out.open_array();
  for (const advice::FrontPoint& point : advisor.front()) {
    out.open_object();
    out.field("high", whole(point.high));
    out.field("time_factor", factor(point.seconds, advisor.seconds()));
    out.field("quality_cost", static_cast<int64_t>(point.quality));
    out.key("fixes");
    out.open_array();
    for (std::size_t i = 0; i < space.slots.size(); ++i) {
      if (point.choice[i] != 0) out.value(space.slots[i].options[point.choice[i]].fix->id);
    }
    out.close_array();
    out.close_object();
  }
  out.close_array();
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

void write_target(Writer& out, Advisor& advisor, const memory::Sizes& now, double usable) {
  out.field("verdict", memory::word(memory::verdict(now, usable)));
  out.field("headroom", whole(memory::headroom(now, usable)));
  out.key("plans");
  write_plans(out, advisor, usable);
  out.key("blocked");
  write_blocked(out, advisor, usable);
}

// Largest first: what is worked out for one size serves the smaller ones. Where the chosen card alone is wanted
// there are none: they take as long as all the rest.
void write_tiers(Writer& out, Advisor& advisor, const run::Catalog& catalog) {
  const run::Run& run = advisor.run();
  const bool one_card = wants(run, "gpu_only") && hardware::judged(run.gpu) != nullptr;
  out.open_array();
  for (auto tier = catalog.tiers.rbegin(); tier != catalog.tiers.rend() && !one_card; ++tier) {
    const run::CardsOfSize there = cards_of(run, *tier, catalog);
    out.open_object();
    out.field("gib", tier->gib);
    out.field("gpus", there.gpus);
    out.field("usable", whole(there.usable));
    write_target(out, advisor, sizes_on(run, *tier), there.room);
    out.close_object();
  }
  out.close_array();
}

void write_gpu(Writer& out, Advisor& advisor, const memory::Sizes& now, const run::Catalog& catalog) {
  const run::Run& run = advisor.run();
  if (hardware::judged(run.gpu) == nullptr) return out.null();
  const double usable = usable_for(run, run.gpu->usable_bytes);
  out.open_object();
  out.field("id", run.gpu->id);
  out.field("name", run.gpu->name);
  out.field("usable", whole(usable));
  write_target(out, advisor, now, usable);
  out.key("ladder");
  write_ladder(out, advisor, usable);
  out.key("spend");
  write_purchases(out, advisor, usable);
  out.key("elsewhere");
  write_elsewhere(out, run, catalog, advisor.basis(), usable);
  out.close_object();
}

}  // namespace

void write_plans(Writer& out, Advisor& advisor, double usable, std::span<const std::string_view> remedies) {
  std::vector<NamedPlan> plans = advisor.plans(usable);
  const advice::Space& space = advisor.planner().space();
  std::stable_partition(plans.begin(), plans.end(), [&](const NamedPlan& plan) {
    return std::any_of(remedies.begin(), remedies.end(),
                       [&](std::string_view remedy) { return advice::takes(space, plan.choice, remedy); });
  });
  out.open_array();
  for (const NamedPlan& plan : plans) write_plan(out, advisor, plan, usable);
  out.close_array();
}

void write_blocked(Writer& out, Advisor& advisor, double usable) {
  const std::optional<advice::Blocked> blocked = advisor.blocked(usable);
  if (!blocked) return out.null();
  out.open_object();
  out.field("least", whole(blocked->least));
  out.key("changes");
  write_rows(out, advisor, blocked->choice, usable);
  out.key("smallest_tier");
  if (blocked->smallest_tier == nullptr) {
    out.null();
  } else {
    out.value(blocked->smallest_tier->gib);
  }
  out.field("locks_in_the_way", blocked->locks_in_the_way);
  out.key("sibling");
  if (blocked->sibling == nullptr) {
    out.null();
  } else {
    out.value(blocked->sibling->preset.id);
  }
  out.field("component", run::component_id(blocked->component));
  out.field("component_bytes", whole(blocked->component_bytes));
  out.close_object();
}

void write_fixes(Writer& out, const Advisor& advisor, const std::vector<advice::SingleFix>& fixes) {
  out.open_array();
  for (const advice::SingleFix& single : fixes) {
    const advice::Option& option = *single.option;
    out.open_object();
    out.field("fix", option.fix->id);
    out.field("title", option.fix->title);
    write_fields(out, option.level.changes);
    out.field("saves", whole(single.saves));
    out.field("time_factor", factor(single.seconds, advisor.seconds()));
    out.field("quality", quality_word(option.level.quality));
    out.field("why", option.fix->why);
    out.field("evidence", advice::evidence_for(*option.fix, option.level));
    out.field("effort", option.fix->effort);
    out.field("setting", advice::setting_for(*option.fix, option.level, stack_of(advisor)));
    out.field("source", option.fix->source);
    out.close_object();
  }
  out.close_array();
}

std::string advise_text(std::string_view request, const run::Catalog& catalog) {
  json::Errors errors;
  const std::optional<run::Run> run = run::read_run(request, catalog, errors);
  if (!run) return refusal(errors);
  const memory::Sizes now = sizes_at_peak(*run);
  Advisor advisor(*run, catalog);
  Writer out;
  out.open_object();
  write_heading(out, {});
  out.key("refused");
  write_notes(out, refused(*run));
  out.key("peak");
  write_sizes(out, now);
  out.key("tiers");
  write_tiers(out, advisor, catalog);
  out.key("gpu");
  write_gpu(out, advisor, now, catalog);
  out.key("rent");
  if (wants(*run, "rent")) {
    write_rent(out, *run, catalog);
  } else {
    out.null();
  }
  out.key("fixes");
  write_fixes(out, advisor, advisor.fixes());
  out.key("front");
  write_front(out, advisor);
  out.key("limits");
  if (wants(*run, "no_limits")) {
    out.null();
  } else {
    write_limits(out, *run, catalog);
  }
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
