// What a run takes when it is saved, when its best checkpoint is read back and when its adapters are merged:
// arithmetic of the tensors that the libraries make, which each test names.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

constexpr double mistral = 7241732096.0;                    // its parameters
constexpr double layer = 218112000.0, table = 131072000.0;  // of one layer, of the embedding
constexpr double widest = 14336.0 * 4096.0;

Json sharded(const char* strategy) {
  return {{"model", "mistral-7b-v0.1"},
          {"parallel", {{"strategy", strategy}, {"num_gpus", 2}}},
          {"model_args", {{"dtype", "bfloat16"}}},
          {"training", {{"bf16", false}, {"max_length", 2048}, {"per_device_train_batch_size", 1}}}};
}

double gathered(const Json& instant) { return static_cast<double>(component(instant, "gathered")); }
double host(const Json& instant) { return instant.value("host_bytes", 0.0); }

// torch/distributed/fsdp/_state_dict_utils.py _full_pre_state_dict_hook, with offload_to_cpu and rank0_only:
// a unit at a time. Of Mistral the root unit, embedding, head and a norm, is larger than a layer.
TEST(Saving, CollectsTheWholeModelInTheFirstProcessUnderFsdp) {
  const Json save = instant(answer(sharded("fsdp")), "save");
  ASSERT_TRUE(save.is_object());
  expect_within(gathered(save), 2 * std::max(layer, 2 * table), 0.001);
  expect_within(host(save), 2 * 2 * mistral, 0.001);  // the optimizer's two moments, after the weights
  const Json alone =
      instant(answer(merged(sharded("fsdp"), {{"training", {{"save_only_model", true}}}})), "save");
  expect_within(host(alone), 2 * mistral, 0.001);
}

TEST(Saving, GathersNothingWhereEachProcessWritesItsPart) {
  const Json request = merged(sharded("fsdp2"), Json::object());
  EXPECT_EQ(gathered(instant(answer(request), "save")), 0);
  EXPECT_EQ(gathered(instant(answer(sharded("zero3")), "save")), 0);
}

// deepspeed/runtime/engine.py _zero3_consolidated_16bit_state_dict: the parameters of one module at a time.
TEST(Saving, CollectsSixteenBitWeightsUnderZero3WhereItIsAsked) {
  const Json request =
      merged(sharded("zero3"),
             {{"parallel", {{"zero_optimization", {{"stage3_gather_16bit_weights_on_model_save", true}}}}}});
  const Json save = instant(answer(request), "save");
  expect_within(gathered(save), 2 * table, 0.001);
  expect_within(host(save), 2 * mistral, 0.001);
}

TEST(Saving, IsNoInstantOfARunThatIsNeverSaved) {
  EXPECT_TRUE(
      instant(answer({{"model", "gpt2"}, {"training", {{"save_strategy", "no"}}}}), "save").is_null());
}

// peft/utils/save_and_load.py load_peft_weights reads to the GPU; the adapters that are trained are there
// too.
TEST(Saving, ReadsTheBestAdaptersBackBesideTheOthers) {
  const Json report = answer({{"model", "mistral-7b-v0.1"},
                              {"peft", {{"r", 16}}},
                              {"training", {{"load_best_model_at_end", true}}}});
  EXPECT_EQ(component(instant(report, "load_best"), "adapters"),
            2 * component(instant(report, "optimizer_step"), "adapters"));
}

// peft/tuners/lora/bnb.py Linear4bit.merge: the unpacked matrix, the product of the adapters, their sum,
// which is fp32, and the sum once more as bitsandbytes packs it (nn/modules.py Params4bit._quantize).
TEST(Saving, UnpacksOneMatrixAfterAnotherToMergeAdaptersIntoAPackedBase) {
  const Json report =
      answer({{"model", "mistral-7b-v0.1"},
              {"model_args", {{"dtype", "bfloat16"}}},
              {"quantization", {{"load_in_4bit", true}}},
              {"peft", {{"r", 16}, {"target_modules", "all-linear"}, {"merge_and_unload", true}}}});
  const double transient = static_cast<double>(component(instant(report, "merge"), "transient"));
  expect_within(transient, widest * (2 + 4 + 4 + 4 + 0.5 + 4.0 / 64), 0.001);
}

}  // namespace
}  // namespace plimsoll::report
