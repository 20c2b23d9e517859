// plimsoll_accuracy [--json | --each | --evidence] [--against=SCORE] FILE
//
// Reads measured runs, asks the core for a report on each, and prints how far the two lie apart. With
// --against it fails when the score is worse than the one that file states.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "tests/measured/evidence.h"
#include "tests/measured/print.h"

namespace plimsoll {
std::span<const PresetFile> accuracy_rules();  // written by the build
}

namespace plimsoll::accuracy {
namespace {

enum ExitCode { good = 0, worse = 1, bad_input = 3 };

struct Options {
  bool json = false, each = false, evidence = false;
  std::string file, against;
};

int refuse(const std::string& file, const json::Errors& errors) {
  for (const json::Error& error : errors) {
    std::fprintf(stderr, "%s: %s %s\n", file.c_str(), error.pointer.c_str(), error.message.c_str());
  }
  return bad_input;
}

std::optional<json::Json> read_file(const std::string& path, json::Errors& errors) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) {
    errors.push_back({"unreadable_file", "", "The file could not be read.", ""});
    return std::nullopt;
  }
  return json::parse(text, errors);
}

std::optional<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--each") {
      options.each = true;
    } else if (word == "--evidence") {
      options.evidence = true;
    } else if (word.rfind("--against=", 0) == 0) {
      options.against = word.substr(word.find('=') + 1);
    } else if (!word.empty() && word[0] != '-' && options.file.empty()) {
      options.file = word;
    } else {
      return std::nullopt;
    }
  }
  if (options.file.empty()) return std::nullopt;
  return options;
}

// One figure of a score file: {"median_abs_error": 0.001, ...}. Worse is more, for expressed runs less.
bool holds(const char* key, double limit, double reached, bool at_least) {
  if (at_least ? reached >= limit : reached <= limit) return true;
  std::fprintf(stderr, "%s is %g; it must be at %s %g.\n", key, reached, at_least ? "least" : "most", limit);
  return false;
}

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
  if (!held) std::fprintf(stderr, "The score is worse than %s states.\n", path.c_str());
  return held ? good : worse;
}

int run(const Options& options) {
  const report::Catalog catalog = report::read_catalog(preset_files());
  json::Errors errors = catalog.errors;
  const std::vector<Rule> rules = read_rules(accuracy_rules(), errors);
  if (!errors.empty()) return refuse("presets and rules", errors);
  const auto rows = read_file(options.file, errors);
  if (!rows) return refuse(options.file, errors);
  const std::vector<Run> runs = score_file(*rows, rules, catalog, errors);
  if (!errors.empty()) return refuse(options.file, errors);
  const Score score = summarize(runs);
  const std::string text = options.evidence ? evidence(runs, catalog)
                           : options.each   ? lines(runs)
                           : options.json   ? json::write(object(score), true) + "\n"
                                            : table(score);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return options.against.empty() ? static_cast<int>(good) : hold_against(options.against, score);
}

}  // namespace
}  // namespace plimsoll::accuracy

int main(int argc, char** argv) {
  const auto options = plimsoll::accuracy::read_options(argc, argv);
  if (!options) {
    std::fputs("plimsoll_accuracy [--json | --each | --evidence] [--against=SCORE] FILE\n", stderr);
    return 3;
  }
  return plimsoll::accuracy::run(*options);
}
