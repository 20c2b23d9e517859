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

// Printed by the classes of Transformers 5.15 on the meta device with the same sizes (sum of p.numel());
// Trinity Nano is also the figure of the hub.
TEST(NewerFamilies, CountWhatTheirOwnClassesCount) {
  const std::map<std::string, uint64_t> printed = {{"glm-4.1v-9b-thinking", 10292777472},
                                                   {"glm-5", 743911199232},
                                                   {"glm-5.2", 743377000704},
                                                   {"deepseek-v3.2", 671877929216},
                                                   {"deepseek-v4-flash", 284332230231},
                                                   {"trinity-nano-preview", 6120003328},
                                                   {"trinity-mini", 26123974400}};
  for (const auto& [id, count] : printed) EXPECT_EQ(parameter_count(network(id)), count) << id;
  const Architecture mistral = network("mistral-small-4-119b-2603");
  EXPECT_EQ(parameter_count(mistral.stacks.front()), 118972826624u);
}

TEST(NewerFamilies, KimiLinearAttendsInSevenLayersAndKeepsAStateInTwenty) {
  const Architecture kimi = network("kimi-linear-48b-a3b-instruct");
  uint64_t latent = 0, delta = 0, dense = 0;
  for (const LayerGroup& group : kimi.stacks.front().groups) {
    if (group.attention == AttentionKind::latent) latent += group.layers;
    if (group.attention == AttentionKind::linear_delta) delta += group.layers;
    if (group.experts == 0) dense += group.layers;
  }
  EXPECT_EQ(latent, 7u);
  EXPECT_EQ(delta, 20u);
  EXPECT_EQ(dense, 1u);
  EXPECT_NEAR(static_cast<double>(parameter_count(kimi)), 49.1e9, 0.1e9);
}

// Axolotl's example of Trinity adapts gate_proj, which is the gate of the attention too.
TEST(NewerFamilies, TheGateOfTrinitysAttentionIsAModuleThatAdaptersFind) {
  uint64_t gates = 0;
  for (const PlacedLinear& at : linears(network("trinity-nano-preview"))) {
    if (at.linear->path.find("self_attn.gate_proj") != std::string::npos) gates += at.total;
  }
  EXPECT_EQ(gates, 56u);
}

TEST(NewerFamilies, MossVlReadsTheImageInTwelveLayersOfItsOwn) {
  const Architecture moss = network("moss-vl-instruct-0708");
  uint64_t cross = 0, text = 0;
  for (const LayerGroup& group : moss.stacks.front().groups) {
    (group.attention == AttentionKind::cross ? cross : text) += group.layers;
  }
  EXPECT_EQ(cross, 12u);
  EXPECT_EQ(text, 36u);
  EXPECT_NEAR(static_cast<double>(parameter_count(moss)), 11.3e9, 0.1e9);
}

TEST(NewerFamilies, AListOfCompressionsShorterThanTheLayersIsRefused) {
  json::Errors errors;
  const json::Json config = {{"model_type", "deepseek_v4"}, {"num_hidden_layers", 4},
                             {"hidden_size", 64},           {"num_attention_heads", 4},
                             {"vocab_size", 100},           {"compress_ratios", {0, 4}},
                             {"n_routed_experts", 8}};
  EXPECT_FALSE(read_config(config, "short", "/model/config", errors));
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors.front().pointer, "/model/config/compress_ratios");
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
