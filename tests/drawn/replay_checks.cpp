// A run is composed once, for its highest moments (PeakSink) and as the list of its tensors (TraceSink). Both
// are held against each other here.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/memory/step/step_program.h"
#include "core/memory/step/timeline.h"
#include "core/recipe/fields.h"
#include "core/run/components.h"
#include "core/run/run.h"
#include "tests/drawn/checks.h"

namespace plimsoll::drawn {

namespace {

using memory::Event;
using memory::Section;
using memory::Snapshot;
using memory::Unrolled;

std::optional<run::Run> run_of(const Draw& draw) {
  json::Errors errors;
  auto run = run::read_run(draw.text, presets(), errors);
  EXPECT_TRUE(run.has_value()) << said(draw);
  return run;
}

// What a list holds when.
struct Heights {
  std::map<memory::Phase, Snapshot> by_phase;
  double first_step = 0;          // highest until the first optimizer step is over
  std::array<double, 3> after{};  // the end of loading, of the first and of the later step
  double loaded = 0, highest = 0;
  std::array<bool, memory::traced_phases> alike{};  // some moment holds what the peak does, by component
  std::map<std::string, int> wrong;  // tensors that are made twice, or given back though they do not exist
};

// A list may have one step or two; the first of two is told by its optimizer alone.
class Walk {
 public:
  Walk(const Unrolled& list, const memory::Replay& replay) : alive_(list.tensors), lives_(list.tensors, 0) {
    for (const memory::Instant& instant : replay.instants)
      if (memory::in_trace(instant.phase)) peaks_[static_cast<std::size_t>(instant.phase)] = instant.live;
    const bool one_step = list.sections.back().step == 1;
    for (const Section& section : list.sections) {
      counts_ = one_step || section.step != 1 || section.phase == memory::Phase::optimizer_step_first;
      so_far_ = &heights.by_phase[section.phase];
      phase_ = static_cast<std::size_t>(section.phase);
      look();
      for (std::size_t i = section.from; i < section.to; ++i) apply(list.events[i], section.step);
      heights.after.at(section.step) = static_cast<double>(total_);
      if (section.phase == memory::Phase::load) heights.loaded = static_cast<double>(total_);
    }
  }
  Heights heights;

 private:
  void look() {
    if (!counts_) return;
    if (total_ > so_far_->total()) *so_far_ = live_;
    const Snapshot& peak = peaks_[phase_];
    // Sums beyond 2^53 bytes leave remainders, which the moments behind the highest one keep.
    const double total = peak.total(), near = rounding(std::max(total, heights.highest));
    if (heights.alike[phase_] || std::fabs(static_cast<double>(total_) - total) > near) return;
    bool alike = true;
    for (std::size_t i = 0; i < memory::component_count; ++i)
      alike = alike && std::fabs(live_.bytes[i] - peak.bytes[i]) <= near;
    heights.alike[phase_] = alike;
  }
  void apply(const Event& event, uint8_t step) {
    const bool made = event.kind == Event::Kind::allocate;
    Event& known = alive_[event.tensor];
    if ((lives_[event.tensor] != 0) == made) ++heights.wrong[event.what];
    if (!made && std::fabs(known.bytes - event.bytes) > 0.5) ++heights.wrong[event.what];
    if (!made) live_[known.component] -= known.bytes;
    if (made) total_ += event.bytes;
    if (event.kind == Event::Kind::release) {
      total_ -= event.bytes;
    } else {
      live_[event.component] += event.bytes;
    }
    lives_[event.tensor] = event.kind == Event::Kind::release ? 0 : 1;
    known = event;
    const auto total = static_cast<double>(total_);
    if (step < 2) heights.first_step = std::max(heights.first_step, total);
    heights.highest = std::max(heights.highest, total);
    look();
  }

  std::vector<Event> alive_;
  std::vector<char> lives_;
  std::array<Snapshot, memory::traced_phases> peaks_{};
  std::size_t phase_ = 0;
  Snapshot live_;
  long double total_ = 0;  // a double would drift: 15,000 tensors beside 10^15 bytes lose megabytes
  bool counts_ = true;
  Snapshot* so_far_ = nullptr;
};

std::string differences(const Snapshot& unrolled, const Snapshot& closed) {
  std::string words;
  for (std::size_t i = 0; i < memory::component_count; ++i) {
    if (std::fabs(unrolled.bytes[i] - closed.bytes[i]) <= 1) continue;
    words += "\n  " + std::string(run::component_id(static_cast<memory::Component>(i))) + ": unrolled " +
             std::to_string(unrolled.bytes[i]) + ", peaks " + std::to_string(closed.bytes[i]);
  }
  return words;
}

// The highest sum of each instant, and the highest of each component.
std::array<double, memory::component_count + 16> heights_of(const memory::Timeline& t) {
  std::array<double, memory::component_count + 16> highest{};
  for (const memory::Point& point : t.points) {
    double& of_instant = highest[memory::component_count + static_cast<std::size_t>(point.phase)];
    of_instant = std::max(of_instant, point.live.total());
    for (std::size_t c = 0; c < memory::component_count; ++c)
      highest[c] = std::max(highest[c], point.live.bytes[c]);
  }
  return highest;
}

// Neighbours of a recipe, as the search for plans tries them one after another.
std::vector<recipe::Recipe> neighbours(const recipe::Recipe& recipe) {
  std::vector<recipe::Recipe> all(8, recipe);
  all[1].training.per_device_train_batch_size += 1;
  all[2].training.gradient_checkpointing = !recipe.training.gradient_checkpointing;
  all[3].training.gradient_accumulation_steps += 1;
  all[4].model_args.attn_implementation = "eager";
  all[5].peft.r = std::max<uint64_t>(1, recipe.peft.r / 2);
  all[6].training.max_length = std::max<uint64_t>(1, recipe.training.max_length / 2);
  all[7].training.optim = "adafactor";
  return all;
}

}  // namespace

namespace {

// ColossalAI's ZeRO-2 keeps a slice of every gradient. Where gradients outlive a step or a micro-batch, the
// list makes the first ones whole before it cuts them, of one layer or the head at a time; the closed form
// knows those alone that are added to slices. 8 of 30,000 draws differ, by 0.8 % at most: 1.0 GB of 126 GB.
double cut_later(const run::Run& run) {
  const recipe::Recipe& recipe = run.resolved.recipe;
  const bool slices = recipe.parallel.strategy == "zero2" && recipe.parallel.zero.library == "colossalai";
  return slices && recipe.gradients_outlive_step() ? run.replay.parameters.trained_bytes : 0;
}

// The list makes the optimizer's states behind the backward, and no gradient before the first one. The closed
// form of a first step is the later step's: states that come into being during a backward are counted whole
// at its highest moment, and so are gradients that a later step finds there already. It is never lower, and
// no higher than by these.
void first_steps_agree(const run::Run& run, const Heights& list, const Draw& draw) {
  const recipe::Recipe& recipe = run.resolved.recipe;
  const memory::FirstStep first = memory::first_step(run.replay, recipe);
  if (first.phase == memory::Phase::load || !memory::in_trace(first.phase)) return;
  double beyond = recipe.training.optimizer_in_backward ? run.replay.sharding.optimizer : 0;
  if (recipe.training.gradient_accumulation_steps == 1 && recipe.gradients_outlive_step())
    beyond += run.replay.sharding.accumulated;
  // Gradients that FSDP finds there are shards; those of the first step are made whole as well, and joined.
  const bool first_whole = beyond > 0 && recipe.parallel.strategy.rfind("fsdp", 0) == 0;
  const double above = cut_later(run) + (first_whole ? run.replay.parameters.trained_bytes : 0);
  EXPECT_LE(list.first_step, first.allocated + above + rounding(list.highest))
      << name(first.phase) << said(draw);
  EXPECT_GE(list.first_step, first.allocated - beyond - rounding(list.highest))
      << name(first.phase) << said(draw);
}

}  // namespace

void unrolled_list_holds_what_the_peaks_say(const Draw& draw) {
  const auto run = run_of(draw);
  if (!run || !run::unrolls(*run)) return;
  const Heights list =
      Walk(memory::unroll(run->network, run->resolved.recipe, run->machine), run->replay).heights;
  EXPECT_TRUE(list.wrong.empty()) << list.wrong.begin()->first << " is made twice, or given back unmade"
                                  << said(draw);
  for (const memory::Instant& instant : run->replay.instants) {
    const memory::Phase phase = instant.phase;
    if (!memory::in_trace(phase)) continue;  // a pass without a graph, which is not written down
    const auto found = list.by_phase.find(phase);
    if (found == list.by_phase.end()) {
      // A run of one step has no later one.
      EXPECT_TRUE(phase == memory::Phase::optimizer_step && run->resolved.recipe.training.max_steps == 1)
          << name(phase) << said(draw);
      continue;
    }
    const double unrolled = found->second.total();
    double closed = instant.live.total();
    // Preparation begins with what was loaded, of which a rank may keep less.
    if (phase == memory::Phase::prepare) closed = std::max(closed, list.loaded);
    if (phase == memory::Phase::load) {  // the largest matrix is not the last one to be packed
      EXPECT_LE(unrolled, closed + rounding(closed)) << said(draw);
      EXPECT_GE(unrolled, instant.live[memory::Component::weights] - rounding(closed)) << said(draw);
      continue;
    }
    if (unrolled > closed && unrolled < closed + cut_later(*run)) continue;
    EXPECT_NEAR(unrolled, closed, rounding(list.highest))
        << name(phase) << differences(found->second, instant.live) << said(draw);
    if (phase == memory::Phase::prepare) continue;
    EXPECT_TRUE(list.alike[static_cast<std::size_t>(phase)])
        << name(phase) << differences(found->second, instant.live) << said(draw);
  }
  first_steps_agree(*run, list, draw);
  if (list.after[2] != 0) {
    EXPECT_NEAR(list.after[1], list.after[2], rounding(list.highest))
        << "a step leaves something" << said(draw);
  }
}

// What the layers' programs leave as gradients, and what was counted of the same parameters. Some linears are
// counted and not walked (indexers, gates of linear attention), none the other way round. Trained norms are
// left out: one without a bias leaves a gradient for it, 4 to 32 kB a norm.
void layers_leave_no_gradient_that_is_not_weighed(const Draw& draw) {
  const auto run = run_of(draw);
  if (!run || run->replay.sharding.computing) return;  // gradients in another type than the parameters
  if (run->resolved.recipe.full() || memory::trains_norms(run->resolved.recipe)) return;
  memory::StepProgram program;
  const memory::Replay replay = memory::replay(run->network, run->resolved.recipe, run->machine, &program);
  double left = 0;
  for (const memory::Stage& stage : program.networks.back().stages) {
    for (const memory::LayerRun& layers : stage.runs) left += layers.replay.weight_gradients * layers.layers;
  }
  const memory::Parameters& known_parameters = replay.parameters;
  EXPECT_LE(left, known_parameters.trained_bytes - known_parameters.outside_layer_gradients + rounding(left))
      << said(draw);
}

// A drawing shows a later step alone: without the first one the list is about half as long, and the same.
void later_step_is_the_same_without_the_first(const Draw& draw) {
  const auto run = run_of(draw);
  if (!run || !run::unrolls(*run)) return;
  const recipe::Recipe& recipe = run->resolved.recipe;
  const Unrolled both = memory::unroll(run->network, recipe, run->machine);
  const Unrolled later = memory::unroll(run->network, recipe, run->machine, memory::Steps::later);
  EXPECT_LE(later.events.size(), both.events.size()) << said(draw);
  const memory::Timeline whole = memory::timeline(both), alone = memory::timeline(later);
  // Of moments that are equal but for rounding, either may be drawn.
  const auto wanted = heights_of(whole), given = heights_of(alone);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(wanted[i], given[i], rounding(wanted[i])) << i << said(draw);
  EXPECT_EQ(whole.alive_at(whole.peak).size(), alone.alive_at(whole.peak).size()) << said(draw);
}

void drawing_leaves_out_no_highest_moment(const Draw& draw) {
  const auto run = run_of(draw);
  if (!run || !run::unrolls(*run)) return;
  const recipe::Recipe& recipe = run->resolved.recipe;
  const Unrolled all = memory::unroll(run->network, recipe, run->machine, memory::Steps::later);
  const Unrolled some = memory::unroll(run->network, recipe, run->machine, memory::Steps::drawn);
  EXPECT_LE(some.events.size(), all.events.size()) << said(draw);
  const memory::Timeline whole = memory::timeline(all), shorter = memory::timeline(some);
  const auto wanted = heights_of(whole), given = heights_of(shorter);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(wanted[i], given[i], rounding(wanted[i])) << i << said(draw);
  EXPECT_EQ(whole.alive_at(whole.peak).size(), shorter.alive_at(shorter.peak).size()) << said(draw);
}

void replayed_layers_change_no_replay(const Draw& draw) {
  const auto run = run_of(draw);
  if (!run) return;
  memory::ReplayMemo memo(run->network);
  memory::Machine machine = run->machine;
  machine.memo = &memo;
  for (int round = 0; round < 2; ++round) {
    for (const recipe::Recipe& recipe : neighbours(run->resolved.recipe)) {
      const memory::Replay walked = memory::replay(run->network, recipe, run->machine);
      const memory::Replay taken = memory::replay(run->network, recipe, machine);
      ASSERT_EQ(walked.instants.size(), taken.instants.size()) << said(draw);
      for (std::size_t i = 0; i < walked.instants.size(); ++i) {
        EXPECT_EQ(walked.instants[i].live.bytes, taken.instants[i].live.bytes)
            << name(walked.instants[i].phase) << said(draw);
      }
    }
  }
  EXPECT_GE(memo.reused, memo.walked) << "the second round meets nothing new" << said(draw);
}

}  // namespace plimsoll::drawn
