// plimsoll_patches [--each] PATH
//
// Every plan for every configuration below PATH, written back into the file: read again it needs the bytes
// that were planned, no line goes but those of the plan's settings, and no comment is lost. PATH is a folder
// of goldens (golden.h) or of configurations as people publish them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>

#include "core/cli/yaml.h"
#include "core/exchange/tree_paths.h"
#include "core/report/advice.h"
#include "core/report/exchange.h"
#include "core/report/patch.h"
#include "core/report/report.h"
#include "core/run/preset_files.h"
#include "tests/core/exchange/accepted.h"
#include "tests/scoring.h"
#include "tests/stacks/golden.h"

namespace plimsoll::stacks {
namespace {

namespace fs = std::filesystem;
using json::Json;

struct Count {
  size_t files = 0, plans = 0, whole = 0, partly = 0, wrong = 0;
};

std::optional<Json> parsed(const std::string& text) {
  json::Errors errors;
  return json::parse(text, errors);
}

std::vector<std::pair<std::string, std::string>> texts_below(const std::string& path, json::Errors& errors) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Golden& golden : read_goldens(path, errors)) {
    if (std::string text = text_of(golden); !text.empty()) texts.emplace_back(golden.path, std::move(text));
  }
  if (!texts.empty()) return texts;
  errors.clear();
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    texts.emplace_back(entry.path().string(), std::string((std::istreambuf_iterator<char>(stream)), {}));
  }
  return texts;
}

std::string trimmed(std::string line) {
  const auto begin = line.find_first_not_of(" \t-");
  return begin == std::string::npos ? "" : line.substr(begin);
}

// Lines that the diff takes away or puts in.
std::vector<std::string> lines_of(const std::string& diff, char sign) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < diff.size();) {
    const std::size_t end = std::min(diff.find('\n', at), diff.size());
    if (diff[at] == sign) lines.push_back(diff.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return lines;
}

// A line says a key when the last part of the key stands in it: "lora.r" in "  r: 16", "lora_r" in "--lora_r
// 16".
bool says_one_of(const std::string& line, const Json& keys) {
  return std::any_of(keys.begin(), keys.end(), [&line](const Json& key) {
    const std::string name = key.at("key").get<std::string>();
    return line.find(name.substr(name.rfind('.') + 1)) != std::string::npos;
  });
}

// A call that got one argument more: "f(a)" in "f(a, b=c)".
bool goes_on_in(const std::string& other, const std::string& line) {
  return !line.empty() && line.back() == ')' &&
         other.compare(0, line.size() - 1, line, 0, line.size() - 1) == 0;
}

// What goes is a setting of the plan or an item of its list; no comment goes that stands alone, or behind a
// setting that stays.
std::string wrong_lines(const Json& patch) {
  const std::string diff = patch.at("diff").get<std::string>();
  const std::vector<std::string> added = lines_of(diff, '+');
  for (const std::string& line : lines_of(diff, '-')) {
    const std::string words = trimmed(line);
    if (!words.empty() && words[0] == '#') return "takes a comment away: " + line;
    const std::size_t comment = line.find(" #"), key = words.find_first_of(":=");
    // In JSON the last line of a block gets a comma when another comes below it; a call gets an argument, a
    // command a backslash.
    const bool goes_on = std::any_of(added.begin(), added.end(), [&line](const std::string& other) {
      return other == line + "," || other + "," == line || other == line + " \\" || other + " \\" == line ||
             goes_on_in(other, line);
    });
    if (goes_on) continue;
    if (key != std::string::npos && !says_one_of(line, patch.at("keys"))) return "takes away: " + line;
    if (comment == std::string::npos || key == std::string::npos) continue;
    for (const std::string& other : added) {
      const bool same_key = trimmed(other).compare(0, key + 1, words, 0, key + 1) == 0;
      if (same_key && other.find(line.substr(comment)) == std::string::npos)
        return "loses the comment of: " + line;
    }
  }
  return "";
}

// Bytes at the peak; nothing when the request is refused.
std::optional<double> peak_of(const Json& request, const run::Catalog& catalog) {
  const auto report = parsed(report::quick_report_text(json::write(request), catalog));
  if (!report || !report->at("ok").get<bool>()) return std::nullopt;
  return report->at("memory").at("peak").at("allocated").get<double>();
}

// The request with all changes of the plan that such a file has words for. An evaluation's batch follows the
// micro-batch where the file leaves it to the trainer.
Json planned_request(Json request, const Json& plan, const Json& patch, const Json& written) {
  for (const Json& change : plan.at("changes")) {
    const auto pointer = change.at("pointer").get<std::string>();
    const Json& left = patch.at("left_out");
    const bool out =
        std::any_of(left.begin(), left.end(), [&](const Json& one) { return one.at("pointer") == pointer; });
    if (!out) request[Json::json_pointer(pointer)] = change.at("to");
  }
  const Json::json_pointer evaluated("/training/per_device_eval_batch_size");
  if (written.contains(evaluated)) request[evaluated] = written.at(evaluated);
  return request;
}

// Why the newest release of the file's trainer stops at a key that the patch put in; "" it does not.
std::string refused_key(exchange::Document before, const std::string& patched, const exchange::Import& again,
                        const Json& patch) {
  exchange::Document document = exchange::prepared(cli::read_document(patched));
  std::vector<exchange::Entry> written;
  for (const Json& key : patch.at("keys")) {
    const std::string path = key.at("key").get<std::string>();
    const exchange::Node* node = exchange::find_path(document.root, path);
    // What the file said before is in the words of its own release.
    if (node != nullptr && exchange::find_path(before.root, path) == nullptr)
      written.push_back({path, node->value, ""});
  }
  const std::string task = again.request.value("task", "sft");
  const auto refused = exchange::refusals(again.format->id, task, written);
  return refused.empty() ? "" : "its trainer stops: " + refused[0];
}

// "" or what is wrong with one plan's changes written into the text; `whole`: the file has words for all of them.
std::string wrong_patch(const std::string& text, const exchange::Document& document, const Json& plan,
                        const run::Catalog& catalog, bool& whole) {
  const std::string answer = report::patch_text(document, text, json::write(plan.at("changes")), catalog);
  const auto patch = parsed(answer);
  if (!patch) return "the patch is no JSON";
  if (!patch->at("ok").get<bool>()) return "refused: " + json::write(patch->at("errors"));
  whole = patch->at("left_out").empty() && patch->at("environment").empty();
  const std::string patched = patch->at("text").get<std::string>();
  const exchange::Import again = exchange::import_document(cli::read_document(patched), patched);
  if (!again.errors.empty()) return "the patched file is refused: " + again.errors[0].message;
  if (std::string refused = refused_key(exchange::prepared(document), patched, again, *patch);
      !refused.empty())
    return refused;
  const Json planned =
      planned_request(exchange::import_document(document, text).request, plan, *patch, again.request);
  const auto wanted = peak_of(planned, catalog), written = peak_of(again.request, catalog);
  if (wanted && !written) return "the patched file's request is refused";
  if (wanted && std::fabs(*written - *wanted) > 1e-6 * *wanted) {
    return "the file needs " + std::to_string(*written) + " B, planned " + std::to_string(*wanted) + ": " +
           json::write(again.request);
  }
  return wrong_lines(*patch);
}

void try_file(const std::string& name, const std::string& text, const run::Catalog& catalog, bool each,
              Count& count) {
  const exchange::Document document = cli::read_document(text);
  const exchange::Import import = report::import_known(document, text, catalog);
  if (!import.errors.empty() || import.format == nullptr ||
      import.format->written == exchange::Language::none)
    return;
  ++count.files;
  const auto report = parsed(report::advise_text(json::write(import.request), catalog));
  if (!report || !report->contains("tiers")) return;
  std::map<std::string, std::pair<std::string, bool>> tried;  // by changes: sizes share plans
  for (const Json& tier : report->at("tiers")) {
    for (const Json& plan : tier.contains("plans") ? tier.at("plans") : Json::array()) {
      ++count.plans;
      const auto [place, fresh] = tried.try_emplace(json::write(plan.at("changes")));
      auto& [wrong, whole] = place->second;
      if (fresh) wrong = wrong_patch(text, document, plan, catalog, whole);
      ++(!wrong.empty() ? count.wrong : whole ? count.whole : count.partly);
      if (wrong.empty() && (!each || whole)) continue;
      std::printf("%s: %s: %s\n", name.c_str(), json::write(plan.at("changes")).c_str(),
                  wrong.empty() ? "partly" : wrong.c_str());
    }
  }
}

int run(const scoring::Options& options) {
  const run::Catalog catalog = run::read_catalog(preset_files());
  json::Errors errors = catalog.errors;
  std::map<std::string, std::string> names;  // by text: releases are asked about the same configurations
  for (const auto& [name, text] : texts_below(options.file, errors)) names.emplace(text, name);
  if (!errors.empty()) return scoring::refuse(options.file, errors);
  // By day every third file; ./dev test --whole: all.
  const std::size_t every = std::getenv("PLIMSOLL_WHOLE") != nullptr ? 1 : 3;
  const auto half = [&](std::size_t which) {
    run::Catalog of_thread = catalog;
    of_thread.played = std::make_shared<memory::ReserveMemo>();
    Count own;
    std::size_t number = 0;
    for (const auto& [text, name] : names)
      if (number++ % (2 * every) == which) try_file(name, text, of_thread, options.has("--each"), own);
    return own;
  };
  auto other = std::async(std::launch::async, half, every);
  Count count = half(0);
  const Count more = other.get();
  count.files += more.files;
  count.plans += more.plans;
  count.whole += more.whole;
  count.partly += more.partly;
  count.wrong += more.wrong;
  std::printf(
      "%zu files, %zu plans: %zu written whole, %zu but for settings that such a file has no words for, %zu "
      "wrong\n",
      count.files, count.plans, count.whole, count.partly, count.wrong);
  std::printf("%zu passed, %zu failed\n", count.plans - count.wrong, count.wrong);
  return count.plans > 0 && count.wrong == 0 ? scoring::good : scoring::worse;
}

}  // namespace
}  // namespace plimsoll::stacks

int main(int argc, char** argv) {
  const auto options = plimsoll::scoring::read_options(argc, argv, {"--each"});
  if (!options) {
    std::fputs("plimsoll_patches [--each] PATH\n", stderr);
    return plimsoll::scoring::bad_input;
  }
  return plimsoll::stacks::run(*options);
}
