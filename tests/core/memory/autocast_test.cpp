// What the trainers' own code decides beside the layers: autocast's list, masks, the optimizer's temporaries,
// and under which name a configuration says how many experts it has.
#include <gtest/gtest.h>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

constexpr double batch = 2, length = 1024, layers = 4, width = 1024;

Json request(const Json& config, const Json& more = Json::object()) {
  const Json plain = {
      {"model",
       {{"config", merged({{"hidden_size", 1024},
                           {"intermediate_size", 4096},
                           {"num_hidden_layers", 4},
                           {"num_attention_heads", 16},
                           {"num_key_value_heads", 16},
                           {"vocab_size", 8192}},
                          config)}}},
      {"stack", "hf"},
      {"hardware", {{"gpu", "a100-sxm-80"}}},
      {"versions", {{"transformers", "5.23.0"}, {"torch", "2.13.0"}, {"peft", "0.21.2"}}},
      {"model_args", {{"dtype", "bfloat16"}, {"attn_implementation", "sdpa"}}},
      {"training",
       {{"per_device_train_batch_size", 2},
        {"max_length", 1024},
        {"bf16", true},
        {"packing", false},
        {"padded_batches", false},
        {"eval_strategy", "no"},
        {"gradient_checkpointing", false},
        {"loss_kernel", "stock"},
        {"optim", "adamw_torch"}}},
  };
  return merged(plain, more);
}

double kept(const Json& report) {
  return static_cast<double>(component(instant(report, "loss"), "activations"));
}

// tests/measured/real_trainer_step.py, gpt2: half of x in 16 bits; x, the tanh and one plus it in fp32.
TEST(Autocast, RunsThePowerOfGeluNewInFp32) {
  const Json gpt = {{"model_type", "gpt2"}, {"n_embd", 1024}, {"n_inner", 4096},
                    {"n_layer", 4},         {"n_head", 16},   {"n_positions", 1024}};
  const double written_out = kept(answer(request(merged(gpt, {{"activation_function", "gelu_new"}}))));
  const double one_kernel = kept(answer(request(merged(gpt, {{"activation_function", "gelu"}}))));
  EXPECT_EQ(written_out - one_kernel, layers * batch * length * 4096 * (2 + 3 * 4 - 2));
}

TEST(Autocast, LeavesASoftmaxOfAStatedTypeInIt) {
  const Json eager = {{"model_args", {{"attn_implementation", "eager"}}}};
  const Json experts = {{"num_local_experts", 4}, {"num_experts_per_tok", 1}, {"head_dim", 64}};
  const Json gpt_oss =
      answer(request(merged(experts, {{"model_type", "gpt_oss"}, {"sliding_window", nullptr}}), eager));
  const Json narrow =
      answer(request(merged(experts, {{"model_type", "gpt_oss"}, {"sliding_window", nullptr}}),
                     merged(eager, {{"training", {{"bf16", false}}}})));
  const double scores = layers * batch * length * length * 16;
  EXPECT_LT(kept(gpt_oss) - kept(narrow), 2 * scores);
}

// transformers masking_utils.py: a window that the row reaches is said with a mask, which flash refuses, and
// each layer keeps its 16-bit copy; and grouped keys and values are repeated.
TEST(Masks, OfAWindowThatTheRowReachesAreKeptByEachLayer) {
  const Json mistral = {{"model_type", "mistral"}};
  const double reached = kept(answer(request(merged(mistral, {{"sliding_window", 1024}}))));
  const double beyond = kept(answer(request(merged(mistral, {{"sliding_window", 1025}}))));
  EXPECT_EQ(reached - beyond, layers * batch * length * length * 2);
}

// torch/optim/adagrad.py _multi_tensor_adagrad: the root, and the numerator beside it.
TEST(Adagrad, HoldsTwoCopiesOfWhatIsTrained) {
  const auto stepping = [](const char* optim) {
    const Json report = answer(request({{"model_type", "llama"}}, {{"training", {{"optim", optim}}}}));
    return component(instant(report, "optimizer_step"), "transient");
  };
  EXPECT_EQ(stepping("adagrad"), 2 * stepping("rmsprop"));
}

// Transformers 5.23 saves Qwen3-MoE's num_experts as num_local_experts.
TEST(Experts, AreCountedUnderEitherName) {
  const auto parameters = [](const char* name) {
    const Json config = {{"model_type", "qwen3_moe"}, {"moe_intermediate_size", 512}, {name, 16}};
    return bytes(answer(request(config)), "/model/parameters");
  };
  EXPECT_EQ(parameters("num_local_experts"), parameters("num_experts"));
}

// peft/utils/constants.py TRANSFORMERS_MODELS_TO_IA3_TARGET_MODULES_MAPPING: phi scales q, v and fc2's input.
TEST(Ia3, TargetsWhatPeftTargetsByDefault) {
  const Json report = answer(request({{"model_type", "phi"}}, {{"peft", {{"peft_type", "IA3"}}}}));
  EXPECT_EQ(bytes(report, "/model/trainable"), layers * (2 * width + 4096));
}

}  // namespace
}  // namespace plimsoll::report
