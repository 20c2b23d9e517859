// State-space mixers: published counts of the networks that have them, and what the kernels of mamba_ssm save
// for backward (ctx.save_for_backward in MambaSplitConv1dScanCombinedFn and MambaInnerFn).
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/memory/step/layer_replay.h"
#include "tests/core/model_presets.h"

namespace plimsoll::memory {
namespace {

using model::Role;

constexpr double tokens = 2048;

/// A layer of a mixer alone on a frozen 16-bit base, without norms.
LayerReplay mixer(model::LayerGroup group) {
  group.norms.clear();
  LayerProgram program;
  program.group = &group;
  program.batch = 1;
  program.length = tokens;
  for (const model::Linear& linear : group.linears) {
    LinearSpec& spec = program.linears[static_cast<std::size_t>(linear.role)];
    spec.in = static_cast<double>(linear.in);
    spec.out = static_cast<double>(linear.out);
  }
  program.hidden = program.at(Role::ssm_in).in;
  LayerReplayOptions options;
  return replay_layer(program, options);
}

const model::LayerGroup& mamba_layers(const char* id) {
  for (const model::LayerGroup& group : model::network(id).stacks.front().groups) {
    if (group.name == "mamba layers") return group;
  }
  ADD_FAILURE() << id;
  static const model::LayerGroup none;
  return none;
}

TEST(StateSpace, TheFusedKernelOfMamba2SavesItsInputTheScanAndOneDeviationAGroup) {
  const model::LayerGroup& group = mamba_layers("nvidia-nemotron-3-nano-30b-a3b-bf16");
  // zxbcdt: gate and signal 4096 each, B and C 8 x 128 each, 64 steps; out_x 4096; rstd of 8 groups in fp32.
  EXPECT_EQ(mixer(group).saved.total(), tokens * ((2 * 4096 + 2 * 8 * 128 + 64) * 2 + 4096 * 2 + 8 * 4));
}

TEST(StateSpace, TheFusedKernelOfMamba1KeepsNeitherConvolutionNorStepSizes) {
  const model::LayerGroup& group = mamba_layers("mamba-2.8b-hf");
  // xz 2 x 5120, x_dbl 160 + 32, B and C 16 each, out 5120; 2 x 16 fp32 numbers a channel every 2048 tokens.
  EXPECT_EQ(mixer(group).saved.total(), tokens * (2 * 5120 + 192 + 32 + 5120) * 2 + 2.0 * 5120 * 16 * 4);
}

TEST(StateSpace, JambaKeepsMoreThanTheFusedKernelWouldBecauseItsNormsStandBetween) {
  model::LayerGroup group = mamba_layers("jamba-v0.1");
  const double in_parts = mixer(group).saved.total();
  group.state_space.normed_inputs = false;
  EXPECT_GT(in_parts, 1.3 * mixer(group).saved.total());
}

TEST(StateSpace, LayersAreCountedByTheirKind) {
  const model::Architecture& nano = model::network("nvidia-nemotron-3-nano-30b-a3b-bf16");
  std::map<std::string, uint64_t> layers;
  for (const model::LayerGroup& group : nano.stacks.front().groups) layers[group.name] = group.layers;
  EXPECT_EQ(layers, (std::map<std::string, uint64_t>{
                        {"full-attention layers", 6}, {"mamba layers", 23}, {"expert layers", 23}}));
}

// Hub safetensors headers; the deepest check of the layers' small parameters.
TEST(StateSpace, NetworksWithMixersCountWhatTheHubSays) {
  const std::map<std::string, uint64_t> published = {{"falcon-h1-0.5b-base", 521411104},
                                                     {"jamba-v0.1", 51570323328},
                                                     {"nvidia-nemotron-3-nano-30b-a3b-bf16", 31577937344},
                                                     {"mamba-2.8b-hf", 2768345600},
                                                     {"falcon-mamba-7b", 7272665088},
                                                     {"granite-4.0-h-tiny", 6939037248},
                                                     {"granite-4.0-h-1b", 1461538368}};
  for (const auto& [id, count] : published) {
    EXPECT_EQ(model::parameter_count(model::network(id)), count) << id;
  }
}

// The table of the model's page in the documentation of Transformers.
TEST(StateSpace, FalconH1HasTheShapesThatTransformersDocuments) {
  struct Row {
    const char* id;
    uint64_t depth, width, heads, kv_heads, mamba_heads, head_dim, mamba_head_dim, state;
  };
  for (const Row& row : {Row{"falcon-h1-0.5b-base", 36, 1024, 8, 2, 24, 64, 64, 128},
                         Row{"falcon-h1-1.5b-base", 24, 2048, 8, 2, 48, 128, 64, 256},
                         Row{"falcon-h1-1.5b-deep-base", 66, 1280, 6, 2, 24, 128, 64, 256},
                         Row{"falcon-h1-3b-base", 32, 2560, 10, 2, 32, 128, 128, 256},
                         Row{"falcon-h1-7b-base", 44, 3072, 12, 2, 24, 128, 128, 256},
                         Row{"falcon-h1-34b-base", 72, 5120, 20, 4, 32, 128, 128, 256}}) {
    const model::Stack& text = model::network(row.id).stacks.front();
    const model::LayerGroup& group = text.groups.front();
    EXPECT_EQ(text.hidden, row.width) << row.id;
    EXPECT_EQ(group.layers, row.depth) << row.id;
    EXPECT_EQ(group.heads, row.heads) << row.id;
    EXPECT_EQ(group.kv_heads, row.kv_heads) << row.id;
    EXPECT_EQ(group.head_dim, row.head_dim) << row.id;
    EXPECT_EQ(group.state_space.heads, row.mamba_heads) << row.id;
    EXPECT_EQ(group.state_space.inner, row.mamba_heads * row.mamba_head_dim) << row.id;
    EXPECT_EQ(group.state_space.state, row.state) << row.id;
  }
}

}  // namespace
}  // namespace plimsoll::memory
