// Runs that train or keep a part of what others do: layers alone (freeze-tuning, LISA), selective
// checkpointing, no optimizer. And ColossalAI's ZeRO, whose figures are those that ColossalChat's
// examples/README.md prints (VRAM Usage, of 2,048 dummy tokens a sample on Llama-2-7B).
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json colossalchat(uint64_t gpus, uint64_t batch, bool offload) {
  return {{"model", "llama-2-7b-hf"},
          {"stack", "colossalai"},
          {"hardware", {{"gpu", "h100-sxm"}}},
          {"model_args", {{"attn_implementation", "flash_attention_2"}}},
          {"parallel",
           {{"num_gpus", gpus},
            {"strategy", "zero2"},
            {"zero_optimization", {{"offload_optimizer", {{"device", offload ? "cpu" : "none"}}}}}}},
          {"training",
           {{"per_device_train_batch_size", batch},
            {"gradient_accumulation_steps", 1},
            {"max_length", 2048},
            {"padded_batches", false},
            {"gradient_checkpointing", true}}}};
}

TEST(LowLevelZero, AgreesWithColossalChatsFullFineTuning) {
  constexpr double mebibyte = 1048576.0;
  expect_within(peak(answer(colossalchat(2, 4, true))), 22457.98 * mebibyte, 0.01);
  expect_within(peak(answer(colossalchat(2, 4, false))), 72390.95 * mebibyte, 0.01);
  expect_within(peak(answer(colossalchat(4, 16, false))), 58082.30 * mebibyte, 0.01);
}

TEST(LowLevelZero, KeepsThePartitionOfGradientsOnTheGpuWhenTheStatesAreNot) {
  const Json report = answer(colossalchat(2, 4, true));
  EXPECT_EQ(component(instant(report, "optimizer_step"), "optimizer"), 0U);
  EXPECT_EQ(component(instant(report, "optimizer_step"), "gradients"), 6738415616ull * 2 / 2);
}

Json full(const Json& training) {
  return merged({{"model", "llama-3.2-1b"},
                 {"model_args", {{"dtype", "bfloat16"}}},
                 {"training",
                  {{"per_device_train_batch_size", 4},
                   {"max_length", 2048},
                   {"optim", "adamw_torch_fused"},
                   {"padded_batches", false}}}},
                {{"training", training}});
}

// One layer of Llama-3.2-1B: q and o 2048 x 2048, k and v 2048 x 512, three of 2048 x 8192, two norms.
constexpr uint64_t layer = 2 * 2048 * 2048 + 2 * 2048 * 512 + 3 * 2048 * 8192 + 2 * 2048;

TEST(PartlyTrained, TheLastLayersAloneAreTrained) {
  const Json report = answer(full({{"freeze_trainable_layers", 2}}));
  EXPECT_EQ(bytes(report, "/model/trainable"), 2 * layer);
  const Json all = answer(full({{"freeze_trainable_layers", 16}}));
  EXPECT_EQ(bytes(all, "/model/trainable"), 16 * layer);
}

TEST(PartlyTrained, LisaTrainsEmbeddingsNormAndHeadToo) {
  const Json report = answer(full({{"lisa_activated_layers", 2}}));
  EXPECT_EQ(bytes(report, "/model/trainable"), 2 * layer + 128256ull * 2048 + 2048);
}

TEST(PartlyTrained, MoreTrainedLayersNeverNeedLess) {
  for (const bool checkpointing : {false, true}) {
    double before = 0;
    for (uint64_t layers = 1; layers <= 16; ++layers) {
      const double now = peak(
          answer(full({{"freeze_trainable_layers", layers}, {"gradient_checkpointing", checkpointing}})));
      EXPECT_GE(now, before) << layers;
      before = now;
    }
    EXPECT_GE(peak(answer(full({{"gradient_checkpointing", checkpointing}}))), before);
  }
}

TEST(PartlyTrained, LayersBelowTheTrainedOnesKeepNothingForTheBackward) {
  const Json two = answer(full({{"freeze_trainable_layers", 2}}));
  const Json all = answer(full({{"freeze_trainable_layers", 16}}));
  const auto kept = [](const Json& report) {
    return static_cast<double>(component(instant(report, "loss"), "activations"));
  };
  EXPECT_LT(kept(two), kept(all) * 3 / 16);
}

// T5's head is its embedding; the bias of its first layer is a table too, and no part of the head.
TEST(PartlyTrained, AFrozenHeadHasNoGradientWhereThePositionBiasIsTrained) {
  const auto gradients = [](const char* pattern) {
    const Json report = answer({{"model", "t5-large"},
                                {"model_args", {{"dtype", "float32"}}},
                                {"training", {{"max_length", 64}, {"unfrozen_parameters", {pattern}}}}});
    return component(instant(report, "backward"), "gradients");
  };
  EXPECT_LT(gradients("encoder.block.0.+"), 32128ull * 1024 * 4);
  EXPECT_GE(gradients("shared"), 32128ull * 1024 * 4);
}

TEST(SelectiveCheckpointing, LiesBetweenRecomputingEverythingAndNothing) {
  const double none = peak(answer(full({{"gradient_checkpointing", false}})));
  const double some =
      peak(answer(full({{"gradient_checkpointing", true}, {"selective_checkpointing", true}})));
  const double every = peak(answer(full({{"gradient_checkpointing", true}})));
  EXPECT_GT(none, some);
  EXPECT_GT(some, every);
}

TEST(WithoutAnOptimizer, NothingIsKeptBesidesTheGradients) {
  const Json report = answer(full({{"optim", "none"}}));
  EXPECT_EQ(component(instant(report, "optimizer_step"), "optimizer"), 0U);
  EXPECT_EQ(component(instant(report, "optimizer_step"), "gradients"), 1235814400ull * 2);
}

}  // namespace
}  // namespace plimsoll::report
