// A file that is handed back holds only what its trainer knows: over all formats, documented cases and tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/export.h"
#include "core/exchange/import.h"
#include "core/recipe/recipe.h"
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

}  // namespace
}  // namespace plimsoll::exchange
