#include "tests/fuzz/ways.h"

#include "core/diagnosis/diagnosis.h"
#include "core/question/pasted_case.h"
#include "core/report/advice.h"
#include "core/report/compare.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/patch.h"
#include "core/report/report.h"
#include "tests/drawn/request.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/exchange.h"
#include "core/cli/yaml.h"
#endif

namespace plimsoll::fuzz {

namespace {

using json::Json;

const run::Catalog& catalog() { return drawn::presets(); }

exchange::Document document_of(const std::string& text) {
#ifndef __EMSCRIPTEN__
  return cli::read_document(text);
#else
  return exchange::read_text(text);
#endif
}

std::string patched_text(const std::string& text, const std::string& changes) {
#ifndef __EMSCRIPTEN__
  return cli::patch_content(text, changes, catalog());
#else
  return report::patch_text(exchange::read_text(text), text, changes, catalog());
#endif
}

// The answer as strict JSON, which knows no NaN, no infinity, no invalid UTF-8 and no key twice.
std::optional<Json> read(const std::string& answer) {
  json::Errors errors;
  return json::parse(answer, errors);
}
std::string not_json(std::string_view what, const std::string& answer) {
  json::Errors errors;
  if (json::parse(answer, errors)) return "";
  return std::string(what) + " is no strict JSON: " + errors[0].message + "\n" + answer;
}
// What a number becomes that no whole number holds, where nobody wrote it. Counts of an absurd model end at 2^64.
std::string nonsense(std::string_view what, const std::string& answer, std::string_view text) {
  constexpr std::string_view two_to_63 = "92233720368547";
  const bool made =
      answer.find(two_to_63) != std::string::npos && text.find(two_to_63) == std::string_view::npos;
  return made ? std::string(what) + " has a number that nothing has: " + answer : "";
}
std::string wrong_answer(std::string_view what, const std::string& answer, std::string_view text) {
  const std::string wrong = not_json(what, answer);
  return wrong.empty() ? nonsense(what, answer, text) : wrong;
}

bool says_true(const Json& answer, const char* key) {
  return answer.contains(key) && answer.at(key).is_boolean() && answer.at(key).get<bool>();
}

std::string wrong_request(const std::string& text) {
  return wrong_answer("the report", report::report_text(text, catalog()), text);
}

std::string wrong_advice(const std::string& text) {
  return wrong_answer("the advice", report::advise_text(text, catalog()), text);
}

std::string wrong_config(const std::string& text) {
  const auto config = read(text);
  if (!config || !config->is_object()) return "";
  const Json request = {{"model", {{"config", *config}}}, {"training", {{"max_length", 512}}}};
  return wrong_request(json::write(request));
}

// What was read as a request is one: a report never finds a value in it of a type that the field does not
// have.
std::string wrong_import(const std::string& text) {
  const exchange::Import import = report::import_known(document_of(text), text, catalog());
  const std::string answer = report::write_import(import);
  std::string wrong = not_json("the import", answer);
  if (!wrong.empty() || !import.errors.empty()) return wrong;
  const std::string report = report::report_text(json::write(import.request), catalog());
  wrong = wrong_answer("the report of an import", report, text);
  if (!wrong.empty()) return wrong;
  const auto read_report = read(report);
  for (const Json& error : read_report->contains("errors") ? read_report->at("errors") : Json::array()) {
    const Json& code = error.at("code");
    if (code == "wrong_type" || code == "unknown_field" || code == "not_json") {
      return "an import gave a request that no field takes: " + json::write(error);
    }
  }
  return "";
}

// A file with changes written into it is read again, and its request is the one that the patch promised.
std::string wrong_patch(const std::string& text) {
  const char* changes = R"([{"pointer": "/training/max_length", "to": 512}, {"pointer": "/peft/r", "to": 8},
    {"pointer": "/training/gradient_checkpointing", "to": true}, {"pointer": "/training/optim", "to": "adamw_8bit"},
    {"pointer": "/training/per_device_train_batch_size", "to": 1}])";
  const std::string answer = patched_text(text, changes);
  const auto patch = read(answer);
  if (!patch) return not_json("the patch", answer);
  if (!says_true(*patch, "ok")) return "";
  const std::string patched = patch->at("text").get<std::string>();
  const exchange::Import again = exchange::import_document(document_of(patched), patched);
  if (!again.errors.empty()) return "the patched file is refused: " + again.errors[0].message;
  const Json promised = patch->at("request");
  return again.request == promised ? ""
                                   : "the patched file says " + json::write(again.request) +
                                         ", promised was " + json::write(promised);
}

std::string wrong_diagnosis(const std::string& text) {
  return wrong_answer("the diagnosis", report::diagnosis_text(text, "", "", catalog()), text);
}

// A diagnosis without its plans, which take a hundred times as long as reading does.
std::string wrong_message(const std::string& text) {
  question::PastedCase one;
  question::read_case(text, "", "", catalog(), one);
  double sure = 0;
  for (const diagnosis::Named& named : diagnosis::diagnose(one.situation).causes) {
    if (!(named.confidence >= 0)) return "the cause " + std::string(named.cause->id) + " has no confidence";
    sure += named.confidence;
  }
  return sure <= 1 + 1e-9 ? "" : "the causes are sure of more than there is: " + std::to_string(sure);
}

std::string wrong_parts(const std::string& text) { return not_json("the parts", report::parts_text(text)); }

// Two requests, one a line.
std::string wrong_comparison(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return "";
  return wrong_answer("the comparison",
                      report::compare_text(text.substr(0, end), text.substr(end + 1), catalog()), text);
}

constexpr Way all_ways[] = {
    {"request", "a request", wrong_request},
    {"advice", "a request of which plans are wanted", wrong_advice},
    {"config", "the config.json of a model", wrong_config},
    {"import", "a file, a script, a command line, a notebook or a link", wrong_import},
    {"patch", "the same, to be given back with changes", wrong_patch},
    {"diagnosis", "what a run printed when it died", wrong_diagnosis},
    {"message", "the same, read and not helped", wrong_message},
    {"parts", "a long paste in which settings stand", wrong_parts},
    {"comparison", "two requests, one a line", wrong_comparison},
};

}  // namespace

std::span<const Way> ways() { return all_ways; }

const Way* find_way(std::string_view name) {
  for (const Way& way : all_ways) {
    if (way.name == name) return &way;
  }
  return nullptr;
}

const std::vector<std::string>& written_formats() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> found;
    const auto formats = read(report::formats_text());
    for (const Json& format : formats->at("formats")) {
      if (format.at("writes").get<bool>()) found.push_back(format.at("id").get<std::string>());
    }
    return found;
  }();
  return ids;
}

std::string exported(const std::string& request, std::string_view format) {
  const auto answer = read(report::export_text(request, format, catalog()));
  return answer && answer->contains("text") ? answer->at("text").get<std::string>() : "";
}

}  // namespace plimsoll::fuzz
