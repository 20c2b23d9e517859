#include "core/time/cost.h"

#include <algorithm>
#include <cmath>

#include "core/recipe/tasks.h"

namespace plimsoll::time {

namespace {

double steps_of(const recipe::Recipe& r) {
  if (r.training.max_steps > 0) return static_cast<double>(r.training.max_steps);
  if (r.data.samples == 0) return 0;
  const double epochs = r.data.epochs > 0 ? r.data.epochs : 1;
  double sequences = static_cast<double>(r.data.samples) * recipe::samples_of_row(r);
  if (r.training.packing && r.data.mean_length > 0) {
    sequences = std::ceil(sequences * r.data.mean_length / static_cast<double>(r.training.max_length));
  }
  return std::max(1.0, std::ceil(sequences * epochs / static_cast<double>(r.effective_batch())));
}

}  // namespace

Length length_of(const recipe::Recipe& r) {
  Length length;
  length.steps = steps_of(r);
  if (length.steps == 0) return length;
  const auto every = static_cast<double>(r.training.save_steps);
  // The Trainer also saves when training ends.
  length.checkpoints = std::ceil(length.steps / every);
  const auto limit = static_cast<double>(r.training.save_total_limit);
  length.kept = limit > 0 ? std::min(limit, length.checkpoints) : length.checkpoints;
  return length;
}

Spot on_spot(double hours, double hours_between_checkpoints, const recipe::Cloud& cloud) {
  Spot spot;
  const double interval = std::max(1e-6, std::min(hours, hours_between_checkpoints));
  const double rate = 1 / cloud.mean_hours_between_interruptions;
  const double restart = cloud.restart_minutes / 60;
  // Forty mean times without an interruption do not come: beyond that the figure says "never".
  const double one = std::expm1(std::min(40.0, rate * interval)) * (1 / rate + restart);
  spot.hours = hours / interval * one;
  spot.interruptions = spot.hours * rate;
  spot.chance_of_none = std::exp(-rate * hours);
  return spot;
}

}  // namespace plimsoll::time
