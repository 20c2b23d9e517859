#include "core/run/likely_length.h"

#include <algorithm>
#include <vector>

#include "core/memory/layers/lengths.h"
#include "core/run/phrases.h"

namespace plimsoll::run {

namespace {

struct Percentile {
  const char* pointer;
  const char* share;
};
constexpr Percentile percentiles[] = {
    {"/data/p99_length", "99 of 100"}, {"/data/p95_length", "95 of 100"}, {"/data/p90_length", "90 of 100"}};

double peak_at(const Run& run, uint64_t tokens) {
  recipe::Recipe shorter = run.resolved.recipe;
  shorter.training.max_length = tokens;
  shorter.data.longest_length = 0;
  return memory::replay(run.network, shorter, run.machine).at_peak().live.total();
}

double without_the_longest(const Run& run, double allocated) {
  const std::vector<double> met = memory::met_lengths(run.resolved.recipe);
  double second = 0;
  for (const double length : met)
    if (length < met.back()) second = std::max(second, length);
  return second >= 1 ? peak_at(run, static_cast<uint64_t>(second)) : allocated;
}

}  // namespace

std::optional<LikelyLength> likely_length(const Run& run) {
  const recipe::Recipe& r = run.resolved.recipe;
  if (r.training.packing || r.data.longest_length > 0) return std::nullopt;
  for (const Percentile& percentile : percentiles) {
    const auto found = run.given.values.find(percentile.pointer);
    if (found == run.given.values.end() || !found->second.is_number()) continue;
    const auto tokens = static_cast<uint64_t>(found->second.get<double>());
    if (tokens >= r.training.max_length) return std::nullopt;
    return LikelyLength{percentile.pointer, percentile.share, tokens, peak_at(run, tokens)};
  }
  return std::nullopt;
}

double shorter_by(const Run& run, const std::optional<LikelyLength>& likely, double allocated) {
  const double other = likely ? likely->allocated : without_the_longest(run, allocated);
  return std::min(1.0, other / std::max(1.0, allocated));
}

model::Note note_of(const LikelyLength& likely, const Run& run) {
  std::string message = "The peak is that of a row of max_length, ";
  message += std::to_string(run.resolved.recipe.training.max_length);
  message += " tokens. By ";
  message += dotted(likely.pointer);
  message += ", ";
  message += likely.share;
  message += " samples have at most ";
  message += std::to_string(likely.tokens);
  message += ": batches of those peak at ";
  message += gib(likely.allocated);
  message +=
      " allocated, which the low end of the band reaches down to. One longer sample is enough for more; "
      "data.longest_length settles it.";
  return {"longest_sample_unknown", message, likely.pointer};
}

}  // namespace plimsoll::run
