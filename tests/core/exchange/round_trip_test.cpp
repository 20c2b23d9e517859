// What a format says, it also reads: over 1,000 drawn requests a format, importing an export gives the
// request again, less what the export says it left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/exchange/export.h"
#include "core/exchange/formats.h"
#include "core/exchange/import.h"
#include "core/recipe/fields.h"
#include "core/run/run.h"
#include "tests/drawn/request.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {
namespace {

using json::Json;

// A drawn request as a person who uses the format's tool would state it: on its stack, a model by its hub id.
Json drawn_for(const Format& format, uint64_t seed) {
  Json request = drawn::drawn_request(seed, {.small = true});
  const run::ModelEntry* entry = request.at("model").is_string()
                                     ? drawn::presets().find_model(request.at("model").get<std::string>())
                                     : nullptr;
  request["model"] = entry == nullptr ? "meta-llama/Llama-3.1-8B" : entry->preset.hf_id;
  request.erase("stack");
  request.erase("schema");  // of requests, not of files
  if (!format.stack.empty()) request["stack"] = std::string(format.stack);
  return request;
}

Import read_round(const std::string& text) {
#ifndef __EMSCRIPTEN__
  return import_document(cli::read_document(text), text);
#else
  return import_document(read_text(text), text);
#endif
}

bool below(std::string_view pointer, const std::vector<std::string>& any) {
  return std::any_of(any.begin(), any.end(), [pointer](const std::string& left) { return pointer == left; });
}

// As wasm the same code takes several times as long.
#ifdef __EMSCRIPTEN__
constexpr int requests_of_a_format = 120;
#else
constexpr int requests_of_a_format = 500;
#endif

class RoundTrip : public testing::TestWithParam<const Format*> {};

// What went wrong, by field, with the first request that shows it.
struct Difference {
  int times = 0;
  std::string first;
};
using Differences = std::map<std::string, Difference>;

void note(Differences& differences, const std::string& what, const Json& asked, const std::string& text) {
  Difference& found = differences[what];
  if (found.times++ == 0) found.first = asked.dump() + "\n" + text;
}

// The order of targets says nothing, and a pattern over last parts of names is read as the list of these.
bool same_targets(const Json& pattern, const Json& names) {
  if (!names.is_array()) return false;
  // torchtune has a key for each of them, and no word for all.
  if (pattern == Json("all-linear") || pattern == Json::array({"all-linear"})) return names.size() == 7;
  if (pattern.is_array())
    return std::is_permutation(pattern.begin(), pattern.end(), names.begin(), names.end());
  if (!pattern.is_string()) return false;
  return std::all_of(names.begin(), names.end(), [&](const Json& name) {
    return pattern.get_ref<const std::string&>().find(name.get<std::string>()) != std::string::npos;
  });
}

// Axolotl's plugin is told its kernels one by one, where other tools have a switch for all; off, it says nothing.
bool said_by_kernels(const std::string& pointer, const Json& value, const recipe::Values& read) {
  if (pointer != "/training/use_liger_kernel") return false;
  size_t named = 0;
  for (const char* kernel : {"rms_norm", "swiglu", "rope", "fused_linear_cross_entropy", "cross_entropy"})
    named += read.count("/training/liger_kernel_config/" + std::string(kernel));
  return value == Json(false) || named >= 4;
}

// Whether a field that the request leaves out has that value in its run all the same.
bool holds_anyway(const recipe::Request& given, const std::string& pointer, const Json& value) {
  json::Errors errors;
  // A script in Python loads the model before the trainer gets it.
  if (pointer == "/model_args/loaded_by_trainer") return true;
  const recipe::Field* field = recipe::find_field(pointer);
  const auto run = run::read_run(given, drawn::presets(), errors);
  if (!run) return true;  // no run, so nothing holds otherwise
  const auto found = run->resolved.values.find(pointer);
  if (found != run->resolved.values.end()) return found->second == value;
  return field != nullptr && recipe::fixed_default(*field) == value;
}

// One request to a file and back. Returns the number of fields that the file says.
size_t compare(const Format& format, const Json& asked, Differences& differences) {
  json::Errors errors;
  const recipe::Request given = recipe::read_request(asked, errors);
  EXPECT_TRUE(errors.empty()) << asked.dump(1) << errors[0].pointer;
  const Export written = export_as(format, given);
  const Import import = read_round(written.text);
  const auto differ = [&](const std::string& what) { note(differences, what, asked, written.text); };
  const auto lines = std::count(written.text.begin(), written.text.end(), '\n');
  if (lines < 3 && format.id == "torchtune") return 0;  // too little for anybody to know whose it is
  if (!import.errors.empty()) {
    differ("refused: " + import.errors[0].message);
    return 0;
  }
  if (import.format->id != format.id) {
    differ("taken for " + std::string(import.format->id));
    return 0;
  }
  Json request = import.request;
  if (!request.contains("model")) request["model"] = "-";  // a part of a configuration
  const recipe::Request again = recipe::read_request(request, errors);
  if (!errors.empty()) differ("not a request: " + errors[0].pointer);
  recipe::Values read = again.values;
  size_t said = 0;
  for (const auto& [pointer, value] : given.values) {
    if (recipe::find_field(pointer) == nullptr && pointer != "/peft") continue;
    const auto found = read.find(pointer);
    if (!below(pointer, written.left_out)) {
      ++said;
      // Plain fine-tuning is what a file of any tool is taken for.
      const bool implied = pointer == "/task" && value == Json("sft");
      const bool kernels = said_by_kernels(pointer, value, again.values);
      if (found == read.end() && !implied && !kernels) differ(pointer + " is gone");
      if (found != read.end() && found->second != value && !same_targets(value, found->second))
        differ(pointer + " has changed");
    }
    if (found != read.end()) read.erase(found);
  }
  for (const auto& [pointer, value] : read) {
    if (recipe::find_field(pointer) == nullptr && pointer != "/peft") continue;
    if (pointer == "/stack" || holds_anyway(given, pointer, value)) continue;
    // A file that cannot say how many GPUs there are is read as having as many as share one sequence.
    const auto group = import.request.value("parallel", Json::object()).value("sequence_parallel_size", 0U);
    if (pointer == "/parallel/num_gpus" && value == group) continue;
    differ(pointer + " came from nowhere");
  }
  if (!below("/model", written.left_out) && again.model_id != given.model_id) differ("/model has changed");
  return said;
}

TEST_P(RoundTrip, AnExportIsReadBackAsTheRequestLessWhatItLeftOut) {
  const Format& format = *GetParam();
#ifdef __EMSCRIPTEN__
  if (format.written == Language::yaml) return;  // the page has the parser
#endif
  Differences differences;
  size_t said = 0;
  for (int i = 0; i < requests_of_a_format; ++i)
    said += compare(format, drawn_for(format, static_cast<uint64_t>(i)), differences);
  for (const auto& [what, difference] : differences)
    ADD_FAILURE() << format.id << ": " << what << ", " << difference.times << " times, first\n"
                  << difference.first;
  RecordProperty("said", static_cast<int>(said));
  EXPECT_GT(said, static_cast<size_t>(requests_of_a_format));
}

// Its script loads the model before the trainer gets it; TRL's trainer would have loaded fp32.
TEST(ExportToTrlPython, LoadsTheModelInTheTypeThatTheTrainerWouldHave) {
  const Json asked = {{"model", "Qwen/Qwen2.5-7B"}, {"stack", "trl"}, {"training", {{"bf16", true}}}};
  json::Errors errors;
  const Export written = export_as(trl_python, recipe::read_request(asked, errors));
  EXPECT_NE(written.text.find("dtype=torch.float32"), std::string::npos) << written.text;
}

std::vector<const Format*> written_formats() {
  std::vector<const Format*> all;
  for (const Format* format : formats()) {
    if (format->written != Language::none && format->written != Language::link) all.push_back(format);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Exchange, RoundTrip, testing::ValuesIn(written_formats()),
                         [](const testing::TestParamInfo<const Format*>& info) {
                           std::string name;
                           for (const char c : info.param->id) name += c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace plimsoll::exchange
