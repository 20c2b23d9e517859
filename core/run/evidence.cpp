#include "core/run/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/model/model_types.h"
#include "core/recipe/implementations.h"

namespace plimsoll::run {

namespace {

// What a difference weighs when the nearest runs are looked for.
constexpr double other_stack = 0.3, other_method = 0.3, twice_the_size = 0.2, a_release = 0.05;
constexpr double releases_back = 5, unmeasured = 1.5;
// How many runs speak for an estimate, and what lies beyond what they measured: of 169 published runs of
// eleven sources, each estimated without its own, 95 % of the allocated peaks lie within. What is not known
// adds to a run more often than it takes away.
constexpr std::size_t witnesses = 6;
constexpr double least = 0.003, above = 0.03, below_sharded = 0.01, above_sharded = 0.036;
constexpr double unlike = 0.5;  // from this distance on the witnesses are runs of other kinds
constexpr double widening_by_distance = 0.1;
constexpr double span_when_alone = 0.103;  // no run at all
constexpr double last_of_four = 57;        // 4.57, after which 5.0 came

std::optional<double> number_or_none(json::Object& object, const char* key) {
  const json::Json* value = object.find(key);
  return value != nullptr && value->is_number() ? std::optional<double>(value->get<double>()) : std::nullopt;
}

double distance(const Measured& run, const recipe::Recipe& recipe, const std::string& method,
                double parameters, double release) {
  double sum = 0;
  if (run.stack != recipe.stack) sum += other_stack;
  if (run.method != method) sum += other_method;
  if (run.parameters > 0 && parameters > 0)
    sum += twice_the_size * std::fabs(std::log2(parameters / run.parameters));
  return sum + a_release * std::fabs(run.release - release);
}

}  // namespace

std::string method_of(const recipe::Recipe& recipe) {
  if (recipe.full()) return "full";
  return recipe.quantized() ? "qlora" : "lora";
}

double release_of(const std::string& version) {
  char* end = nullptr;
  const double major = std::strtod(version.c_str(), &end);
  const double whole = std::floor(major);
  const std::size_t dot = version.find('.');
  const double minor = dot == std::string::npos ? 0 : std::strtod(version.c_str() + dot + 1, nullptr);
  return whole >= 5 ? last_of_four + 1 + std::floor(minor) : std::floor(minor);
}

void read_evidence(const json::Json& value, const std::string& path, std::vector<Measured>& runs,
                   json::Errors& errors) {
  json::Object file(value, path, errors);
  file.text("about");
  const json::Json* rows = file.find("runs");
  file.no_other_keys();
  if (rows == nullptr || !rows->is_array()) {
    errors.push_back({"missing", path + "/runs", "Evidence is a list of measured runs.", "an array"});
    return;
  }
  for (std::size_t i = 0; i < rows->size(); ++i) {
    json::Object row((*rows)[i], path + "/runs/" + std::to_string(i), errors);
    Measured run;
    run.id = row.text("id").value_or("");
    run.source = row.text("source").value_or("");
    run.stack = row.text("stack").value_or("");
    run.method = row.text("method").value_or("");
    run.parameters = row.number("parameters").value_or(0);
    run.release = release_of(row.text("transformers").value_or(""));
    run.allocated = number_or_none(row, "allocated");
    run.reserved = number_or_none(row, "reserved");
    run.device = number_or_none(row, "device");
    row.no_other_keys();
    runs.push_back(std::move(run));
  }
}

std::vector<Nearest> nearest_runs(const recipe::Recipe& recipe, double parameters,
                                  const std::vector<Measured>& runs, std::size_t count) {
  const std::string method = method_of(recipe);
  const double release = release_of(recipe.versions.transformers);
  std::vector<Nearest> all;
  all.reserve(runs.size());
  for (const Measured& run : runs) all.push_back({&run, distance(run, recipe, method, parameters, release)});
  std::stable_sort(all.begin(), all.end(),
                   [](const Nearest& a, const Nearest& b) { return a.distance < b.distance; });
  if (all.size() > count) all.resize(count);
  return all;
}

Span allocated_span(const std::vector<Nearest>& nearest, bool sharded) {
  Span span;
  double distances = 0;
  std::size_t count = 0;
  for (const Nearest& near : nearest) {
    if (!near.run->allocated || count == witnesses) continue;
    const double measured = 1 / (1 + *near.run->allocated);
    span.low = std::min(span.low, measured);
    span.high = std::max(span.high, measured);
    distances += near.distance;
    ++count;
  }
  const double mean = count == 0 ? unlike : distances / static_cast<double>(count);
  const double share = std::min(1.0, mean / unlike), alone = count == 0 ? span_when_alone : 0;
  const auto beyond = [&](double most) { return std::max(alone, least + (most - least) * share); };
  span.low = std::max(0.0, span.low - beyond(sharded ? below_sharded : least));
  span.high += beyond(sharded ? above_sharded : above);
  return span;
}

bool runs_in_fp32_in_unsloth(const recipe::Recipe& recipe, const model::Architecture& network) {
  return recipe.training.fp16 && recipe::implementation_of(recipe).forces_fp32 &&
         model::model_type(network.model_type).fp32_in_unsloth;
}

double widening(const recipe::Recipe& recipe, const model::Architecture& network,
                const std::vector<Measured>& runs) {
  const bool unlike_any = model::has_state_space(network) ||
                          model::model_type(network.model_type).unmeasured ||
                          runs_in_fp32_in_unsloth(recipe, network);
  if (runs.empty() || unlike_any) return unmeasured;
  const auto oldest = std::min_element(
      runs.begin(), runs.end(), [](const Measured& a, const Measured& b) { return a.release < b.release; });
  const double release = release_of(recipe.versions.transformers);
  if (release < oldest->release - releases_back) return unmeasured;
  // Stack and release alone, of which a plan may only change the release (advice/change.cpp).
  std::vector<double> distances;
  distances.reserve(runs.size());
  for (const Measured& run : runs) {
    distances.push_back((run.stack == recipe.stack ? 0 : other_stack) +
                        a_release * std::fabs(run.release - release));
  }
  const std::size_t count = std::min(witnesses, distances.size());
  std::partial_sort(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(count),
                    distances.end());
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += distances[i];
  return std::min(unmeasured, 1 + widening_by_distance * sum / static_cast<double>(count));
}

}  // namespace plimsoll::run
