// The search for plans: exact against exhaustive search, and its prices against full replays.
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "core/advice/planner.h"
#include "core/run/run.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

namespace {

using advice::Choice;
using advice::Measure;

// A run read, with all that the planner needs kept beside it.
struct Prepared {
  run::Run run;
  recipe::ModelTraits traits;
  advice::Basis basis;
  explicit Prepared(run::Run given)
      : run(std::move(given)),
        traits(run::model_traits(run)),
        basis{.network = run.network,
              .given = run.given,
              .stack = *run.stack,
              .traits = traits,
              .resolved = run.resolved,
              .gpu = run.gpu,
              .time_gpu = *presets().find_gpu("a100-sxm-80"),
              .card = {run.machine, run.context, {}},
              .locks = run.resolved.recipe.locks,
              .widening = run.widening,
              .evidence = &presets().evidence,
              .adapted_network = run.adapted_network ? &*run.adapted_network : nullptr} {}

  advice::FixContext situation() const {
    return {run.network, run.resolved.recipe, run.resolved.values, run.gpu};
  }
};
std::unique_ptr<Prepared> prepare(const Draw& draw) {
  json::Errors errors;
  std::optional<run::Run> run = run::read_run(draw.text, presets(), errors);
  return run ? std::make_unique<Prepared>(std::move(*run)) : nullptr;
}

// Every choice, one after another.
std::vector<Choice> every_choice(const advice::Space& space) {
  std::vector<Choice> all(1);
  for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
    const std::size_t before = all.size();
    for (std::size_t option = 1; option < space.slots[slot].options.size(); ++option) {
      for (std::size_t i = 0; i < before; ++i) {
        Choice next = all[i];
        next[slot] = static_cast<uint8_t>(option);
        all.push_back(next);
      }
    }
  }
  return all;
}

struct Tried {
  Choice choice;
  double high = 1e300, seconds = 0;
  int changes = 0, quality = 0, heaviest = 0;
  bool only_slack = false;
};

// What the planner should find, by trying everything.
struct Expected {
  const Tried* same = nullptr;
  const Tried* fewest = nullptr;
  const Tried* fastest = nullptr;
};

Expected exhaustive(const std::vector<Tried>& tried, const std::map<Choice, double>& highs, double usable) {
  Expected best;
  std::vector<const Tried*> plans;
  const auto fits = [&](const Choice& choice) {
    const auto found = highs.find(choice);
    return found != highs.end() && found->second <= usable;
  };
  for (const Tried& one : tried) {
    if (one.changes == 0 || one.high > usable) continue;
    // Every part of the changes that is neither all of them nor none.
    std::vector<std::size_t> made;
    for (std::size_t slot = 0; slot < one.choice.size(); ++slot) {
      if (one.choice[slot] != 0) made.push_back(slot);
    }
    bool needed = true;
    for (uint64_t kept = 1; kept + 1 < uint64_t{1} << made.size(); ++kept) {
      Choice part = one.choice;
      for (std::size_t i = 0; i < made.size(); ++i) {
        if ((kept >> i & 1) == 0) part[made[i]] = 0;
      }
      needed = needed && !fits(part);
    }
    if (!needed) continue;
    const auto better = [&](const Tried* than, auto cost) {
      return than == nullptr || cost(one) < cost(*than);
    };
    const auto by_loss = [](const Tried& t) { return std::make_tuple(t.quality, t.seconds); };
    if (better(best.fastest, by_loss)) best.fastest = &one;
    plans.push_back(&one);
  }
  // Of those that may not cost more than `most` the fastest; of what is as fast for all that is known, the
  // fewest changes.
  const auto quickest = [&](int most) {
    double fastest = 1e300;
    for (const Tried* one : plans) {
      if (one->heaviest <= most) fastest = std::min(fastest, one->seconds);
    }
    const Tried* found = nullptr;
    const auto cost = [](const Tried& t) {
      return std::make_tuple(t.changes, t.quality, t.only_slack, t.seconds);
    };
    for (const Tried* one : plans) {
      if (one->heaviest > most || one->seconds > advice::same_speed * fastest) continue;
      if (found == nullptr || cost(*one) < cost(*found)) found = one;
    }
    return found;
  };
  // The fewest of the least cost; of these again the fastest, as far as that is known.
  const auto by_count = [](const Tried& t) {
    return std::make_tuple(t.heaviest > advice::quality::parity, t.changes, t.quality);
  };
  const Tried* first = nullptr;
  double fastest = 1e300;
  for (const Tried* one : plans) {
    if (first != nullptr && by_count(*first) < by_count(*one)) continue;
    if (first == nullptr || by_count(*one) < by_count(*first)) fastest = 1e300;
    first = one;
    fastest = std::min(fastest, one->seconds);
  }
  for (const Tried* one : plans) {
    const auto cost = [](const Tried& t) { return std::make_pair(t.only_slack, t.seconds); };
    if (by_count(*one) != by_count(*first) || one->seconds > advice::same_speed * fastest) continue;
    if (best.fewest == nullptr || cost(*one) < cost(*best.fewest)) best.fewest = one;
  }
  best.same = quickest(advice::quality::none);
  if (const Tried* found = quickest(advice::quality::parity)) best.fastest = found;
  return best;
}

Tried tried_choice(advice::Planner& planner, const Choice& choice, const memory::Sizes& sizes) {
  const advice::Space& space = planner.space();
  const std::size_t allocator = space.find("allocator");
  Tried one{choice,
            sizes.enough,
            planner.pricer().seconds(choice),
            advice::changes_in(choice),
            advice::quality_of(space, choice),
            0,
            allocator < space.slots.size() && choice[allocator] != 0};
  for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
    one.heaviest = std::max(one.heaviest, space.slots[slot].options[choice[slot]].level.quality);
  }
  return one;
}

void expect_found(const Expected& expected, const advice::Plans& found, const Draw& draw) {
  ASSERT_EQ(found.fewest.has_value(), expected.fewest != nullptr) << said(draw);
  ASSERT_EQ(found.same.has_value(), expected.same != nullptr) << said(draw);
  ASSERT_EQ(found.fastest.has_value(), expected.fastest != nullptr) << said(draw);
  if (expected.fewest != nullptr) {
    EXPECT_EQ(advice::changes_in(found.fewest->choice), expected.fewest->changes) << said(draw);
    EXPECT_EQ(found.fewest->quality, expected.fewest->quality) << said(draw);
    EXPECT_EQ(found.fewest->price.seconds, expected.fewest->seconds) << said(draw);
  }
  if (expected.same != nullptr) {
    EXPECT_EQ(found.same->price.seconds, expected.same->seconds) << said(draw);
    EXPECT_EQ(advice::changes_in(found.same->choice), expected.same->changes) << said(draw);
  }
  if (expected.fastest != nullptr) {
    EXPECT_EQ(found.fastest->price.seconds, expected.fastest->seconds) << said(draw);
  }
}

}  // namespace

// A few fixes at a time keep the exhaustive side small; which ones, and how much room, is drawn.
void search_finds_what_trying_everything_finds(const Draw& draw) {
  const std::unique_ptr<Prepared> prepared = prepare(draw);
  if (!prepared) return;
  Dice dice(draw.seed * 7919);
  std::vector<const advice::Fix*> some;
  for (const advice::Fix* fix : advice::fixes()) {
    if (dice.one_in(4)) some.push_back(fix);
  }
  const advice::Space open = advice::open_choices(prepared->situation(), prepared->basis.locks, some);
  advice::Planner planner(prepared->basis, open);
  const advice::Space& space = planner.space();
  std::size_t size = 1;
  for (const advice::Slot& slot : space.slots) size *= slot.options.size();
  if (size < 2 || size > 200) return;
  std::vector<Tried> tried;
  std::map<Choice, double> highs;
  double lowest = 1e300;
  for (const Choice& choice : every_choice(space)) {
    const advice::Price* price = planner.pricer().price(choice);
    if (price == nullptr) continue;
    tried.push_back(tried_choice(planner, choice, price->sizes));
    highs[choice] = price->sizes.enough;
    lowest = std::min(lowest, price->sizes.enough);
  }
  const double now = highs.at(Choice{});
  const double usable = lowest + (now - lowest) * static_cast<double>(dice.draw(1000)) / 1000;
  if (now <= usable) return;
  advice::Planner fresh(prepared->basis, open);
  expect_found(exhaustive(tried, highs, usable), fresh.plans({usable, Measure::enough}), draw);
}

// Where the report says that a smaller size may need more, and why.
bool a_smaller_size_may_take_more(const Draw& draw) {
  const Json& notes = draw.report.at("notes");
  return std::any_of(notes.begin(), notes.end(),
                     [](const Json& note) { return note.at("code") == "size_may_take_less"; });
}

// No level of a smaller batch or a shorter completion allocates more than the one before it, but where the
// report says that a smaller size may. Of scales that cost quality the planner always dropped such levels.
void allocations_fall(const Draw& draw, const Prepared& prepared) {
  if (a_smaller_size_may_take_more(draw)) return;
  const advice::Space space = advice::open_choices(prepared.situation(), prepared.basis.locks);
  advice::Pricer pricer(prepared.basis, space);
  for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
    const std::string_view name = space.slots[slot].name;
    if (name != "micro_batch" && name != "shorter_completions") continue;
    double before = 1e300;
    for (std::size_t option = 0; option < space.slots[slot].options.size(); ++option) {
      const advice::Level& level = space.slots[slot].options[option].level;
      Choice choice{};
      choice[slot] = static_cast<uint8_t>(option);
      const advice::Price* price = pricer.price(choice);
      if (price == nullptr || level.apart || level.uneven) continue;
      if (option == 0 && space.slots[slot].options[1].level.may_rise) continue;
      EXPECT_LE(price->sizes.allocated, before * (1 + 1e-12))
          << space.slots[slot].name << " " << option << said(draw);
      before = price->sizes.allocated;
    }
  }
}

// Tensors that are small enough are not sent to host memory: a smaller batch may leave more of them.
bool keeps_small_tensors(const advice::Level& level) {
  return level.changes.count("/training/activation_offloading") != 0;
}

// Alone at every step: the planner drops levels that save nothing. Beside other changes a step may save
// nothing and cost what an allocator rounds or an estimate of its cache adds (6.2 % is the most that was seen, where
// the peak moves to the saving under FSDP), but no more than a tenth; a library's own thresholds apart.
void scales_take_less_at_every_step(const Draw& draw) {
  const std::unique_ptr<Prepared> prepared = prepare(draw);
  if (!prepared) return;
  allocations_fall(draw, *prepared);
  Dice dice(draw.seed * 104729);
  advice::Planner planner(prepared->basis,
                          advice::open_choices(prepared->situation(), prepared->basis.locks));
  const advice::Space& space = planner.space();
  advice::Pricer& pricer = planner.pricer();
  for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
    if (space.slots[slot].kind != advice::FixKind::scale) continue;
    Choice choice{};
    const bool alone = draw.seed % 40 != 0 || a_smaller_size_may_take_more(draw);
    const double most = alone ? 1 + 1e-12 : 1.1;
    for (std::size_t other = 0; !alone && other < space.slots.size(); ++other) {
      if (!dice.one_in(3)) continue;
      const auto drawn = static_cast<uint8_t>(dice.draw(space.slots[other].options.size()));
      if (!keeps_small_tensors(space.slots[other].options[drawn].level)) choice[other] = drawn;
    }
    double before = 1e300;
    for (std::size_t option = 0; option < space.slots[slot].options.size(); ++option) {
      choice[slot] = static_cast<uint8_t>(option);
      const advice::Price* price = pricer.price(choice);
      const advice::Level& level = space.slots[slot].options[option].level;
      if (price == nullptr || level.apart || level.uneven) continue;
      if (option == 0 && space.slots[slot].options[1].level.may_rise) continue;
      EXPECT_LE(price->sizes.enough, before * most) << space.slots[slot].name << " " << option << said(draw);
      before = price->sizes.enough;
    }
  }
}

// Optimizers and allocator settings are added to a replay, scales are set without their defaults being
// resolved again: both must give what a full replay of the changed request gives, on one GPU and on several.
void a_price_is_that_of_a_full_replay(const Draw& draw) {
  const std::unique_ptr<Prepared> prepared = prepare(draw);
  if (!prepared) return;
  Dice dice(draw.seed * 15485863);
  const advice::Space space = advice::open_choices(prepared->situation(), prepared->basis.locks);
  advice::Pricer pricer(prepared->basis, space);
  for (int tries = 0; tries < 6; ++tries) {
    Choice choice{};
    for (std::size_t slot = 0; slot < space.slots.size(); ++slot) {
      if (dice.one_in(4)) choice[slot] = static_cast<uint8_t>(dice.draw(space.slots[slot].options.size()));
    }
    const advice::Price* price = pricer.price(choice);
    if (price == nullptr) continue;
    const recipe::Values changes = advice::changes_of(space, choice);
    const auto full = advice::change(prepared->basis, changes);
    const std::string words = json::write(Json(changes));
    ASSERT_TRUE(full.has_value()) << words << said(draw);
    EXPECT_NEAR(price->sizes.enough, full->price.sizes.enough, 1 + 1e-12 * price->sizes.enough)
        << words << said(draw);
    EXPECT_NEAR(pricer.seconds(choice), full->price.seconds, 1e-9 * full->price.seconds)
        << words << said(draw);
    if (const memory::Sizes* training = pricer.without_evaluation(choice)) {
      EXPECT_LE(training->enough, price->sizes.enough * 1.01 + 1) << words << said(draw);
      EXPECT_LE(training->needed, price->sizes.needed * 1.01 + 1) << words << said(draw);
    }
  }
}

}  // namespace plimsoll::drawn
