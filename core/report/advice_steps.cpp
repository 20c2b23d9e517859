// Single changes as JSON: every fix alone, the ladder from one to the next, what room to spare can buy.
#include <algorithm>
#include <cmath>

#include "core/advice/usual.h"
#include "core/json/rounding.h"
#include "core/recipe/fields.h"
#include "core/recipe/locks.h"
#include "core/report/advice.h"
#include "core/report/advice_parts.h"

namespace plimsoll::report {

using advice::Choice;
using json::Json;
using json::whole;
using json::Writer;

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

}  // namespace plimsoll::report
