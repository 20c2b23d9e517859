// Unsloth loads a checkpoint of its own in 4 bits, some of whose linears are in 16. The sizes are those that its
// published notebooks downloaded (github.com/unslothai/notebooks, widget states of model*.safetensors).
#include "core/run/dynamic_checkpoint.h"

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json qlora(const char* model, const char* stack = "unsloth") {
  return {{"model", model},
          {"stack", stack},
          {"training", {{"per_device_train_batch_size", 2}, {"max_length", 2048}}},
          {"peft", {{"r", 16}, {"target_modules", {"q_proj", "k_proj", "v_proj", "o_proj"}}}},
          {"quantization", {{"load_in_4bit", true}, {"bnb_4bit_use_double_quant", true}}}};
}

double weight_of(const Json& request) {
  return static_cast<double>(component(instant(answer(request), "forward"), "weights"));
}

TEST(DynamicCheckpoint, ItWeighsWhatWasDownloaded) {
  EXPECT_NEAR(weight_of(qlora("unsloth/Qwen3-14B")) / 11119259070.0, 1, 0.01);
  EXPECT_NEAR(weight_of(qlora("microsoft/phi-4")) / 10391982847.0, 1, 0.01);
  EXPECT_NEAR(weight_of(qlora("unsloth/Meta-Llama-3.1-8B-Instruct")) / 5964186425.0, 1, 0.01);
  EXPECT_NEAR(weight_of(qlora("unsloth/Llama-3.2-3B-Instruct")) / 2354805470.0, 1, 0.01);
  EXPECT_NEAR(weight_of(qlora("unsloth/Qwen2.5-3B-Instruct")) / 2355738764.0, 1, 0.02);
  EXPECT_NEAR(weight_of(qlora("unsloth/gemma-3-4b-it")) / 4562294331.0, 1, 0.02);
}

TEST(DynamicCheckpoint, APlainNameOfOneLoadsAsItIs) {
  EXPECT_NEAR(weight_of(qlora("unsloth/llama-3-8b-bnb-4bit")) / 5702746405.0, 1, 0.01);
  EXPECT_LT(weight_of(qlora("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit")) / 5964186425.0, 0.97);
}

TEST(DynamicCheckpoint, ReleasesBefore2025QuantiseAllOfIt) {
  Json old = qlora("unsloth/Qwen3-14B");
  const double now = weight_of(old);
  old["versions"] = {{"unsloth", "2024.11.9"}};
  EXPECT_LT(weight_of(old), 0.95 * now);
}

TEST(DynamicCheckpoint, ANamedOneIsTheSameWhateverLoadsIt) {
  const double unsloth = weight_of(qlora("unsloth/Qwen3-14B"));
  EXPECT_NEAR(weight_of(qlora("unsloth/Qwen3-14B-unsloth-bnb-4bit", "axolotl")) / unsloth, 1, 0.001);
}

TEST(DynamicCheckpoint, TheListIsAnAssumptionThatThePersonCanReplace) {
  Json request = qlora("unsloth/Qwen3-14B");
  const Json report = answer(request);
  bool told = false;
  for (const Json& row : at(report, "/assumptions"))
    told = told || at(row, "/pointer") == "/quantization/llm_int8_skip_modules";
  EXPECT_TRUE(told);
  request["quantization"]["llm_int8_skip_modules"] = Json::array();
  EXPECT_LT(weight_of(request), 0.95 * weight_of(qlora("unsloth/Qwen3-14B")));
}

TEST(DynamicCheckpoint, ItsModulesAreMlpsOfTheFirstLayersAndTheirShareIsMet) {
  const run::ModelEntry* entry = presets().find_model("qwen3-14b");
  ASSERT_NE(entry, nullptr);
  const std::vector<std::string> left = run::modules_left(entry->network, {.in_16_bits = 0.06});
  ASSERT_EQ(left.size(), 9u);
  EXPECT_NE(left.front().find("layers.1.mlp"), std::string::npos);
  EXPECT_NE(left.back().find("layers.3.mlp"), std::string::npos);
  EXPECT_TRUE(run::modules_left(entry->network, {}).empty());
}

// FORCE_FLOAT32 of unsloth-zoo: on a T4 the notebook of Gemma 3 4B reserved 13.6 GiB.
TEST(DynamicCheckpoint, ACardWithoutBfloat16WidensTheBandAndANoteSaysWhy) {
  Json request = qlora("unsloth/gemma-3-4b-it");
  const auto band = [&](const char* gpu) {
    request["hardware"] = {{"gpu", gpu}};
    const Json report = answer(request);
    return at(report, "/memory/peak/high").get<double>() / at(report, "/memory/peak/device").get<double>();
  };
  EXPECT_GT(band("t4"), 1.2 * band("l4"));
  request["hardware"] = {{"gpu", "t4"}};
  EXPECT_NE(json::write(answer(request)).find("unsloth_in_fp32"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::report
