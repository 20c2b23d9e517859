#include "tests/measured/evidence.h"

#include <cmath>

#include "core/run/evidence.h"
#include "core/run/run.h"

namespace plimsoll::accuracy {

std::string evidence(const std::vector<Run>& runs, const run::Catalog& catalog) {
  json::Json rows = json::Json::array();
  for (const Run& run : runs) {
    json::Errors errors;
    if (!run.expressed() || run.comparisons.empty()) continue;
    const auto read = run::read_run(json::write(run.request), catalog, errors);
    if (!read) continue;
    json::Json row = {{"id", run.record.id},
                      {"source", run.record.text("source")},
                      {"stack", read->resolved.recipe.stack},
                      {"method", run::method_of(read->resolved.recipe)},
                      {"parameters", read->replay.parameters.base},
                      {"transformers", read->resolved.recipe.versions.transformers}};
    const auto add = [&](const char* key, Kind kind) {
      const Comparison* c = run.comparison(kind);
      if (c != nullptr) row[key] = std::round(1e4 * c->error()) / 1e4 + 0.0;
    };
    add("allocated", Kind::allocated);
    add("reserved", Kind::reserved);
    add("device", Kind::device);
    rows.push_back(std::move(row));
  }
  const json::Json file = {
      {"about",
       "Measured runs of tests/measured/runs.json and how far this version's estimates lie from them, "
       "as fractions; written by ./dev rebaseline."},
      {"runs", std::move(rows)}};
  return json::write(file, true) + "\n";
}

}  // namespace plimsoll::accuracy
