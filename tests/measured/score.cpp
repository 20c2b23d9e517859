#include "tests/measured/score.h"

#include <algorithm>
#include <cmath>

#include "core/report/report.h"

namespace plimsoll::accuracy {

namespace {

using json::Json;

Json member(const Json& object, std::string_view key) {
  if (!object.is_object()) return Json();
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

double number(const Json& object, std::string_view key) {
  json::Errors ignored;
  return json::read_number(member(object, key), "", {}, ignored).value_or(0);
}

std::string text(const Json& object, std::string_view key) {
  json::Errors ignored;
  return json::read_text(member(object, key), "", ignored).value_or("");
}

// A source that does not say which counter it read gets the nearer of the two that people print.
double predicted(const Json& peak, const Reading& reading) {
  if (reading.kind != Kind::unstated) return number(peak, name(reading.kind));
  const double reserved = number(peak, "reserved");
  const double device = number(peak, "device");
  return std::abs(reserved - reading.bytes) <= std::abs(device - reading.bytes) ? reserved : device;
}

// Of the reserved figure: that of the device, less what lies outside PyTorch.
void set_band(const Json& peak, Comparison& comparison) {
  const double outside = number(peak, "device") - number(peak, "reserved");
  switch (comparison.kind) {
    case Kind::allocated:
      comparison.low = number(peak, "allocated_low");
      comparison.high = number(peak, "allocated_high");
      return;
    case Kind::reserved:
      comparison.low = number(peak, "low") - outside;
      comparison.high = number(peak, "high") - outside;
      return;
    case Kind::device:
      comparison.low = number(peak, "low");
      comparison.high = number(peak, "high");
      return;
    case Kind::unstated:
      return;
  }
}

// Errors of one cause read alike, whatever the model or the value.
std::string reason_of(const Json& errors) {
  const Json first = errors.is_array() && !errors.empty() ? errors.front() : Json();
  const std::string code = text(first, "code");
  if (code == "unknown_model") return "unknown_model: not among the presets";
  return code + " " + text(first, "pointer") + ": " + text(first, "message");
}

void compare(Run& run, const run::Catalog& catalog) {
  json::Errors errors;
  const Json report =
      json::parse(report::report_text(json::write(run.request), catalog), errors).value_or(Json());
  if (member(report, "ok") != Json(true)) {
    run.refused = reason_of(member(report, "errors"));
    return;
  }
  const Json peak = member(member(report, "memory"), "peak");
  run.instant = text(peak, "instant");
  run.verdict = text(member(report, "gpu"), "verdict");
  for (const Reading& reading : run.record.readings) {
    run.comparisons.push_back({reading.kind, reading.bytes, predicted(peak, reading)});
    set_band(peak, run.comparisons.back());
  }
}

std::string series_of(const std::string& id) { return id.substr(0, id.rfind('-')); }

// A run may not speak for itself, nor may its neighbours in the same table.
std::vector<run::Measured> without(const std::string& series, const std::vector<run::Measured>& evidence) {
  std::vector<run::Measured> others;
  for (const run::Measured& run : evidence) {
    if (series_of(run.id) != series) others.push_back(run);
  }
  return others;
}

Run score_row(const Json& row, const std::vector<Rule>& rules, const run::Catalog& catalog) {
  Run run;
  json::Errors errors;
  run.record = read_record(row, errors);
  if (!errors.empty()) {
    run.refused = "unreadable record: " + errors.front().pointer + ": " + errors.front().message;
    return run;
  }
  const Draft draft = draft_request(run.record, rules);
  run.request = request_of(draft);
  run.stack = text(run.request, "stack");
  if (run.stack.empty()) run.stack = "hf";
  run.refused = draft.refused;
  if (run.refused.empty()) compare(run, catalog);
  return run;
}

}  // namespace

const Comparison* Run::comparison(Kind kind) const {
  for (const Comparison& comparison : comparisons) {
    if (comparison.kind == kind) return &comparison;
  }
  return nullptr;
}

std::vector<Run> score_file(const Json& rows, const std::vector<Rule>& rules, const run::Catalog& catalog,
                            json::Errors& errors) {
  std::vector<Run> runs;
  if (!rows.is_array()) {
    errors.push_back({"wrong_type", "", "A file of measured runs is a list.", "a list of records"});
    return runs;
  }
  run::Catalog seen = catalog;
  for (const Json& row : rows) {
    seen.evidence = without(series_of(text(row, "id")), catalog.evidence);
    runs.push_back(score_row(row, rules, seen));
  }
  return runs;
}

void Summary::add(const Run& run) {
  ++runs;
  if (run.expressed()) ++expressed;
  if (!run.verdict.empty()) ++verdicts;
  if (run.verdict_right()) ++verdicts_right;
  if (run.died_but_called_fits()) ++died_but_called_fits;
}

void Summary::add_error(const Run& run, const Comparison& comparison) {
  errors.push_back(comparison.error());
  if (comparison.high > 0) ++banded;
  if (comparison.high > 0 && comparison.within()) ++within_band;
  groups[run.record.series + " " + run.record.model + " " + run.record.method].push_back(
      std::abs(comparison.error()));
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  for (double& value : values) value = std::abs(value);
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double percentile95(std::vector<double> values) {
  if (values.empty()) return 0;
  for (double& value : values) value = std::abs(value);
  std::sort(values.begin(), values.end());
  return values[(values.size() * 95 + 99) / 100 - 1];
}

Score summarize(const std::vector<Run>& runs) {
  Score score;
  std::map<std::string, std::size_t> reasons;
  for (const Run& run : runs) {
    Summary& source = score.sources[run.record.series];
    Summary& tier = score.tiers[run.record.tier];
    Summary& stack = score.stacks[run.stack];
    for (Summary* summary : {&score.overall, &source, &tier, &stack}) summary->add(run);
    if (run.record.is_reference()) ++score.eligible;
    if (!run.expressed()) ++reasons[run.refused];
    for (const Reading& reading : run.record.readings) score.kinds[std::string(name(reading.kind))].add(run);
    for (const Comparison& comparison : run.comparisons) {
      score.kinds[std::string(name(comparison.kind))].add_error(run, comparison);
    }
    if (!run.comparisons.empty()) {
      source.add_error(run, run.comparisons.front());
      tier.add_error(run, run.comparisons.front());
    }
    const Comparison* allocated = run.comparison(Kind::allocated);
    if (run.record.is_reference() && allocated != nullptr) {
      score.overall.add_error(run, *allocated);
      stack.add_error(run, *allocated);
    }
  }
  score.reasons.assign(reasons.begin(), reasons.end());
  std::stable_sort(score.reasons.begin(), score.reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return score;
}

}  // namespace plimsoll::accuracy
