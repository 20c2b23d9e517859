// plimsoll_runs [--each] FOLDER
//
// Prints what tiny runs of the stacks' own entry points had in memory at each instant (run.py) beside what
// the replay says of the same run. A golden is
//
//     {"config": {...},                      // the stack's own settings, or nothing
//      "request": {"model": {"config": ...}},  // laid over what the importer made of them
//      "versions": {"transformers": "5.23.0"},
//      "measured": {"instants": {"forward": 57252352, ...}, "facts": {...}},
//      "differs": {"forward": "labels"}}      // reasons by their names in FOLDER/reasons.json
//
// Fails where an instant differs by a byte and has no reason beside it, or has a reason and does not differ.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "core/cli/yaml.h"
#include "core/json/writer.h"
#include "core/report/exchange.h"
#include "core/run/preset_files.h"
#include "core/run/run.h"
#include "tests/scoring.h"

namespace plimsoll::stacks {
namespace {

namespace fs = std::filesystem;
using json::Json;

std::string told(const json::Errors& errors) {
  std::string text;
  for (const json::Error& error : errors) text += error.pointer + " " + error.message + " ";
  return text;
}

Json request_of(const Json& golden, const run::Catalog& catalog, std::string& problem) {
  Json request = Json::object();
  if (golden.contains("config")) {
    const std::string text = json::write(golden["config"], true);
    const exchange::Import import = report::import_known(cli::read_document(text), text, catalog);
    problem += told(import.errors);
    request = import.request;
  }
  request.merge_patch(golden["request"]);
  return request;
}

// Where nothing is prepared the replay has no such instant; what was loaded is what there is.
const memory::Instant* instant_of(const run::Run& run, const std::string& id) {
  for (const memory::Instant& instant : run.replay.instants) {
    if (name(instant.phase) == id) return &instant;
  }
  return id == "prepare" ? instant_of(run, "load") : nullptr;
}

struct Count {
  size_t instants = 0, equal = 0, explained = 0, unexplained = 0, settled = 0;
  std::vector<double> off;  ///< as shares
};

// The reason that stands beside an instant, "" none. A name that is not in the table is none.
std::string reason_of(const Json& golden, const std::string& instant, const Json& reasons) {
  if (!golden.contains("differs") || !golden["differs"].contains(instant)) return "";
  const std::string key = golden["differs"][instant].get<std::string>();
  return reasons.contains(key) ? reasons[key].get<std::string>() : "";
}

void compare(const std::string& name, const Json& golden, const run::Run& run, const Json& reasons, bool each,
             Count& count) {
  for (const auto& [id, bytes] : golden["measured"]["instants"].items()) {
    const memory::Instant* instant = instant_of(run, id);
    const double real = bytes.get<double>();
    // A CPU has no workspaces of a matrix library.
    const double ours =
        instant == nullptr ? 0 : instant->live.total() - instant->live[memory::Component::workspace];
    const double difference = ours - real;
    const bool equal = std::abs(difference) < 512;  // a block: the replay's numbers have four bytes
    const std::string reason = reason_of(golden, id, reasons);
    ++count.instants;
    count.equal += equal ? 1 : 0;
    count.off.push_back(std::abs(difference) / real);
    count.explained += !equal && !reason.empty() ? 1 : 0;
    count.unexplained += !equal && reason.empty() ? 1 : 0;
    count.settled += equal && !reason.empty() ? 1 : 0;
    const char* verdict = equal ? (reason.empty() ? "" : "agrees; its reason can go: ") : "";
    if (each || (equal != reason.empty()))
      std::printf("%-44s %-20s %12.0f %12.0f %+11.0f %+8.3f %%  %s%s\n", name.c_str(), id.c_str(), real, ours,
                  difference, 100 * difference / real, verdict, reason.c_str());
  }
}

std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code problem;
  for (fs::recursive_directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const bool golden = entry.depth() > 0 && entry->path().extension() == ".json";
    if (golden) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int run(const scoring::Options& options) {
  const run::Catalog catalog = run::read_catalog(preset_files());
  json::Errors errors = catalog.errors;
  Count count;
  const std::vector<fs::path> files = files_below(options.file);
  const auto reasons = scoring::read_file(options.file + "/reasons.json", errors);
  if (!reasons) return scoring::refuse(options.file + "/reasons.json", errors);
  for (const fs::path& file : files) {
    const auto golden = scoring::read_file(file.string(), errors);
    if (!golden) return scoring::refuse(file.string(), errors);
    const std::string name = fs::relative(file, options.file).replace_extension().string();
    std::string problem;
    const Json request = request_of(*golden, catalog, problem);
    json::Errors own;
    const auto run = run::read_run(json::write(request), catalog, own);
    problem += told(own);
    if (!problem.empty()) std::printf("%s: %s\n", name.c_str(), problem.c_str());
    if (!run) {
      ++count.unexplained;
      continue;
    }
    compare(name, *golden, *run, *reasons, options.has("--each"), count);
  }
  std::sort(count.off.begin(), count.off.end());
  const double median = count.off.empty() ? 0 : count.off[count.off.size() / 2];
  std::printf(
      "%zu runs, %zu instants: %zu to the byte, %zu with a reason, %zu without; half within %.3f %%\n",
      files.size(), count.instants, count.equal, count.explained, count.unexplained, 100 * median);
  return count.instants > 0 && count.unexplained + count.settled == 0 ? scoring::good : scoring::worse;
}

}  // namespace
}  // namespace plimsoll::stacks

int main(int argc, char** argv) {
  const auto options = plimsoll::scoring::read_options(argc, argv, {"--each"});
  if (!options) {
    std::fputs("plimsoll_runs [--each] FOLDER\n", stderr);
    return plimsoll::scoring::bad_input;
  }
  return plimsoll::stacks::run(*options);
}
