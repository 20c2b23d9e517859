#include "core/diagnosis/rerun.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/diagnosis/asked.h"
#include "core/diagnosis/cases.h"
#include "core/diagnosis/signs.h"
#include "core/diagnosis/size.h"
#include "core/diagnosis/taken.h"
#include "core/memory/allocator/reserve.h"

namespace plimsoll::diagnosis {

namespace {

using memory::Component;
using Instant = memory::Phase;

// What the message says, as far as a replay can be held against it.
struct Shown {
  double allocated = 0, tried = 0;
  double room = 0, without_slack = 0;  // reserved and free; without what was reserved in vain
  Window window;
  FailurePhase phase = FailurePhase::unknown;  // by a traceback
  bool tokens = true;                          // batch and length are said

  // A request of a few hundredths of the card may be any of many tensors.
  bool telling() const { return !window.empty() && tried > 0.01 * room; }
};

bool is_in(Instant instant, FailurePhase phase) {
  switch (phase) {
    case FailurePhase::load:
      return instant == Instant::load || instant == Instant::prepare;
    case FailurePhase::forward:
      return instant == Instant::forward || instant == Instant::loss;
    case FailurePhase::loss:
      return instant == Instant::loss || instant == Instant::forward;
    case FailurePhase::backward:
      return instant == Instant::backward;
    case FailurePhase::optimizer:
      return instant == Instant::optimizer_step_first || instant == Instant::optimizer_step;
    case FailurePhase::unknown:
      return true;
    default:
      return false;
  }
}

// Where what is allocated depends on the tokens of a micro-batch.
bool holds_tokens(Instant instant) {
  return instant == Instant::forward || instant == Instant::loss || instant == Instant::backward;
}

struct Played {
  std::optional<Asked> death;  // the request that failed in the room that the message shows
  std::optional<Asked> match;  // of the message's size, until then
  double highest = 0;          // allocated in all, had there been room
  double off = INFINITY;       // how far what is allocated lies from the message's at a request of its size
  double at_rest = 0;          // before the first step
  // Allocated when the phase of the traceback asks for the message's size, or for anything where nothing has it.
  double least = INFINITY;
  bool asks = false;  // for the message's size, in that phase
};

double in_blocks(double bytes) { return std::ceil(bytes / 512) * 512; }

// As `is_in`, but for frames of the loss, which come after the layers of the forward pass.
bool is_at(Instant instant, FailurePhase phase) {
  return phase == FailurePhase::loss ? instant == Instant::loss : is_in(instant, phase);
}

// The run with as much room as the message shows it had.
Played play(const Situation& s, const recipe::Recipe& recipe, const Shown& shown) {
  Played out;
  const memory::Unrolled run = memory::unroll(*s.network, recipe, *s.machine);
  memory::AllocatorRun how;
  how.settings = memory::read_allocator_settings(recipe.hardware.cuda_alloc_conf);
  how.capacity = static_cast<uint64_t>(shown.room);
  const bool by_allocator = memory::simulates(recipe);
  const memory::Reserve held = by_allocator ? memory::simulate(run, how) : memory::Reserve();
  double live = 0, nearest = 0.05 * shown.room, least_of_any = INFINITY;
  for (std::size_t n = 0; n < run.sections.size(); ++n) {
    const memory::Section& section = run.sections[n];
    if (section.step == 0) out.at_rest = live;
    for (std::size_t i = section.from; i < section.to; ++i) {
      const memory::Event& event = run.events[i];
      const double bytes = in_blocks(event.bytes);
      if (event.kind == memory::Event::Kind::release) live -= bytes;
      if (event.kind != memory::Event::Kind::allocate) continue;
      const Asked asked{section.phase, event.component, section.layer, event.what, event.bytes, live};
      const bool dies = by_allocator ? held.died && n == held.died_in && i == held.died_at
                                     : live + bytes > shown.without_slack;
      const double off = std::fabs(live - shown.allocated);
      const bool open = !shown.tokens && holds_tokens(section.phase);
      // Where fragments alone end the simulated run, the real one may have got on.
      const bool reached = out.highest <= shown.room;
      if (reached && !open && is_in(section.phase, shown.phase) && shown.window.holds(event.bytes)) {
        out.off = std::min(out.off, off);
        if (off < nearest) {
          nearest = off;
          out.match = asked;
        }
      }
      if (is_at(section.phase, shown.phase)) {
        least_of_any = std::min(least_of_any, live);
        if (shown.window.holds(event.bytes)) out.least = std::min(out.least, live);
      }
      if (dies && !out.death) out.death = asked;
      live += bytes;
      out.highest = std::max(out.highest, live);
    }
    if (section.step == 0) out.at_rest = live;
  }
  out.asks = out.least < INFINITY;
  if (!out.asks) out.least = least_of_any;
  return out;
}

// How well a replay tells what the message says: a logarithm of odds against a run that has nothing to do
// with it.
constexpr double large = 2.5;  // a request of such a size is of few tensors
double agreement(const Played& played, const Shown& shown) {
  if (!played.death) return -1;  // such a run would not have failed
  const Asked& death = *played.death;
  if (!shown.tokens && holds_tokens(death.at)) return played.match ? 2 : 0;
  const bool there = is_in(death.at, shown.phase);
  const double off = std::fabs(death.allocated - shown.allocated) / shown.room;
  if (!shown.telling()) {
    const bool framed = there && shown.phase != FailurePhase::unknown && off < 0.05;
    return framed ? (played.match ? 1.5 : 1) : 0;
  }
  if (there && shown.window.holds(death.bytes) && off < 0.05) return 3;
  return !played.match ? -0.5 : shown.tried > 0.05 * shown.room ? large : 2;
}

// Whether a run that fails so could have written the message, whatever it asked for.
bool explains(const Played& played, const Shown& shown) {
  return played.death && is_in(played.death->at, shown.phase) &&
         std::fabs(played.death->allocated - shown.allocated) < 0.05 * shown.room;
}

std::string words_of(const Asked& asked, std::string_view setting, const Shown& shown) {
  return "Replayed" + (setting.empty() ? std::string(" as requested") : " with " + std::string(setting)) +
         ", the run asks for " + size_text(asked.bytes) + " (" + asked.what + ") " + place_of(asked) +
         " with " + size_text(asked.allocated) + " allocated; the message says " + size_text(shown.tried) +
         " with " + size_text(shown.allocated) + ".";
}

// What is said of a run whose request and message differ by more than a replay errs; true where more was
// allocated than it can hold.
bool contradict(const Played& played, const Shown& shown, Rerun& out) {
  constexpr double margin = 0.5 * gibibyte;
  if (in_a_step(shown.phase) && shown.allocated < 0.9 * played.at_rest - margin) {
    out.contradicts = "at_rest";
    out.explanation = "smaller";
    out.expected = played.at_rest;
    out.contradiction = "By the request " + size_text(played.at_rest) +
                        " are held before the first step, but only " + size_text(shown.allocated) +
                        " were allocated when a step failed.";
    out.explained =
        "Another configuration than this one ran: a smaller model, weights in fewer bits, or weights divided "
        "over the cards.";
    return false;
  }
  if (shown.tokens && shown.allocated > 1.15 * played.highest + margin) {
    out.contradicts = "at_most";
    out.explanation = "larger";
    out.expected = played.highest;
    out.contradiction = "By the request this run holds at most " + size_text(played.highest) + ", but " +
                        size_text(shown.allocated) + " were allocated when it failed.";
    out.explained =
        "Another configuration than this one ran, a setting did not take effect, or a sample was longer than "
        "the length it states (images and their tokens included).";
    return true;
  }
  return false;
}

// The run as requested could not have got to the frame that failed: its layers alone are more than the card
// gave. Whether it gets there with gradient checkpointing, of which many scripts say nothing.
void get_further(const Situation& s, const Shown& shown, const Played& played, Rerun& out) {
  constexpr double margin = 0.5 * gibibyte;
  const bool got_there = played.least <= shown.room || played.least <= 1.2 * shown.allocated + margin;
  if (!shown.tokens || !in_a_step(shown.phase) || played.least == INFINITY || got_there) return;
  out.contradicts = "at_least";
  out.expected = played.least;
  out.contradiction = "By the request at least " + size_text(played.least) +
                      " are allocated where it failed, but only " + size_text(shown.allocated) + " were.";
  recipe::Recipe recipe = *s.recipe;
  if (!recipe.training.gradient_checkpointing) {
    recipe.training.gradient_checkpointing = true;
    const Played further = play(s, recipe, shown);
    const double there = further.match ? further.match->allocated : further.least;
    out.checkpointed = std::fabs(there - shown.allocated) < 0.1 * shown.room;
    if (out.checkpointed) {
      out.explanation = "checkpointed";
      out.explained = "Gradient checkpointing was on: with it " + size_text(there) + " are allocated there.";
      return;
    }
  }
  out.explanation = played.asks ? "other" : "shorter";
  out.explained =
      "Another configuration than this one ran" +
      std::string(played.asks ? "." : ", or its samples were shorter than the length that it states.");
}

std::optional<Shown> shown_by(const Situation& s, const TextReading& r) {
  const Message* message = r.message();
  if (message == nullptr || message->family->kind != MessageKind::allocator) return std::nullopt;
  const Numbers& n = message->numbers;
  if (!n.allocated || !n.tried || n.at_least || r.derived.sentinel) return std::nullopt;
  if (n.free && n.free->bytes > n.tried->bytes) return std::nullopt;  // refused by another limit
  Shown shown;
  shown.allocated = n.allocated->bytes;
  shown.tried = n.tried->bytes;
  shown.window = window_of(*n.tried, message->family->kind);
  shown.room = r.derived.reserved.value_or(shown.allocated) + (n.free ? n.free->bytes : 0);
  shown.without_slack = shown.allocated + (n.free ? n.free->bytes : 0);
  shown.phase = r.frames.phase;
  shown.tokens = s.values.count("/training/per_device_train_batch_size") != 0 &&
                 s.values.count("/training/max_length") != 0;
  return shown.room > 0 && shown.allocated > 0 ? std::optional(shown) : std::nullopt;
}

// What fails in a full card may be any tensor: these causes are told by the very request that fails alone.
bool is_general(std::string_view cause) {
  for (const std::string_view id : {"batch_or_sequence_too_large", "checkpointing_not_active",
                                    "vision_tokens", "does_not_fit_at_all", "replicated_not_sharded"}) {
    if (id == cause) return true;
  }
  return false;
}

// A run that dies at the very request of the message leaves little doubt.
double weight_of(double odds) { return odds >= 3 ? 3.5 : odds >= large ? 2.5 : 0.7 * odds; }

void take(Rerun& out, const Shown& shown, const Asked& asked, const Case* setting, std::string_view cause,
          double weight) {
  out.match = asked;
  out.setting = setting == nullptr ? "" : setting->id;
  out.cause = cause;
  out.weight = weight;
  out.exact = weight >= weight_of(3);
  out.words = words_of(asked, setting == nullptr ? "" : setting->without, shown);
}

// The run as it is requested.
double as_requested(const Situation& s, const Played& played, const Shown& shown, Rerun& out) {
  const double plain = agreement(played, shown);
  out.refuted = shown.tokens && !played.death;
  if (plain < 1) return plain;
  const bool death = plain < 2 || plain >= 3;
  const Asked& asked = death ? *played.death : *played.match;
  const std::string_view cause = cause_of(asked, *s.recipe, played.at_rest, shown.room);
  // What the cards could hold together is lost to its copies.
  const auto cards = static_cast<double>(s.recipe->parallel.num_gpus);
  const bool divisible = cause == "replicated_not_sharded" && played.highest < 0.8 * cards * shown.room;
  if (death || !is_general(cause))
    take(out, shown, asked, nullptr, cause, weight_of(plain) + (divisible ? 1.5 : 0));
  return plain;
}

// A setting without effect, and what the run then holds.
struct Without {
  const Case* setting;
  std::string words;  // of both, where it takes two
  recipe::Recipe recipe;
  Played played;
};
std::vector<Without> without_one(const Situation& s, const Without* other, const Shown& shown) {
  std::vector<Without> out;
  for (const Case& setting : all_cases()) {
    if (setting.undo == nullptr) continue;
    if (other != nullptr && &setting <= other->setting) continue;
    recipe::Recipe changed = other == nullptr ? *s.recipe : other->recipe;
    if (!setting.undo(changed) || !memory::unrolls(changed)) continue;
    std::string words = (other == nullptr ? "" : other->words + " and ") + std::string(setting.without);
    Played played = play(s, changed, shown);
    out.push_back({&setting, std::move(words), std::move(changed), played});
  }
  return out;
}

// Of the runs without one setting or two that ask for the message's size, the one with the nearest allocated.
std::optional<Without> nearest_of(const Situation& s, const Shown& shown, std::vector<Without> runs) {
  const std::size_t ones = runs.size();
  for (std::size_t i = 0; i < ones; ++i) {
    for (Without& two : without_one(s, &runs[i], shown)) {
      // Of two settings the one that comes nearer alone is named.
      const auto alone = std::find_if(runs.begin(), runs.end(),
                                      [&](const Without& one) { return one.setting == two.setting; });
      if (alone == runs.end() || runs[i].played.off < alone->played.off) two.setting = runs[i].setting;
      runs.push_back(std::move(two));
    }
  }
  const auto best = std::min_element(runs.begin(), runs.end(), [](const Without& a, const Without& b) {
    return a.played.off < b.played.off;
  });
  return best != runs.end() && best->played.off < 0.1 * shown.room ? std::optional(*best) : std::nullopt;
}

// What is allocated cannot be this run's: the settings without effect that make it so, or come nearest.
void explain(const Situation& s, const Shown& shown, std::vector<Without> runs, Rerun& out) {
  std::size_t explanations = 0;
  std::optional<Without> best;
  std::string words;
  for (const Without& one : runs) {
    if (!explains(one.played, shown)) continue;
    words += (++explanations == 1 ? "It would be so with " : ", or with ") + one.words;
    if (!best || one.played.off < best->played.off) best = one;
  }
  if (!best) {
    best = nearest_of(s, shown, std::move(runs));
    if (!best) return;
    words = "Nearest to it, " + size_text(best->played.off) + " off, comes the run with " + best->words;
  }
  out.explained = words + ".";
  out.explanation = "";
  if (!out.cause.empty()) return;
  out.setting = best->setting->id;
  out.cause = best->setting->cause;
  out.weight = weight_of(large);
  out.words = out.explained;
}

Rerun played_again(const Situation& s, const TextReading& r) {
  Rerun out;
  if (s.recipe == nullptr || s.network == nullptr || s.machine == nullptr || !memory::unrolls(*s.recipe))
    return out;
  const std::optional<Shown> shown = shown_by(s, r);
  if (!shown) return out;
  out.played = true;
  const Played requested = play(s, *s.recipe, *shown);
  double best = as_requested(s, requested, *shown, out) + 1.4;
  std::vector<Without> runs = without_one(s, nullptr, *shown);
  for (const Without& one : runs) {
    const double odds = agreement(one.played, *shown);
    if (odds <= best || odds < 1) continue;
    best = odds;
    take(out, *shown, odds < 2 || odds >= 3 ? *one.played.death : *one.played.match, one.setting,
         one.setting->cause, weight_of(odds) + (out.refuted ? 4 : 0));
  }
  if (contradict(requested, *shown, out)) explain(s, *shown, std::move(runs), out);
  if (out.contradiction.empty()) get_further(s, *shown, requested, out);
  return out;
}

}  // namespace

// Where the failure shows the type of the weights and nobody else says it, the run is replayed so.
Rerun play_again(const Situation& s, const TextReading& r) {
  if (s.recipe == nullptr || !states_are_fp32(r) || s.values.count("/model_args/dtype") != 0)
    return played_again(s, r);
  recipe::Recipe recipe = *s.recipe;
  recipe.model_args.dtype = "float32";
  Situation held = s;
  held.recipe = &recipe;
  return played_again(held, r);
}

}  // namespace plimsoll::diagnosis
