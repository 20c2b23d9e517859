#include "core/report/advice.h"

#include <algorithm>
#include <cmath>

#include "core/advice/habits.h"
#include "core/advice/usual.h"
#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/recipe/locks.h"
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

double factor(double now, double before) { return before > 0 ? std::round(1000 * now / before) / 1000 : 1; }

const char* quality_word(int cost) {
  if (cost == advice::quality::none) return "none";
  if (cost < advice::quality::small) return "parity";
  return cost < advice::quality::visible ? "small" : "visible";
}
void write_sizes(Writer& out, const memory::Sizes& s) {
  out.open_object();
  out.field("allocated", whole(s.allocated));
  out.field("reserved", whole(s.reserved));
  out.field("device", whole(s.device));
  out.field("low", whole(s.low));
  out.field("high", whole(s.high));
  out.field("needed", whole(s.needed));
  out.close_object();
}

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

void Advisor::write_fixes(Writer& out) { write_fixes(out, {}); }

void Advisor::write_fixes(Writer& out, std::span<const std::string_view> ids) {
  const advice::Space& space = planner_->space();
  advice::Pricer& pricer = planner_->pricer();
  const double before = pricer.price(Choice{})->sizes.device;
  out.open_array();
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    for (std::size_t o = 1; o < space.slots[i].options.size(); ++o) {
      const advice::Option& option = space.slots[i].options[o];
      if (!ids.empty() && std::find(ids.begin(), ids.end(), option.fix->id) == ids.end()) continue;
      Choice alone{};
      alone[i] = static_cast<uint8_t>(o);
      const advice::Price* price = pricer.price(alone);
      if (price == nullptr) continue;
      out.open_object();
      out.field("fix", option.fix->id);
      out.field("title", option.fix->title);
      out.key("changes");
      out.open_object();
      for (const auto& [pointer, value] : option.level.changes) {
        if (recipe::find_field(pointer) != nullptr) out.field(pointer, value);
      }
      out.close_object();
      out.field("saves", whole(before - price->sizes.device));
      out.field("time_factor", factor(pricer.seconds(alone), seconds_));
      out.field("quality", quality_word(option.level.quality));
      out.field("why", option.fix->why);
      out.field("evidence", advice::evidence_for(*option.fix, option.level));
      out.field("effort", option.fix->effort);
      out.field("setting", advice::setting_for(*option.fix, option.level, run_.resolved.recipe.stack));
      out.field("source", option.fix->source);
      out.close_object();
    }
  }
  out.close_array();
}

void Advisor::write_front(Writer& out) {
  struct Point {
    Choice choice;
    double high, seconds;
    int quality;
  };
  std::vector<Point> points, front;
  for (const auto& [choice, price] : planner_->pricer().all()) {
    points.push_back({choice, price.sizes.high, planner_->pricer().seconds(choice),
                      advice::quality_of(planner_->space(), choice)});
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.high < b.high; });
  // Whatever comes later needs more memory: it stays only if nothing before is as fast and as good.
  for (const Point& point : points) {
    const bool beaten = std::any_of(front.begin(), front.end(), [&](const Point& other) {
      return other.seconds <= point.seconds && other.quality <= point.quality;
    });
    if (!beaten) front.push_back(point);
  }
  out.open_array();
  for (const Point& point : front) {
    out.open_object();
    out.field("high", whole(point.high));
    out.field("time_factor", factor(point.seconds, seconds_));
    out.field("quality_cost", static_cast<int64_t>(point.quality));
    out.key("fixes");
    out.open_array();
    const advice::Space& space = planner_->space();
    for (std::size_t i = 0; i < space.slots.size(); ++i) {
      if (point.choice[i] != 0) out.value(space.slots[i].options[point.choice[i]].fix->id);
    }
    out.close_array();
    out.close_object();
  }
  out.close_array();
}

// From the plan that is shown first on: the further change that costs least in quality, then in time, and
// takes at least a fiftieth off the peak.
void Advisor::write_ladder(Writer& out, double usable) {
  memory::Verdict verdict = memory::Verdict::no;
  Choice at{};
  const std::vector<Named> plans = plans_for(usable, verdict);
  if (!plans.empty()) at = plans.front().plan.choice;
  const double begin = planner_->pricer().price(Choice{})->sizes.device;
  advice::Pricer& pricer = planner_->pricer();
  const advice::Space& space = planner_->space();
  out.open_array();
  for (int rung = 0; rung < 8; ++rung) {
    const double now = pricer.price(at)->sizes.device, seconds_now = pricer.seconds(at);
    std::optional<Choice> best;
    int best_cost = 0;
    std::size_t best_slot = 0, best_place = 0;
    for (std::size_t i = 0; i < space.slots.size(); ++i) {
      for (std::size_t option = 1; option < space.slots[i].options.size(); ++option) {
        // Never back to what a further rung has replaced.
        if (option <= at[i]) continue;
        Choice next = at;
        next[i] = static_cast<uint8_t>(option);
        const advice::Price* price = pricer.price(next);
        if (price == nullptr || price->sizes.device > 0.98 * now) continue;
        const int cost = advice::quality_of(space, next);
        const std::size_t place = advice::usual_place(*space.slots[i].options[option].fix);
        if (best && (cost > best_cost || (cost == best_cost && place >= best_place))) continue;
        best = next;
        best_cost = cost;
        best_place = place;
        best_slot = i;
        if (space.slots[i].kind == advice::Kind::scale) break;  // the mildest further step
      }
    }
    if (!best) break;
    const advice::Option& option = space.slots[best_slot].options[(*best)[best_slot]];
    const advice::Price* price = pricer.price(*best);
    const double seconds = pricer.seconds(*best);
    out.open_object();
    out.field("fix", option.fix->id);
    out.field("title", option.fix->title);
    out.key("changes");
    out.open_object();
    for (const auto& [pointer, value] : option.level.changes) {
      if (recipe::find_field(pointer) != nullptr) out.field(pointer, value);
    }
    out.close_object();
    out.field("setting", advice::setting_for(*option.fix, option.level, run_.resolved.recipe.stack));
    out.field("saves", whole(now - price->sizes.device));
    out.key("peak");
    write_sizes(out, price->sizes);
    out.field("time_factor", factor(seconds, seconds_));
    const auto effect = [&](const char* name, int64_t saved, double slower) {
      out.key(name);
      out.open_object();
      out.field("saves", saved);
      out.field("time_factor", slower);
      out.close_object();
    };
    const int64_t so_far = whole(begin - price->sizes.device);
    effect("step", so_far - whole(begin - now), factor(seconds, seconds_now));
    effect("so_far", so_far, factor(seconds, seconds_));
    out.field("quality", quality_word(option.level.quality));
    out.close_object();
    at = *best;
  }
  out.close_array();
}

void Advisor::write_elsewhere(Writer& out, double usable) {
  report::write_elsewhere(out, run_, catalog_, *basis_, usable);
}

// The changed run, where it is valid and fits with its whole band.
std::optional<advice::Changed> Advisor::fitting(const recipe::Values& changes, double usable) const {
  std::optional<advice::Changed> changed = advice::change(*basis_, changes);
  if (changed && memory::verdict(changed->price.sizes, usable) != memory::Verdict::fits) changed.reset();
  return changed;
}

void Advisor::write_spend(Writer& out, double usable) {
  const recipe::Recipe& r = run_.resolved.recipe;
  const memory::Sizes now = sizes_of(run_.replay.instants[run_.replay.peak], run_);
  out.open_array();
  const auto offer = [&](const char* id, const char* title, const recipe::Values& changes, const char* why) {
    for (const auto& [pointer, value] : changes) {
      if (recipe::is_locked(pointer, r.locks)) return;
    }
    const std::optional<advice::Changed> changed = fitting(changes, usable);
    if (!changed) return;
    out.open_object();
    out.field("fix", id);
    out.field("title", title);
    out.key("changes");
    out.open_object();
    for (const auto& [pointer, value] : changes) out.field(pointer, value);
    out.close_object();
    out.field("costs", whole(changed->price.sizes.device - now.device));
    out.key("peak");
    write_sizes(out, changed->price.sizes);
    out.field("time_factor", factor(changed->price.seconds, seconds_));
    out.field("why", why);
    out.close_object();
  };
  if (memory::verdict(now, usable) == memory::Verdict::fits) {
    const recipe::Training& t = r.training;
    const uint64_t together = t.per_device_train_batch_size * t.gradient_accumulation_steps;
    for (uint64_t batch = together; batch > t.per_device_train_batch_size; --batch) {
      if (together % batch != 0 || batch > 64) continue;
      const recipe::Values changes = {{"/training/per_device_train_batch_size", batch},
                                      {"/training/gradient_accumulation_steps", together / batch}};
      if (!fitting(changes, usable)) continue;
      offer("larger_micro_batch", "Larger micro-batch, less accumulation", changes,
            "Fewer, larger passes use the GPU better; the effective batch stays.");
      break;
    }
    if (t.gradient_checkpointing) {
      offer("no_checkpointing", "No gradient checkpointing", {{"/training/gradient_checkpointing", false}},
            "Nothing is computed twice.");
    }
    if (r.quantization.load_in_4bit || r.quantization.load_in_8bit) {
      offer("sixteen_bit_base", "The base in 16 bits",
            {{"/quantization/load_in_4bit", false}, {"/quantization/load_in_8bit", false}},
            "No unpacking in each pass, and no quantisation error.");
    }
    offer("longer", "Twice the length", {{"/training/max_length", 2 * t.max_length}},
          "Longer samples are seen whole.");
    if (r.peft.on) {
      offer("higher_rank", "Twice the rank",
            {{"/peft/r", 2 * r.peft.r}, {"/peft/lora_alpha", 2 * r.peft.lora_alpha}},
            "More can be learned; alpha stays in ratio.");
      const bool all = r.peft.target_modules == std::vector<std::string>{"all-linear"};
      if (!all) {
        offer(
            "all_linear", "Adapters on all linear layers",
            {{"/peft/target_modules", Json::array({"all-linear"})}},
            "At equal numbers of parameters adapters on all layers learn more (arXiv:2305.14314, figure 2).");
      }
    }
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
