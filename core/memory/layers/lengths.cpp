#include "core/memory/layers/lengths.h"

#include <algorithm>
#include <cmath>
#include <optional>

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

// Lengths of texts are near to log-normal: mean and longest sample give its deviation.
struct Drawn {
  double middle = 0, spread = 0;  // of the logarithms
  double kept = 1;                // share of the samples that are not left out
  double samples = 1;             // of which the longest is as long as the batch
  double longest = 0;
  double batches = 0;  // 0: not known
};

std::optional<Drawn> drawn_lengths(const recipe::Recipe& r) {
  const double longest = r.longest_row(), mean = r.data.mean_length;
  // Of samples that are cut at max_length, or left out when they are longer, the shorter ones stay short.
  const double sample = std::max(longest, static_cast<double>(r.data.longest_length));
  if (r.training.packing || mean <= 0 || mean > well_below * sample) return std::nullopt;
  const auto rows = static_cast<double>(r.training.per_device_train_batch_size);
  const bool drops = r.training.truncation_strategy == "drop";
  const bool joined = r.joined_rows() && !drops;
  const double of_one =
      deviations - std::sqrt(std::max(0.0, deviations * deviations - 2 * std::log(sample / mean)));
  Drawn d{.spread = joined ? spread_of_mean(of_one, rows) : of_one, .longest = longest};
  d.middle = std::log(mean) - d.spread * d.spread / 2;
  // Where longer samples are left out, those that remain are drawn from below max_length alone.
  if (drops && longest < sample) d.kept = normal_share_below((std::log(longest) - d.middle) / d.spread);
  if (r.training.padded_batches) d.samples = rows;
  d.batches = static_cast<double>(r.data.samples) * d.kept / (joined ? rows : d.samples);
  return d;
}

// Which `share` of the batches do not exceed. A padded batch is as long as the longest of its samples.
double length_of(const Drawn& d, double share) {
  const double z = normal_quantile(d.kept * std::pow(share, 1 / d.samples));
  return std::clamp(std::round(std::exp(d.middle + d.spread * z)), std::min(shortest, d.longest), d.longest);
}

}  // namespace

std::vector<double> met_lengths(const recipe::Recipe& r) {
  const std::optional<Drawn> drawn = drawn_lengths(r);
  if (!drawn) return {};
  std::vector<double> met;
  for (const double share : shares) {
    // No batch is that much longer than the others.
    if (drawn->batches > 0 && share > 1 - 1 / drawn->batches) continue;
    met.push_back(length_of(*drawn, share));
  }
  met.push_back(drawn->longest);
  met.push_back(met.front());
  met.push_back(drawn->longest);
  return met;
}

double mean_row_length(const recipe::Recipe& r) {
  const std::optional<Drawn> drawn = drawn_lengths(r);
  if (!drawn || r.joined_rows()) return std::min(r.longest_row(), r.data.mean_length);
  constexpr int points = 16;
  double sum = 0;
  for (int i = 0; i < points; ++i) sum += length_of(*drawn, (i + 0.5) / points);
  return sum / points;
}

}  // namespace plimsoll::memory
