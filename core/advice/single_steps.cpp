// Single changes: every fix alone, the ladder from one to the next, what room to spare can buy.
#include <algorithm>

#include "core/advice/advisor.h"
#include "core/advice/usual.h"
#include "core/recipe/locks.h"

namespace plimsoll::advice {

std::vector<SingleFix> Advisor::fixes(std::span<const std::string_view> ids) {
  const Space& space = planner_->space();
  Pricer& pricer = planner_->pricer();
  const double before = pricer.price(Choice{})->sizes.device;
  std::vector<SingleFix> found;
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    for (std::size_t o = 1; o < space.slots[i].options.size(); ++o) {
      const Option& option = space.slots[i].options[o];
      if (!ids.empty() && std::find(ids.begin(), ids.end(), option.fix->id) == ids.end()) continue;
      Choice alone{};
      alone[i] = static_cast<uint8_t>(o);
      if (const Price* price = pricer.price(alone))
        found.push_back({&option, before - price->sizes.device, pricer.seconds(alone)});
    }
  }
  return found;
}

std::vector<FrontPoint> Advisor::front() {
  std::vector<FrontPoint> points, front;
  for (const auto& [choice, price] : planner_->pricer().all()) {
    points.push_back({choice, price.sizes.high, planner_->pricer().seconds(choice),
                      quality_of(planner_->space(), choice)});
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const FrontPoint& a, const FrontPoint& b) { return a.high < b.high; });
  // Whatever comes later needs more memory: it stays only if nothing before is as fast and as good.
  for (const FrontPoint& point : points) {
    const bool beaten = std::any_of(front.begin(), front.end(), [&](const FrontPoint& other) {
      return other.seconds <= point.seconds && other.quality <= point.quality;
    });
    if (!beaten) front.push_back(point);
  }
  return front;
}

// Further changes by what they cost in quality and by their place in the usual order, the mildest of a scale first.
std::vector<Choice> Advisor::further(const Choice& at) {
  constexpr double worth = 0.98;
  const Space& space = planner_->space();
  const double now = planner_->pricer().price(at)->sizes.device;
  std::vector<std::pair<std::pair<int, std::size_t>, Choice>> found;
  for (std::size_t i = 0; i < space.slots.size(); ++i) {
    // Never back to what a further rung has replaced.
    for (std::size_t option = at[i] + 1u; option < space.slots[i].options.size(); ++option) {
      Choice next = at;
      next[i] = static_cast<uint8_t>(option);
      const Price* price = planner_->pricer().price(next);
      if (price == nullptr || price->sizes.device > worth * now) continue;
      found.push_back({{quality_of(space, next), usual_place(*space.slots[i].options[option].fix)}, next});
      if (space.slots[i].kind == FixKind::scale) break;
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Choice> ordered;
  for (const auto& [cost, choice] : found) ordered.push_back(choice);
  return ordered;
}

// Moves `at` one rung on, to the first that saves something by what a report of it says.
std::optional<Rung> Advisor::rung(Choice& at, double usable) {
  Pricer& pricer = planner_->pricer();
  const Space& space = planner_->space();
  const double now = pricer.confirmed(at, usable)->sizes.device;
  for (const Choice& next : further(at)) {
    const memory::Sizes& sizes = pricer.confirmed(next, usable)->sizes;
    if (sizes.device >= now) continue;
    std::size_t slot = 0;
    while (next[slot] == at[slot]) ++slot;
    const double seconds_now = pricer.seconds(at);
    at = next;
    return Rung{&space.slots[slot].options[next[slot]], sizes, now, seconds_now, pricer.seconds(at)};
  }
  return std::nullopt;
}

std::vector<Rung> Advisor::ladder(double usable) {
  constexpr std::size_t longest = 8;
  const std::vector<NamedPlan> first = plans(usable);
  Choice at = first.empty() ? Choice{} : first.front().choice;
  std::vector<Rung> rungs;
  while (rungs.size() < longest) {
    const std::optional<Rung> next = rung(at, usable);
    if (!next) break;
    rungs.push_back(*next);
  }
  return rungs;
}

std::vector<Purchase> Advisor::purchases(double usable) const {
  const memory::Sizes now = sizes_at_peak(run_);
  std::vector<Purchase> found;
  if (memory::verdict(now, usable) != memory::Verdict::fits) return found;
  const recipe::Recipe& r = run_.resolved.recipe;
  const recipe::Training& t = r.training;
  // Whether it fits.
  const auto offer = [&](const char* id, const char* title, const recipe::Values& changes, const char* why) {
    std::optional<Changed> changed = change_that_fits(*basis_, changes, usable);
    if (changed) changed->price.sizes = simulated_sizes(changed->replay, changed->recipe, *basis_, usable);
    // What changes nothing is there already: targets that are all linear layers by name.
    const bool moves = changed && changed->price.sizes.device != now.device;
    if (moves && !recipe::moves_locked(changes, r.locks)) {
      const Price& price = changed->price;
      found.push_back({id, title, why, changes, price.sizes, price.sizes.device - now.device, price.seconds});
    }
    return changed.has_value();
  };
  const uint64_t together = t.per_device_train_batch_size * t.gradient_accumulation_steps;
  for (uint64_t batch = together; batch > t.per_device_train_batch_size; --batch) {
    if (together % batch != 0 || batch > 64) continue;
    const recipe::Values changes = {{"/training/per_device_train_batch_size", batch},
                                    {"/training/gradient_accumulation_steps", together / batch}};
    if (offer("larger_micro_batch", "Larger micro-batch, less accumulation", changes,
              "Fewer, larger passes use the GPU better; the effective batch stays."))
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
  const uint64_t positions = model::learned_positions(run_.network);
  if (positions == 0 || 2 * t.max_length <= positions) {
    offer("longer", "Twice the length", {{"/training/max_length", 2 * t.max_length}},
          "Longer samples are seen whole.");
  }
  if (!r.peft.on) return found;
  offer("higher_rank", "Twice the rank",
        {{"/peft/r", 2 * r.peft.r}, {"/peft/lora_alpha", 2 * r.peft.lora_alpha}},
        "More can be learned; alpha stays in ratio.");
  if (r.peft.target_modules != std::vector<std::string>{"all-linear"}) {
    offer("all_linear", "Adapters on all linear layers",
          {{"/peft/target_modules", json::Json::array({"all-linear"})}},
          "At equal numbers of parameters adapters on all layers learn more (arXiv:2305.14314, figure 2).");
  }
  return found;
}

}  // namespace plimsoll::advice
