// A file that is handed back holds only what its trainer knows: over all formats, documented cases and tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/export.h"
#include "core/exchange/import.h"
#include "core/recipe/fields.h"
#include "core/report/exchange.h"
#include "core/run/run.h"
#include "tests/drawn/request.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {
namespace {

using json::Json;
using testing::AnyOf;
using testing::Contains;
using testing::Not;

Import read_again(const std::string& text) {
#ifndef __EMSCRIPTEN__
  return import_document(cli::read_document(text), text);
#else
  return import_document(read_text(text), text);
#endif
}

// Each documented case as it is, and for every task that a person may switch it to.
std::vector<Json> requests() {
  std::vector<Json> all;
  for (const Json& scenario : drawn::presets().scenarios) {
    const Json request = scenario.value("request", Json::object());
    all.push_back(request);
    for (const char* task : {"dpo", "grpo", "ppo", "pretrain", "reward", "classification"}) {
      Json other = request;
      other["task"] = task;
      if (other["task"] == "grpo") {
        other["rl"] = {{"num_generations", 4}, {"use_vllm", true}, {"vllm_gpu_memory_utilization", 0.3}};
      }
      all.push_back(other);
    }
  }
  return all;
}

Writing written_as(std::string_view format, const Json& request) {
  json::Errors errors;
  return compose(*find_format(format), recipe::read_request(request, errors));
}

std::vector<std::string> keys(const Writing& writing) {
  std::vector<std::string> out;
  for (const Entry& entry : writing.entries) out.push_back(entry.key);
  return out;
}

TEST(HandedBack, NoFileHoldsAKeyThatItsOwnReaderDoesNotKnow) {
  int files = 0;
  for (const Format* format : formats()) {
    if (format->written == Language::none) continue;
    for (const Json& request : requests()) {
      json::Errors errors;
      const Export out = export_as(*format, recipe::read_request(request, errors));
      const Import again = read_again(out.text);
      if (again.format == nullptr) continue;  // nothing that it could say
      ++files;
      for (const Finding& finding : again.findings) {
        EXPECT_NE(finding.use, Use::unknown) << format->id << ": " << finding.path << "\n" << out.text;
      }
    }
  }
  EXPECT_GT(files, 500);
}

TEST(HandedBack, NoTrainersFileNamesACard) {
  for (const char* format : {"axolotl", "llamafactory", "torchtune", "trl", "accelerate", "deepspeed"}) {
    for (const Json& request : requests()) {
      EXPECT_THAT(keys(written_as(format, request)), Not(Contains(AnyOf("gpu", "hardware", "hardware.gpu"))))
          << format;
    }
  }
}

// axolotl v0.19.0 src/axolotl/utils/schemas/enums.py, RLType.
TEST(HandedBack, AxolotlIsGivenNoTaskThatItsSchemaRefuses) {
  for (const Json& request : requests()) {
    for (const Entry& entry : written_as("axolotl", request).entries) {
      if (entry.key != "rl") continue;
      EXPECT_THAT(entry.value, AnyOf("dpo", "ipo", "kto", "orpo", "simpo", "grpo", "gdpo", "ebft"));
    }
  }
}

// LLaMA-Factory's parser ends at a key that no argument class of its own or of Transformers has.
TEST(HandedBack, LlamaFactoryIsGivenNoArgumentsOfTrl) {
  for (const Json& request : requests()) {
    EXPECT_THAT(keys(written_as("llamafactory", request)),
                Not(Contains(AnyOf("num_generations", "use_vllm", "vllm_mode", "vllm_gpu_memory_utilization",
                                   "beta", "max_completion_length"))));
  }
}

Json exported(const Json& request, std::string_view format) {
  return Json::parse(report::export_text(json::write(request), format, drawn::presets()));
}

// Its file would train on plain text what was to be learned from preferences or rewards.
TEST(HandedBack, AnExportThatCannotSayTheTaskIsRefusedAndSaysWhoCan) {
  const Json grpo = {{"model", "qwen2.5-0.5b"}, {"task", "grpo"}, {"training", {{"max_length", 1024}}}};
  for (const char* format : {"llamafactory", "torchtune", "hf", "nested"}) {
    const Json answer = exported(grpo, format);
    ASSERT_EQ(answer["ok"], Json(false)) << format;
    EXPECT_EQ(answer["errors"][0]["pointer"], "/task");
    EXPECT_NE(answer["errors"][0]["allowed"].get<std::string>().find("trl"), std::string::npos)
        << answer.dump();
  }
  const Json seeing =
      exported({{"model", "qwen2.5-vl-3b"}, {"training", {{"max_length", 1024}}}}, "torchtune");
  EXPECT_EQ(seeing["errors"][0]["pointer"], "/model") << seeing.dump();
}

#ifndef __EMSCRIPTEN__
TEST(HandedBack, AFileForTrlKeepsItsTask) {
  for (const char* task : {"dpo", "kto", "grpo", "rloo", "reward", "orpo", "cpo", "simpo"}) {
    const Json answer = exported({{"model", "qwen2.5-0.5b"}, {"stack", "trl"}, {"task", task}}, "trl");
    ASSERT_EQ(answer["ok"], Json(true)) << answer.dump();
    const std::string text = answer["text"];
    EXPECT_EQ(read_again(text).request["task"], Json(task)) << text;
  }
}

struct Kind {
  const char* name;
  Json request;
};
std::vector<Kind> kinds() {
  const Json lora = {{"r", 16}, {"target_modules", "all-linear"}};
  const Json training = {
      {"max_length", 1024}, {"per_device_train_batch_size", 2}, {"gradient_accumulation_steps", 4}};
  const auto four = [](const char* strategy) { return Json{{"num_gpus", 4}, {"strategy", strategy}}; };
  return {
      {"sft lora", {{"stack", "trl"}, {"training", training}, {"peft", lora}}},
      {"sft qlora",
       {{"stack", "trl"},
        {"training", training},
        {"peft", lora},
        {"quantization", {{"load_in_4bit", true}}}}},
      {"full zero3", {{"stack", "hf"}, {"training", training}, {"parallel", four("zero3")}}},
      {"full fsdp", {{"stack", "hf"}, {"training", training}, {"parallel", four("fsdp")}}},
      {"dpo lora", {{"stack", "trl"}, {"task", "dpo"}, {"training", training}, {"peft", lora}}},
      {"grpo lora vllm",
       {{"stack", "trl"},
        {"task", "grpo"},
        {"training", training},
        {"peft", lora},
        {"rl", {{"use_vllm", true}, {"vllm_mode", "colocate"}, {"num_generations", 8}}}}},
  };
}

// In GiB; below 0 there is no such run, and why.
double peak_of(const Json& request, recipe::Values* values, std::string& why) {
  json::Errors errors;
  const auto run = run::read_quick_run(json::write(request), drawn::presets(), errors);
  if (!run) why = errors.empty() ? "no run" : errors[0].pointer + ": " + errors[0].message;
  if (!run) return -1;
  if (values != nullptr) *values = run->resolved.values;
  return run->replay.at_peak().live.total() / 1073741824.0;
}

// What a file could not say, given again beside it.
Json given_again(Json request, const Json& left_out, const recipe::Values& values) {
  for (const Json& pointer : left_out) {
    const auto found = values.find(pointer.get<std::string>());
    if (found == values.end() || recipe::find_field(found->first) == nullptr) continue;
    Json* place = &request;
    const Json::json_pointer where(found->first);
    for (Json::json_pointer at = where.parent_pointer(); !at.empty(); at = at.parent_pointer()) {
      if (request.contains(at) && request[at].is_null()) request[at] = Json::object();
    }
    (*place)[where] = found->second;
  }
  return request;
}

// Trainers that compute by kernels of their own, whatever a file says: Unsloth's, and LLaMA-Factory's loss of
// preferences beside TRL's chunked one.
bool computes_otherwise(std::string_view format, std::string_view kind) {
  return format == "unsloth" || (format == "llamafactory" && kind == "dpo lora");
}

TEST(HandedBack, AnExportTakesTheMemoryOfItsRequestOrIsRefused) {
  int same = 0;
  for (const char* model : {"qwen2.5-0.5b", "llama-3.2-1b", "gemma-3-270m", "granite-3.0-1b-a400m-base"}) {
    for (const Kind& kind : kinds()) {
      Json request = kind.request;
      request["model"] = model;
      request["hardware"]["gpu"] = "h100-sxm";
      recipe::Values values;
      std::string why;
      const double wanted = peak_of(request, &values, why);
      ASSERT_GT(wanted, 0) << kind.name << " " << model << why;
      for (const Format* format : formats()) {
        if (format->written == Language::none || format->written == Language::link || format->needed.empty())
          continue;
        const Json answer = exported(request, format->id);
        if (answer["ok"] != Json(true) || computes_otherwise(format->id, kind.name)) continue;
        const std::string text = answer["text"];
        const Import import = report::import_known(cli::read_document(text), text, drawn::presets());
        Json again = given_again(import.request, answer["left_out"], values);
        const double read = again.is_object() ? peak_of(again, nullptr, why) : -1;
        EXPECT_NEAR(read, wanted, 0.02)
            << format->id << ", " << kind.name << ", " << model << " " << why << "\n"
            << answer["left_out"].dump() << "\n"
            << text << again.dump();
        ++same;
      }
    }
  }
  EXPECT_GT(same, 100);
}
#endif

}  // namespace
}  // namespace plimsoll::exchange
