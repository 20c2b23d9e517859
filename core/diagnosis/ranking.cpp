// The causes by what speaks for them: sums of weights, which are logarithms of odds.
#include <algorithm>
#include <cmath>

#include "core/diagnosis/causes.h"

namespace plimsoll::diagnosis {

namespace {

// Nothing speaks for a cause that no sign of its own list shows; what is left then are the two general ones.
constexpr double least_score = -1.5;

}  // namespace

std::vector<Named> rank(const std::vector<Evidence>& evidence, std::size_t most) {
  std::vector<Named> out;
  double sum = 0;
  if (evidence.empty()) return out;
  for (const Cause& cause : causes()) {
    Named named;
    named.cause = &cause;
    named.score = cause.base;
    for (const Weight& weight : cause.weights) {
      for (const Evidence& e : evidence) {
        if (e.sign != weight.sign) continue;
        named.score += weight.weight;
        if (weight.weight > 0) named.shown.push_back(e.words);
      }
    }
    sum += std::exp(named.score);
    if (named.score >= least_score) out.push_back(std::move(named));
  }
  for (Named& named : out) named.confidence = std::exp(named.score) / sum;
  std::stable_sort(out.begin(), out.end(), [](const Named& a, const Named& b) { return a.score > b.score; });
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace plimsoll::diagnosis
