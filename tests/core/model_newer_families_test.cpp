// Families that published fine-tuning examples name: counts of the hub's safetensors headers (minus what the
// preset says that training does not load), and the names by which adapters find their modules.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/core/model_presets.h"

namespace plimsoll::model {
namespace {

TEST(NewerFamilies, CountWhatTheHubSays) {
  const std::map<std::string, uint64_t> published = {{"internvl3_5-14b-hf", 15119523840},
                                                     {"mimo-vl-7b-rl", 8306217216},
                                                     {"deepseek-r1-distill-qwen-1.5b", 1777088000},
                                                     {"afm-4.5b-base", 4619184640}};
  for (const auto& [id, count] : published) EXPECT_EQ(parameter_count(network(id)), count) << id;
}

// E4B and E2B differ in their text alone: one figure for the towers fits both of the hub's.
TEST(NewerFamilies, BothGemma3nCountTheHubsFigureWithoutTheKeysThatNoLayerReads) {
  const uint64_t of_a_sharing_layer = 2 * 2048 * 512 + 256;
  EXPECT_EQ(parameter_count(network("gemma-3n-e4b")) + 15 * of_a_sharing_layer, 7849978192u);
  EXPECT_EQ(parameter_count(network("gemma-3n-e2b")) + 10 * of_a_sharing_layer, 5439438272u);
}

TEST(NewerFamilies, ConvertedDbrxHasTheModulesThatItsExampleAdapts) {
  for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj", "layer"}) {
    bool found = false;
    for (const PlacedLinear& at : linears(network("dbrx-base-converted-v2"))) {
      found = found || (ends_in_name(at.linear->path, name) && at.linear->module == Module::linear);
    }
    EXPECT_TRUE(found) << name;
  }
  for (const PlacedLinear& at : linears(network("dbrx-base"))) {
    if (!at.linear->expert) continue;
    EXPECT_EQ(at.linear->module, Module::parameter) << at.linear->path;
  }
}

TEST(NewerFamilies, WhatListensIsCountedAndNeverInTheText) {
  for (const char* id : {"voxtral-mini-3b-2507", "qwen2-audio-7b", "gemma-3n-e2b"}) {
    const Stack* heard = find(network(id), Part::audio);
    ASSERT_NE(heard, nullptr) << id;
    EXPECT_GT(parameter_count(*heard), 100000000u) << id;
    EXPECT_EQ(network(id).stacks.front().part, Part::text) << id;
  }
}

}  // namespace
}  // namespace plimsoll::model
