// plimsoll_stacks [--each] PATH
//
// Holds what Plimsoll makes of configurations against what their stacks made of them (golden.h). Fails when a
// difference has no reason written beside it, or a reason nothing to explain.
#include <cstdio>
#include <map>
#include <string>

#include "core/run/preset_files.h"
#include "tests/scoring.h"
#include "tests/stacks/golden.h"

namespace plimsoll::stacks {
namespace {

struct Count {
  size_t files = 0, right = 0, fields = 0, differ = 0, unexplained = 0;
};

void print(const std::string& name, const Count& c) {
  const double share =
      c.fields == 0 ? 0 : 100.0 * static_cast<double>(c.fields - c.differ) / static_cast<double>(c.fields);
  std::printf("%-32s %5zu of %5zu files, %6zu of %6zu fields (%.2f %%), %zu without a reason\n", name.c_str(),
              c.right, c.files, c.fields - c.differ, c.fields, share, c.unexplained);
}

int run(const scoring::Options& options) {
  const run::Catalog catalog = run::read_catalog(preset_files());
  json::Errors errors = catalog.errors;
  const std::vector<Golden> goldens = read_goldens(options.file, errors);
  if (!errors.empty()) return scoring::refuse(options.file, errors);
  std::map<std::string, Count> counts;
  bool held = !goldens.empty();
  for (const Golden& golden : goldens) {
    const Comparison found = compare(golden, catalog);
    Count& count = counts[golden.stack + " " + golden.release];
    ++count.files;
    count.fields += found.fields;
    count.differ += found.differences.size();
    if (found.differences.empty() && found.problem.empty()) ++count.right;
    const bool each = options.has("--each");
    if (!found.problem.empty()) std::printf("%s: %s\n", golden.path.c_str(), found.problem.c_str());
    held = held && found.problem.empty();
    for (const Difference& d : found.differences) {
      if (d.reason.empty()) ++count.unexplained;
      if (d.reason.empty() || each)
        std::printf("%s: %s is %s here, %s there. %s\n", golden.path.c_str(), d.pointer.c_str(),
                    d.ours.dump().c_str(), d.theirs.dump().c_str(), d.reason.c_str());
    }
    for (const std::string& pointer : found.settled) {
      std::printf("%s: %s agrees; its reason can go.\n", golden.path.c_str(), pointer.c_str());
      held = false;
    }
  }
  for (const auto& [name, count] : counts) {
    print(name, count);
    held = held && count.unexplained == 0;
  }
  return held ? scoring::good : scoring::worse;
}

}  // namespace
}  // namespace plimsoll::stacks

int main(int argc, char** argv) {
  const auto options = plimsoll::scoring::read_options(argc, argv, {"--each"});
  if (!options) {
    std::fputs("plimsoll_stacks [--each] PATH\n", stderr);
    return plimsoll::scoring::bad_input;
  }
  return plimsoll::stacks::run(*options);
}
