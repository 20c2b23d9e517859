// plimsoll_accuracy [--json | --each | --evidence] [--against=SCORE] FILE
//
// Reads measured runs, asks the core for a report on each, and prints how far the two lie apart. With
// --against it fails when the score is worse than the one that file states.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "tests/measured/evidence.h"
#include "tests/measured/print.h"
#include "tests/scoring.h"

namespace plimsoll {
std::span<const PresetFile> accuracy_rules();  // written by the build
}

namespace plimsoll::accuracy {
namespace {

using scoring::good;
using scoring::holds;
using scoring::read_file;
using scoring::refuse;
using scoring::worse;

int hold_against(const std::string& path, const Score& score) {
  json::Errors errors;
  const auto tree = read_file(path, errors);
  if (!tree) return refuse(path, errors);
  json::Object limits(*tree, "", errors);
  limits.text("about");
  const auto scored = limits.number("scored");
  const auto middle = limits.number("median_abs_error");
  const auto tail = limits.number("p95_abs_error");
  const auto worst = limits.number("worst_error");
  const auto right = limits.number("verdicts_right");
  const auto within = limits.number("within_band");
  limits.no_other_keys();
  if (!errors.empty()) return refuse(path, errors);
  const Summary& s = score.overall;
  double largest = 0;
  for (double error : s.errors) largest = std::max(largest, error < 0 ? -error : error);
  bool held = holds("died_but_called_fits", 0, static_cast<double>(s.died_but_called_fits), false);
  if (scored) held = holds("scored", *scored, static_cast<double>(s.errors.size()), true) && held;
  if (middle) held = holds("median_abs_error", *middle, median(s.errors), false) && held;
  if (tail) held = holds("p95_abs_error", *tail, percentile95(s.errors), false) && held;
  if (worst) held = holds("worst_error", *worst, largest, false) && held;
  if (right) held = holds("verdicts_right", *right, static_cast<double>(s.verdicts_right), true) && held;
  const double inside =
      s.banded == 0 ? 0 : static_cast<double>(s.within_band) / static_cast<double>(s.banded);
  if (within) held = holds("within_band", *within, inside, true) && held;
  if (!held) std::fprintf(stderr, "The score is worse than %s states.\n", path.c_str());
  return held ? good : worse;
}

int run(const scoring::Options& options) {
  const run::Catalog catalog = run::read_catalog(preset_files());
  json::Errors errors = catalog.errors;
  const std::vector<Rule> rules = read_rules(accuracy_rules(), errors);
  if (!errors.empty()) return refuse("presets and rules", errors);
  const auto rows = read_file(options.file, errors);
  if (!rows) return refuse(options.file, errors);
  const std::vector<Run> runs = score_file(*rows, rules, catalog, errors);
  if (!errors.empty()) return refuse(options.file, errors);
  const Score score = summarize(runs);
  const std::string text = options.has("--evidence") ? evidence(runs, catalog)
                           : options.has("--each")   ? lines(runs)
                           : options.has("--json")   ? json::write(object(score), true) + "\n"
                                                     : table(score);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return options.against.empty() ? static_cast<int>(good) : hold_against(options.against, score);
}

}  // namespace
}  // namespace plimsoll::accuracy

int main(int argc, char** argv) {
  const auto options = plimsoll::scoring::read_options(argc, argv, {"--json", "--each", "--evidence"});
  if (!options) {
    std::fputs("plimsoll_accuracy [--json | --each | --evidence] [--against=SCORE] FILE\n", stderr);
    return plimsoll::scoring::bad_input;
  }
  return plimsoll::accuracy::run(*options);
}
