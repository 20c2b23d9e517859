// Kernels and optimizers by what their sources keep.
#include <string>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

double allocated_at(const Json& report, const char* id) {
  return instant(report, id).at("allocated").get<double>();
}

double bytes_of_part(const Json& report, const char* id, const char* name) {
  const Json one = instant(report, id);
  for (const Json& row : one.at("components")) {
    if (row.at("id") == name) return row.at("bytes").get<double>();
  }
  return 0;
}

Json with_attention(const char* model, const char* kernel) {
  return {{"model", model},
          {"model_args", {{"attn_implementation", kernel}, {"dtype", "bfloat16"}}},
          {"peft", {{"r", 8}, {"target_modules", {"q_proj"}}}},
          {"training",
           {{"bf16", true},
            {"max_length", 2048},
            {"per_device_train_batch_size", 1},
            {"padded_batches", false},
            {"gradient_checkpointing", false}}}};
}

// transformers integrations/flex_attention.py: grouped key heads stay as they are where the number of heads
// is a power of two; both kernels keep q, k, v, the result and its log-sums. BlockMask: four lists of 16 x 16
// blocks.
TEST(FlexAttention, KeepsWhatFlashAttentionKeeps) {
  const Json flex = answer(with_attention("llama-3.2-1b", "flex_attention"));
  const Json flash = answer(with_attention("llama-3.2-1b", "flash_attention_2"));
  EXPECT_NEAR(allocated_at(flex, "forward"), allocated_at(flash, "forward"), 4 * 4 * 16 * 16 + 1);
}

// scaled_dot_product_attention makes numbers of a mask's booleans for each call, and each of 16 layers keeps
// its own (tests/stacks/runs: 131,072 bytes in the backward of four padded rows of 128 tokens).
TEST(PaddedBatches, KeepAMaskOfNumbersForEachLayer) {
  const auto forward = [](const char* transformers) {
    Json request = with_attention("llama-3.2-1b", "sdpa");
    request["versions"] = {{"transformers", transformers}};
    request["model_args"]["use_cache"] = false;
    request["training"]["per_device_train_batch_size"] = 2;
    request["training"]["padded_batches"] = true;
    return allocated_at(answer(request), "forward");
  };
  const double mask = 2.0 * 2048 * 2048;
  // In exchange the one mask of all layers was of numbers itself.
  EXPECT_NEAR(forward("5.23.0") - forward("4.52.0"), 16 * 2 * mask - mask, 0.5 * mask);
}

// Autocast casts a trained fp32 weight once in a forward, also without a graph: evaluation holds the 16-bit
// weights of all layers when the head runs.
TEST(Evaluation, HoldsAutocastsCastsOfTrainedWeights) {
  const auto in_evaluation = [](bool full) {
    Json request = {{"model", "llama-3.2-1b"},
                    {"model_args", {{"dtype", "float32"}}},
                    {"training",
                     {{"bf16", true},
                      {"max_length", 128},
                      {"per_device_eval_batch_size", 1},
                      {"eval_strategy", "steps"},
                      {"loss_kernel", "stock"}}}};
    if (!full) request["peft"] = {{"r", 8}, {"target_modules", {"q_proj"}}};
    return bytes_of_part(answer(request), "eval", "autocast");
  };
  const double linears = 16.0 * 60817408;  // of llama-3.2-1b's layers
  EXPECT_GE(in_evaluation(true), 2 * linears);
  EXPECT_LT(in_evaluation(false), linears);  // the frozen head's alone
}

// Qwen2.5-7B has 28 heads and 4 of keys, 128 wide: keys and values are repeated in 16 bits in each of 28
// layers.
TEST(FlexAttention, RepeatsKeysWhereTheHeadsAreNoPowerOfTwo) {
  const Json flex = answer(with_attention("qwen2.5-7b", "flex_attention"));
  const Json flash = answer(with_attention("qwen2.5-7b", "flash_attention_2"));
  const double repeated = 28.0 * 2048 * 2 * (28 - 4) * 128 * 2;
  EXPECT_NEAR(allocated_at(flex, "forward") - allocated_at(flash, "forward"), repeated, repeated * 0.01);
}

// optimi/stableadamw.py _init_state: two states like the parameter, and for 16-bit ones what Kahan's sum
// lost.
TEST(StableAdamW, KeepsAThirdStateFor16BitParametersAlone) {
  const auto states = [](const char* dtype) {
    const Json report = answer({{"model", "smollm2-360m"},
                                {"model_args", {{"dtype", dtype}}},
                                {"training", {{"optim", "stable_adamw"}, {"max_length", 256}}}});
    return bytes_of_part(report, "optimizer_step", "optimizer");
  };
  const double parameters = 361821120;
  EXPECT_NEAR(states("float32"), 8 * parameters, 1);
  EXPECT_NEAR(states("bfloat16"), 6 * parameters, 1);
}

// The layer inputs wait in host memory whatever the number of processes.
TEST(OffloadedCheckpoints, AreOffloadedOnEachOfSeveralGpus) {
  Json request = {{"model", "qwen2.5-7b"},
                  {"parallel", {{"num_gpus", 4}, {"strategy", "ddp"}}},
                  {"peft", {{"r", 8}}},
                  {"training",
                   {{"per_device_train_batch_size", 1},
                    {"max_length", 8192},
                    {"gradient_checkpointing", true},
                    {"bf16", true}}}};
  const Json kept = answer(request);
  request["training"]["offload_checkpoints"] = true;
  const Json away = answer(request);
  const double input = 8192.0 * 3584 * 2;
  EXPECT_GT(bytes_of_part(kept, "backward", "boundaries"), 20 * input);
  EXPECT_LE(bytes_of_part(away, "loss", "boundaries"), 4 * input);
}

}  // namespace
}  // namespace plimsoll::report
