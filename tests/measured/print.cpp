#include "tests/measured/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace plimsoll::accuracy {

namespace {

using json::Json;

constexpr std::size_t shown_reasons = 10;

double lowest(const Summary& s) {
  const double low = s.errors.empty() ? 0 : *std::min_element(s.errors.begin(), s.errors.end());
  return std::max(0.0, -low);
}
double highest(const Summary& s) {
  const double high = s.errors.empty() ? 0 : *std::max_element(s.errors.begin(), s.errors.end());
  return std::max(0.0, high);
}
double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A grid of near-equal runs counts once: the median over groups of the mean error in each.
double grouped_median(const Summary& s) {
  std::vector<double> means;
  for (const auto& [group, errors] : s.groups) {
    double sum = 0;
    for (double error : errors) sum += error;
    means.push_back(sum / static_cast<double>(errors.size()));
  }
  return median(means);
}

Json rounded(double value) { return std::round(value * 1e6) / 1e6; }

Json row(const Summary& s) {
  const bool scored = !s.errors.empty();
  Json out = Json::object();
  out["runs"] = s.runs;
  out["expressed"] = s.expressed;
  out["expressed_share"] = rounded(share(s.expressed, s.runs));
  out["scored"] = s.errors.size();
  out["median_abs_error"] = scored ? rounded(median(s.errors)) : Json();
  out["p95_abs_error"] = scored ? rounded(percentile95(s.errors)) : Json();
  out["worst_under"] = scored ? rounded(lowest(s)) : Json();
  out["worst_over"] = scored ? rounded(highest(s)) : Json();
  out["within_band"] = s.banded > 0 ? rounded(share(s.within_band, s.banded)) : Json();
  out["groups"] = s.groups.size();
  out["median_abs_error_of_groups"] = scored ? rounded(grouped_median(s)) : Json();
  out["verdicts"] = s.verdicts;
  out["verdicts_right"] = s.verdicts_right;
  out["died_but_called_fits"] = s.died_but_called_fits;
  return out;
}

Json rows(const std::map<std::string, Summary>& summaries) {
  Json out = Json::object();
  for (const auto& [key, summary] : summaries) out[key] = row(summary);
  return out;
}

std::string percent(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, 100 * value);
  return text;
}

std::string line(const std::string& first, const Summary& s) {
  const bool scored = !s.errors.empty();
  const auto figure = [scored](double value) { return scored ? percent(value, 2) : std::string("-"); };
  char text[256];
  std::snprintf(
      text, sizeof text, "%-18s %6zu %5s %% %7zu %8s %8s %8s %8s %6s %9s %6zu\n", first.c_str(), s.runs,
      percent(share(s.expressed, s.runs), 0).c_str(), s.errors.size(), figure(median(s.errors)).c_str(),
      figure(percentile95(s.errors)).c_str(), figure(lowest(s)).c_str(), figure(highest(s)).c_str(),
      s.banded > 0 ? percent(share(s.within_band, s.banded), 0).c_str() : "-",
      (std::to_string(s.verdicts_right) + "/" + std::to_string(s.verdicts)).c_str(), s.died_but_called_fits);
  return text;
}

std::string heading(const char* first) {
  char text[256];
  std::snprintf(text, sizeof text, "\n%-18s %6s %7s %7s %8s %8s %8s %8s %6s %9s %6s\n", first, "runs",
                "express", "scored", "median%", "p95%", "under%", "over%", "band%", "verdicts", "died!");
  return text;
}

std::string section(const char* first, const std::map<std::string, Summary>& summaries) {
  std::vector<std::pair<std::string, const Summary*>> ordered;
  for (const auto& [key, summary] : summaries) ordered.emplace_back(key, &summary);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second->runs > b.second->runs; });
  std::string out = heading(first);
  for (const auto& [key, summary] : ordered) out += line(key, *summary);
  return out;
}

}  // namespace

std::string table(const Score& score) {
  std::string out =
      "Errors are those of the peak. scored: runs with a figure that were expressed. verdicts: right of\n";
  out += "those with a known GPU. died!: runs that ran out of memory and were called fits. band%: of the\n";
  out += "readings, those within the band that the evidence of other sources gives.\n";
  out += section("source", score.sources);
  out += section("kind", score.kinds);
  out += section("tier", score.tiers);
  out += section("stack, allocated A", score.stacks);
  if (!score.reasons.empty()) out += "\nWhy runs are not expressed:\n";
  for (std::size_t i = 0; i < score.reasons.size() && i < shown_reasons; ++i) {
    out += "  " + std::to_string(score.reasons[i].second) + "  " + score.reasons[i].first + "\n";
  }
  out += heading("overall");
  out += line("allocated, tier A", score.overall);
  out += "Allocated peaks of tier A with exact length: " + std::to_string(score.overall.errors.size()) +
         " of " + std::to_string(score.eligible) + " scored; median " +
         percent(median(score.overall.errors), 3) + " %, averaged by source, model and method " +
         percent(grouped_median(score.overall), 3) + " %.\n";
  return out;
}

Json object(const Score& score) {
  Json out = Json::object();
  out["overall"] = row(score.overall);
  out["overall"]["eligible"] = score.eligible;
  out["sources"] = rows(score.sources);
  out["by_kind"] = rows(score.kinds);
  out["by_tier"] = rows(score.tiers);
  out["by_stack"] = rows(score.stacks);
  Json reasons = Json::array();
  for (const auto& [reason, count] : score.reasons) {
    Json one = Json::object();
    one["reason"] = reason;
    one["runs"] = count;
    reasons.push_back(std::move(one));
  }
  out["not_expressed"] = std::move(reasons);
  return out;
}

std::string lines(const std::vector<Run>& runs) {
  std::string out;
  for (const Run& run : runs) {
    Json one = Json::object();
    one["id"] = run.record.id;
    one["tier"] = run.record.tier;
    one["reference"] = run.record.is_reference();
    one["refused"] = run.refused;
    one["outcome"] = run.record.died ? "oom" : "fits";
    one["verdict"] = run.verdict;
    one["instant"] = run.instant;
    Json readings = Json::array();
    for (const Comparison& comparison : run.comparisons) {
      Json reading = Json::object();
      reading["kind"] = std::string(name(comparison.kind));
      reading["measured"] = std::round(comparison.measured);
      reading["predicted"] = std::round(comparison.predicted);
      reading["error"] = rounded(comparison.error());
      if (comparison.high > 0) reading["band"] = {std::round(comparison.low), std::round(comparison.high)};
      readings.push_back(std::move(reading));
    }
    one["readings"] = std::move(readings);
    one["request"] = run.request;
    out += json::write(one) + "\n";
  }
  return out;
}

}  // namespace plimsoll::accuracy
