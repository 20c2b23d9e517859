// Bytes a token that one layer keeps for backward without checkpointing, for each family: full fine-tuning in
// pure 16 bits, and a frozen base through which a gradient flows. Known from shape-only runs of the real
// classes (Transformers 4.51 to 5.x, flash attention, K and V repeated).
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/memory/step/pass.h"
#include "core/run/catalog.h"

namespace plimsoll::memory {
namespace {

const run::Catalog& catalog() {
  static const run::Catalog presets = run::read_catalog(preset_files());
  return presets;
}

recipe::Recipe plain_recipe(bool full) {
  recipe::Recipe r;
  r.versions.transformers = "4.51.3";
  r.model_args.dtype = "bfloat16";
  r.model_args.attn_implementation = "sdpa";
  r.quantization.upcast = "none";
  r.quantization.bnb_4bit_compute_dtype = "bfloat16";
  r.peft.on = !full;
  r.peft.adapter_dtype = "float32";
  r.training.per_device_train_batch_size = 1;
  r.training.gradient_accumulation_steps = 1;
  r.training.max_length = 2048;
  return r;
}

double saved_per_token(const std::string& model, const recipe::Recipe& recipe) {
  const model::Architecture& network = catalog().find_model(model)->network;
  PassSettings s;
  s.stack = &network.stacks.front();
  s.recipe = &recipe;
  s.compute_capability = 8.0;
  s.length = 2048;
  s.trained = recipe.full();
  s.input_size = parameter_size(recipe);
  const LayerProgram program = make_program(s, s.stack->groups.front());
  LayerReplayOptions options;
  options.input_size = s.input_size;
  const LayerReplay layer = replay_layer(program, options);
  return (layer.saved.total() + (layer.input_saved ? layer.input_bytes : 0)) / s.length;
}

struct Family {
  const char* model;
  double full, frozen;
};
const Family families[] = {
    {"meta-llama-3-8b", 213128, 151688}, {"qwen2.5-7b", 237688, 0},
    {"gemma-2-9b", 276784, 176432},      {"gemma-3-4b-pt", 215304, 131336},
    {"gemma-2b", 181352, 124008},        {"phi-3-mini-4k-instruct", 157832, 110728},
    {"gpt2-xl", 92916, 73716},           {"pythia-6.9b", 147600, 90256},
    {"opt-6.7b", 106640, 90256},
};

class SavedByFamily : public testing::TestWithParam<Family> {};

TEST_P(SavedByFamily, EqualsWhatTheRealLayerKeeps) {
  const Family& row = GetParam();
  EXPECT_NEAR(saved_per_token(row.model, plain_recipe(true)), row.full, row.full * 0.002) << row.model;
  if (row.frozen > 0) {
    EXPECT_NEAR(saved_per_token(row.model, plain_recipe(false)), row.frozen, row.frozen * 0.002) << row.model;
  }
}
INSTANTIATE_TEST_SUITE_P(Table, SavedByFamily, testing::ValuesIn(families));

TEST(SavedByFamily, QwenThreeAddsItsHeadNorms) {
  // Full: 6 (Q + K) + 4 (nq + nk) more than Qwen2 of the same dimensions; frozen: 4 (Q + K) + 4 (nq + nk).
  const model::LayerGroup& g = catalog().find_model("qwen3-8b")->network.stacks.front().groups.front();
  const double h = 4096, q = 4096, k = 1024, i = 12288, nq = 32, nk = 8;
  ASSERT_EQ(g.heads, 32U);
  const double full = 16 * h + 8 * q + 8 * i + 4 * nq + 8 + 6 * (q + k) + 4 * (nq + nk);
  const double frozen = 8 * h + 8 * q + 6 * i + 4 * nq + 8 + 4 * (q + k) + 4 * (nq + nk);
  EXPECT_NEAR(saved_per_token("qwen3-8b", plain_recipe(true)), full, full * 0.002);
  EXPECT_NEAR(saved_per_token("qwen3-8b", plain_recipe(false)), frozen, frozen * 0.002);
}

TEST(SavedByFamily, FullFineTuningInFp32UnderAutocastKeepsTwoFp32CopiesAndSixteenBitCasts) {
  recipe::Recipe r = plain_recipe(true);
  r.model_args.dtype = "float32";
  r.training.bf16 = true;
  const double weights = 218103808.0 * 2 / 2048;  // 16-bit casts of the layer's linears, kept by the graph
  const double known = 237704 + 4.0 * 4096 + weights;  // the layer input is kept as well
  EXPECT_NEAR(saved_per_token("mistral-7b-v0.1", r), known, known * 0.002);
}

// Of each run of equal layers: how many, and whether a gradient flows through them.
std::vector<std::pair<double, bool>> runs_of(const std::string& model, const char* target) {
  const model::Architecture& network = catalog().find_model(model)->network;
  recipe::Recipe recipe = plain_recipe(false);
  recipe.peft.target_modules = {target};
  PassSettings s;
  s.stack = &network.stacks.front();
  s.recipe = &recipe;
  s.length = 1024;
  s.input_needs_grad = false;
  std::vector<std::pair<double, bool>> runs;
  for (const LayerRun& run : replay_stack(s).runs)
    runs.emplace_back(run.layers, run.replay.output_needs_grad);
  return runs;
}

TEST(LayersBelowTheFirstAdapter, AreWithoutAGraphWhereKindsAlternate) {
  using Runs = std::vector<std::pair<double, bool>>;
  // Attention stands at layers 5, 15, 25 and 35 of Granite's 40, and is every fourth layer of Qwen3-Next's 48.
  EXPECT_EQ(runs_of("granite-4.0-h-1b", "q_proj"), (Runs{{5, false}, {1, true}, {3, true}, {31, true}}));
  EXPECT_EQ(runs_of("qwen3-next-80b-a3b-instruct", "q_proj"), (Runs{{3, false}, {33, true}, {12, true}}));
}

TEST(LayersBelowTheFirstAdapter, AreNoneWhereTheFirstLayerHasOne) {
  for (const auto& [layers, graph] : runs_of("granite-4.0-h-1b", "in_proj")) EXPECT_TRUE(graph) << layers;
}

}  // namespace
}  // namespace plimsoll::memory
