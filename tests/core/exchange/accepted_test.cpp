// An exported file holds only keys that its trainer's own parser knows, with words that it takes, and a command
// names a subcommand that exists: over 500 drawn requests a format, against tests/stacks/accepted.
#include "tests/core/exchange/accepted.h"

#include <gtest/gtest.h>

#include <map>

#include "core/exchange/export.h"
#include "tests/drawn/request.h"

namespace plimsoll::exchange {
namespace {

using json::Json;

#ifdef __EMSCRIPTEN__
constexpr uint64_t requests_of_a_format = 120;
#else
constexpr uint64_t requests_of_a_format = 500;
#endif

Json drawn_for(const Format& format, uint64_t seed) {
  Json request = drawn::drawn_request(seed, {.small = true});
  const run::ModelEntry* entry = request.at("model").is_string()
                                     ? drawn::presets().find_model(request.at("model").get<std::string>())
                                     : nullptr;
  request["model"] = entry == nullptr ? "meta-llama/Llama-3.1-8B" : entry->preset.hf_id;
  request.erase("stack");
  if (!format.stack.empty()) request["stack"] = std::string(format.stack);
  return request;
}

recipe::Request read(const Json& asked) {
  json::Errors errors;
  return recipe::read_request(asked, errors);
}

class Trainer : public testing::TestWithParam<const char*> {};

TEST_P(Trainer, KnowsEveryKeyOfAnExportAndTakesItsWords) {
  const Format& format = *find_format(GetParam());
  std::map<std::string, std::pair<int, std::string>> refused;
  int keys = 0;
  for (uint64_t seed = 0; seed < requests_of_a_format; ++seed) {
    const Json asked = drawn_for(format, seed);
    const recipe::Request given = read(asked);
    // Each kind of adapter has a class of its own; a file says which.
    const auto kind = given.values.find("/peft/peft_type");
    if (format.id == "peft" && kind != given.values.end() && kind->second != "LORA") continue;
    const Writing written = compose(format, given);
    keys += static_cast<int>(written.entries.size());
    for (const std::string& why : refusals(format.id, written.said_task(format), written.entries)) {
      auto& [times, first] = refused[why];
      if (times++ == 0) first = asked.dump();
    }
  }
  EXPECT_GT(keys, static_cast<int>(requests_of_a_format));
  for (const auto& [why, seen] : refused)
    ADD_FAILURE() << format.id << ": " << why << ", " << seen.first << " times, first\n" << seen.second;
}

INSTANTIATE_TEST_SUITE_P(Exchange, Trainer,
                         testing::Values("axolotl", "llamafactory", "torchtune", "ms-swift", "trl", "hf",
                                         "trl-python", "unsloth", "accelerate", "peft"),
                         [](const testing::TestParamInfo<const char*>& info) {
                           std::string name(info.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ExportedCommand, NamesASubcommandThatExists) {
  for (const char* id : {"ms-swift", "cli"}) {
    const Format& format = *find_format(id);
    for (uint64_t seed = 0; seed < requests_of_a_format; ++seed) {
      Json asked = drawn_for(format, seed);
      if (id == std::string("cli")) asked["stack"] = "trl";
      const std::string text = export_as(format, read(asked)).text;
      const std::string program = id == std::string("cli") ? "trl " : "swift ";
      const std::string list = id == std::string("cli") ? "trl-1.16" : "ms-swift-4.6.0";
      const size_t at = text.find(program);
      ASSERT_NE(at, std::string::npos) << text;
      const std::string rest = text.substr(at + program.size());
      EXPECT_TRUE(accepted(list).has(rest.substr(0, rest.find_first_of(" \\\n")))) << text;
    }
  }
}

TEST(ExportedFile, HoldsNoEnvironmentVariable) {
  for (const Format* format : formats()) {
    if (format->written != Language::yaml && format->written != Language::json) continue;
    const Writing written =
        compose(*format, read({{"model", "Qwen/Qwen2.5-7B"},
                               {"hardware", {{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}}}}));
    for (const Entry& entry : written.entries)
      EXPECT_NE(entry.key[0], '$') << format->id << ": " << entry.key;
  }
}

}  // namespace
}  // namespace plimsoll::exchange
