// Linears that a quantised checkpoint leaves in 16 bits, by name and by the number of their layer.
#include "core/model/layers_apart.h"

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

// "llm_int8_skip_modules" of unsloth/phi-4-unsloth-bnb-4bit, whose files hold 4.97, 4.39 and 1.03 GB.
const Json of_phi_4 = {"lm_head",
                       "multi_modal_projector",
                       "merger",
                       "modality_projection",
                       "model.layers.1.mlp",
                       "model.layers.2.mlp",
                       "model.layers.3.mlp",
                       "model.layers.37.self_attn.o_proj",
                       "model.layers.39.self_attn.o_proj"};

Json packed(const Json& skipped) {
  return {
      {"model", "unsloth/phi-4-unsloth-bnb-4bit"},
      {"stack", "unsloth"},
      {"training", {{"per_device_train_batch_size", 2}, {"max_length", 2048}}},
      {"peft",
       {{"r", 16},
        {"target_modules", {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}}}},
      {"quantization",
       {{"load_in_4bit", true}, {"bnb_4bit_use_double_quant", true}, {"llm_int8_skip_modules", skipped}}}};
}

double weights(const Json& report) {
  return static_cast<double>(component(instant(report, "forward"), "weights"));
}

TEST(LayersApart, ADynamicCheckpointWeighsWhatItsFilesDo) {
  const Json report = answer(packed(of_phi_4));
  EXPECT_NEAR(weights(report) / 1e9, 4.97 + 4.39 + 1.03, 0.02);
  EXPECT_LT(weights(answer(packed(Json::array()))) / 1e9, 9.2);
  // The adapters are those of all 40 layers, as Unsloth prints them.
  EXPECT_EQ(at(report, "/model/trainable").get<uint64_t>(), 65536000u);
}

TEST(LayersApart, WhereTheLanguageModelStandsInANameSaysNothing) {
  Json elsewhere = Json::array();
  for (const Json& name : of_phi_4) {
    std::string moved = name.get<std::string>();
    if (moved.rfind("model.", 0) == 0) moved.insert(0, "language_model.");
    elsewhere.push_back(moved);
  }
  EXPECT_EQ(weights(answer(packed(elsewhere))), weights(answer(packed(of_phi_4))));
}

TEST(LayersApart, AModuleIsNamedByItselfOrByWhatLiesAroundIt) {
  const std::string path = "model.layers.#.mlp.up_proj";
  for (const char* name : {"up_proj", "mlp", "mlp.up_proj", "model.layers.#.mlp.up_proj", "layers"})
    EXPECT_TRUE(model::is_skipped(path, {name})) << name;
  for (const char* name : {"", "model", "proj", "up", "self_attn", "layers.1.mlp", "lm_head"})
    EXPECT_FALSE(model::is_skipped(path, {name})) << name;
}

TEST(LayersApart, LayersOfWhichTheSameIsSaidStayTogether) {
  const run::ModelEntry* entry = presets().find_model("mistral-7b-v0.3");
  ASSERT_NE(entry, nullptr);
  const model::Architecture parted = model::with_layers_apart(
      entry->network, {"model.layers.3.mlp", "model.layers.9.mlp", "model.layers.9.self_attn",
                       "model.layers.40.mlp", "model.layers.4.experts"});
  std::vector<uint64_t> layers;
  for (const model::LayerGroup& group : parted.stacks.front().groups) layers.push_back(group.layers);
  EXPECT_EQ(layers, (std::vector<uint64_t>{30, 1, 1}));
  EXPECT_NE(parted.stacks.front().groups[1].linears.front().path.find("layers.3."), std::string::npos);
}

// Every sixth layer of Gemma 3 sees the whole row, the others a window.
TEST(LayersApart, WhereKindsAlternateANumberMeetsTheLayerThatBearsIt) {
  const run::ModelEntry* entry = presets().find_model("gemma-3-1b-pt");
  ASSERT_NE(entry, nullptr);
  const model::Architecture parted = model::with_layers_apart(
      entry->network, {"model.layers.5.mlp", "model.layers.6.mlp", "model.layers.11.mlp"});
  std::vector<std::pair<uint64_t, uint64_t>> windows;
  for (const model::LayerGroup& group : parted.stacks.front().groups)
    windows.emplace_back(group.layers, group.window);
  EXPECT_EQ(windows, (std::vector<std::pair<uint64_t, uint64_t>>{{21, 512}, {1, 512}, {2, 0}, {2, 0}}));
}

TEST(LayersApart, ANameThatPromisesThemIsAskedForThem) {
  EXPECT_NE(json::write(answer(packed(Json::array()))).find("dynamic_checkpoint"), std::string::npos);
  EXPECT_EQ(json::write(answer(packed(of_phi_4))).find("dynamic_checkpoint"), std::string::npos);
}

// Transformers holds Llama 4's experts as one parameter, which bitsandbytes leaves alone; Axolotl makes
// linears of them, and trains Scout on one card of 80 GB (axolotl-ai-cloud/axolotl
// examples/llama-4/README.md: 64.5 GB).
TEST(LayersApart, ExpertsThatAreLinearsAreQuantised) {
  Json body = {{"model", "axolotl-quants/Llama-4-Scout-17B-16E-Linearized-bnb-nf4-bf16"},
               {"stack", "axolotl"},
               {"training", {{"per_device_train_batch_size", 1}, {"max_length", 4096}}},
               {"peft", {{"r", 32}, {"target_modules", {"self_attn.q_proj", "shared_expert.up_proj"}}}},
               {"quantization", {{"load_in_4bit", true}, {"bnb_4bit_use_double_quant", true}}}};
  EXPECT_LT(weights(answer(body)) / 1e9, 64.5);
  EXPECT_GT(weights(answer(body)) / 1e9, 55);
  body["model_args"]["linearized_experts"] = false;
  EXPECT_GT(weights(answer(body)) / 1e9, 200);
  body["model"] = "meta-llama/Llama-4-Scout-17B-16E";
  body.erase("model_args");
  EXPECT_GT(weights(answer(body)) / 1e9, 200);
}

}  // namespace
}  // namespace plimsoll::report
