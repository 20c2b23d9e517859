#include "core/advice/usual.h"

#include <algorithm>

#include "core/advice/fixes/fixes.h"
#include "core/advice/planner.h"

namespace plimsoll::advice {

namespace {

constexpr const Fix* in_usual_order[] = {
    // Settings of the loop.
    &gradient_checkpointing,
    &non_reentrant_checkpointing,
    &reentrant_checkpointing,
    &smaller_eval_batch,
    &vllm_sleep_mode,
    &vllm_memory_share,
    &micro_batch,
    // Kernels and what is kept for them.
    &newer_trl,
    &fused_loss,
    &cut_cross_entropy,
    &plain_loss,
    &flash_attention,
    &sdpa,
    &padding_free,
    &eval_accumulation,
    &loss_only,
    &precomputed_reference,
    &expandable_segments,
    // Several cards.
    &sharded_states,
    &sharded_parameters,
    &sync_each_batch,
    // The optimizer.
    &fused_optimizer,
    &eight_bit_optimizer,
    &paged_eight_bit_optimizer,
    &paged_optimizer,
    // The base.
    &sixteen_bit_load,
    &quantized_experts,
    &linear_experts,
    &double_quantization,
    &nf4,
    &int8,
    &no_kbit_upcast,
    &optimizer_in_backward,
    // Over PCIe.
    &offloaded_checkpoints,
    &optimizer_on_cpu,
    &optimizer_in_host_memory,
    &parameters_in_host_memory,
    &sharded_in_host_memory,
    // Something else is learned.
    &pure_bfloat16,
    &sixteen_bit_adapters,
    &adafactor,
    &lion,
    &adapters_instead_of_full,
    &frozen_tower,
    &smaller_images,
    &shorter_completions,
    &shorter,
    &lower_rank,
    &fewer_targets,
    &fewer_images,
};

}  // namespace

std::span<const Fix* const> usual_order() { return in_usual_order; }

std::size_t usual_place(const Fix& fix) {
  const std::span<const Fix* const> order = usual_order();
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), &fix) - order.begin());
}

// The options of all slots in the usual order; all levels of a scale are one rung, at its end.
void Planner::list_rungs() {
  for (const Fix* fix : usual_order()) {
    for (std::size_t slot = 0; slot < space_.slots.size(); ++slot) {
      const std::vector<Option>& options = space_.slots[slot].options;
      Rung rung{slot, 0, 0};
      for (std::size_t option = 1; option < options.size(); ++option) {
        if (options[option].fix != fix) continue;
        if (rung.first == 0) rung.first = option;
        rung.last = option;
      }
      if (rung.first != 0) rungs_.push_back(rung);
    }
  }
}

// One rung further up: it stays where it takes something away, or nothing while another moment is the
// highest. Of its options the one that needs least; a scale does so at one of its ends.
bool Planner::climb(Climb& climb, const Rung& rung) {
  const Slot& slot = space_.slots[rung.slot];
  std::optional<Choice> best;
  double least = climb.value;
  for (std::size_t option = rung.last; option >= rung.first; --option) {
    const bool end = option == slot.end_for(option) || option == rung.last;
    if (slot.kind == FixKind::scale && !end) continue;
    Choice next = climb.reached;
    next[rung.slot] = static_cast<uint8_t>(option);
    const Price* price = pricer_.price(next);
    if (price == nullptr) continue;
    const double now = value(price->sizes, climb.measure);
    // As little as before is enough for what was not there; something else in its place must save.
    const bool instead = best || climb.reached[rung.slot] != 0;
    if (instead ? now >= least : now > least) continue;
    best = next;
    least = now;
  }
  if (!best) return false;
  climb.reached = *best;
  climb.value = least;
  // Where the last level of a scale stands apart, the one before it may need less by now.
  for (std::size_t i = 0; i < space_.slots.size(); ++i) {
    const std::vector<Option>& options = space_.slots[i].options;
    const std::size_t last = options.size() - 1;
    if (!options[last].level.apart || climb.reached[i] != last || last < 2) continue;
    Choice other = climb.reached;
    other[i] = static_cast<uint8_t>(last - 1);
    const Price* price = pricer_.price(other);
    if (price == nullptr || value(price->sizes, climb.measure) >= climb.value) continue;
    climb.reached = other;
    climb.value = value(price->sizes, climb.measure);
  }
  return true;
}

// What is left of `choice` when each change is given up, or put more mildly, as long as it still fits: the
// latest in the usual order first.
Choice Planner::relaxed(Choice choice, const Target& target) {
  for (auto rung = rungs_.rbegin(); rung != rungs_.rend(); ++rung) {
    const std::size_t now = choice[rung->slot];
    if (now < rung->first || now > rung->last) continue;
    Choice less = choice;
    less[rung->slot] = 0;
    bool found = fits(less, target);
    // Another fix of the same slot that comes earlier, then a milder level of this one.
    for (const Rung& other : rungs_) {
      if (found || (other.slot == rung->slot && other.first == rung->first)) break;
      if (other.slot != rung->slot) continue;
      for (std::size_t option = other.first; option <= other.last && !found; ++option) {
        less[rung->slot] = static_cast<uint8_t>(option);
        found = fits(less, target);
      }
    }
    for (std::size_t option = rung->first; option < now && !found; ++option) {
      less[rung->slot] = static_cast<uint8_t>(option);
      found = fits(less, target);
    }
    if (found) choice = less;
  }
  return choice;
}

// `parity`: with no change that costs more than that.
std::optional<PricedPlan> Planner::usual(const Target& target, bool parity) {
  if (rungs_.empty()) list_rungs();
  Climb climb{Choice{}, target.measure, value(pricer_.price(Choice{})->sizes, target.measure)};
  for (std::size_t top = 0; top < rungs_.size(); ++top) {
    const Rung& rung = rungs_[top];
    if (parity && space_.slots[rung.slot].options[rung.first].level.quality > quality::parity) continue;
    if (!this->climb(climb, rung)) continue;
    // What only now means something, such as a base of four bits below adapters.
    for (std::size_t below = 0; below < top; ++below) {
      Choice with = climb.reached;
      if (with[rungs_[below].slot] == 0) this->climb(climb, rungs_[below]);
    }
    if (!fits(climb.reached, target)) continue;
    Choice found = relaxed(climb.reached, target);
    while (const std::optional<Choice> part = fitting_part(found, 1, target)) found = relaxed(*part, target);
    return plan(found, target.usable);
  }
  return std::nullopt;
}

}  // namespace plimsoll::advice
