#include "core/run/likely_length.h"

#include "core/run/phrases.h"

namespace plimsoll::run {

namespace {

struct Percentile {
  const char* pointer;
  const char* share;
};
constexpr Percentile percentiles[] = {
    {"/data/p99_length", "99 of 100"}, {"/data/p95_length", "95 of 100"}, {"/data/p90_length", "90 of 100"}};

}  // namespace

std::optional<LikelyLength> likely_length(const Run& run) {
  const recipe::Recipe& r = run.resolved.recipe;
  if (r.training.packing || r.data.longest_length > 0) return std::nullopt;
  for (const Percentile& percentile : percentiles) {
    const auto found = run.given.values.find(percentile.pointer);
    if (found == run.given.values.end() || !found->second.is_number()) continue;
    const auto tokens = static_cast<uint64_t>(found->second.get<double>());
    if (tokens >= r.training.max_length) return std::nullopt;
    recipe::Recipe shorter = r;
    shorter.training.max_length = tokens;
    const memory::Replay other = memory::replay(run.network, shorter, run.machine);
    return LikelyLength{percentile.pointer, percentile.share, tokens,
                        other.instants[other.peak].live.total()};
  }
  return std::nullopt;
}

double shorter_by(const std::optional<LikelyLength>& likely, double allocated) {
  return likely ? std::min(1.0, likely->allocated / std::max(1.0, allocated)) : 1;
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
