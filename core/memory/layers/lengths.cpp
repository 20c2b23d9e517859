#include "core/memory/layers/lengths.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::memory {

namespace {

constexpr double shortest = 32;
constexpr double well_below = 0.9;
// Of a few thousand samples the longest lies some 3.2 deviations above the mean of the logarithms.
constexpr double deviations = 3.2;
// Shares of the batches that are shorter. In random order the longest so far is surpassed about as often as
// the logarithm of their number: each surpassing asks for segments that the ones before cannot lend.
constexpr double shares[] = {0.5, 0.25, 0.75, 0.875, 0.4, 0.94, 0.6, 0.97, 0.985};

// Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23: within 4.5e-4.
double normal_quantile(double p) {
  const double tail = std::min(p, 1 - p);
  const double t = std::sqrt(-2 * std::log(tail));
  const double z = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
                           (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
  return p < 0.5 ? -z : z;
}

double normal_share_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// Of the mean of so many samples: its variance is that of one over their number, so that batches of joined
// samples differ far less in length than samples do, and what the longest one asks for is cached by none.
double spread_of_mean(double spread, double samples) {
  return std::sqrt(std::log1p(std::expm1(spread * spread) / std::max(1.0, samples)));
}

}  // namespace

std::vector<double> met_lengths(const recipe::Recipe& r) {
  const double longest = r.longest_row(), mean = r.data.mean_length;
  // Of samples that are cut at max_length, or left out when they are longer, the shorter ones stay short.
  const double sample = std::max(longest, static_cast<double>(r.data.longest_length));
  if (r.training.packing || mean <= 0 || mean > well_below * sample) return {};
  // Lengths of texts are near to log-normal: mean and longest sample give its deviation.
  const auto rows = static_cast<double>(r.training.per_device_train_batch_size);
  const bool drops = r.training.truncation_strategy == "drop";
  const bool joined = r.joined_rows() && !drops;
  const double of_one =
      deviations - std::sqrt(std::max(0.0, deviations * deviations - 2 * std::log(sample / mean)));
  const double spread = joined ? spread_of_mean(of_one, rows) : of_one;
  const double middle = std::log(mean) - spread * spread / 2;
  // Where longer samples are left out, those that remain are drawn from below max_length alone.
  const double kept =
      drops && longest < sample ? normal_share_below((std::log(longest) - middle) / spread) : 1;
  const double padded_to = r.training.padded_batches ? rows : 1;
  std::vector<double> met;
  const double batches = static_cast<double>(r.data.samples) * kept / (joined ? rows : padded_to);
  for (const double share : shares) {
    if (batches > 0 && share > 1 - 1 / batches) continue;  // no batch is that much longer than the others
    // A padded batch is as long as the longest of its samples.
    const double z = normal_quantile(kept * std::pow(share, 1 / padded_to));
    const double length = std::round(std::exp(middle + spread * z));
    met.push_back(std::clamp(length, std::min(shortest, longest), longest));
  }
  met.push_back(longest);
  met.push_back(met.front());
  met.push_back(longest);
  return met;
}

}  // namespace plimsoll::memory
