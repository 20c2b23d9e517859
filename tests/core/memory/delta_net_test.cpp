// Gated delta-nets held against Transformers' own module on a CPU, and against what flash-linear-attention's
// autograd function allocates, its kernels not run.
#include "core/memory/layers/delta_net.h"

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

Json text_config(const std::vector<std::string>& kinds) {
  return {{"model_type", "qwen3_5_text"},
          {"hidden_size", 512},
          {"intermediate_size", 1024},
          {"num_hidden_layers", kinds.size()},
          {"num_attention_heads", 8},
          {"num_key_value_heads", 2},
          {"head_dim", 64},
          {"vocab_size", 1000},
          {"linear_num_key_heads", 4},
          {"linear_num_value_heads", 8},
          {"linear_key_head_dim", 64},
          {"linear_value_head_dim", 64},
          {"layer_types", kinds},
          {"tie_word_embeddings", true}};
}

double kept(const std::vector<std::string>& kinds, const char* kernels, const char* transformers) {
  const Json request = {
      {"model", {{"config", text_config(kinds)}}},
      {"model_args", {{"dtype", "bfloat16"}, {"attn_implementation", "sdpa"}, {"kernels", kernels}}},
      {"peft", {{"r", 8}, {"target_modules", {"q_proj"}}, {"lora_dropout", 0.0}}},
      {"training",
       {{"bf16", false}, {"per_device_train_batch_size", 2}, {"max_length", 256}, {"padded_batches", false}}},
      {"versions", {{"transformers", transformers}}}};
  return static_cast<double>(component(instant(answer(request), "forward"), "activations"));
}

// What one more layer of this kind keeps of 512 tokens.
double of_a_layer(const char* kind, const char* kernels, const char* transformers = "5.24") {
  const std::vector<std::string> fewer = {"full_attention", "linear_attention"};
  std::vector<std::string> more = {"full_attention", kind, "linear_attention"};
  return kept(more, kernels, transformers) - kept(fewer, kernels, transformers);
}

// transformers 5.24.0 Qwen3_5DecoderLayer in bfloat16, every live storage counted after its forward: 29,524,256
// bytes with linear attention, without the kernels' packages; 9,482,752 with full attention and its gate, to which
// the adapter of q_proj adds the input that it keeps.
TEST(DeltaNet, KeepsInPyTorchWhatTransformersKeeps) {
  EXPECT_NEAR(of_a_layer("linear_attention", "torch") / 29524256, 1, 0.02);
  EXPECT_NEAR(of_a_layer("full_attention", "torch") / (9482752 + 512 * 512 * 2), 1, 0.01);
}

TEST(DeltaNet, KernelsKeepLessThanHalf) {
  EXPECT_LT(of_a_layer("linear_attention", "installed"), 0.45 * of_a_layer("linear_attention", "torch"));
}

// Until 5.16 the fallback inverts each chunk's triangle row by row.
TEST(DeltaNet, OlderReleasesKeepMoreWithoutKernels) {
  EXPECT_GT(of_a_layer("linear_attention", "torch", "5.10"), 1.5 * of_a_layer("linear_attention", "torch"));
}

TEST(DeltaNet, ANoteNamesThePackagesUntilTheRequestSaysThatTheyAreMissing) {
  Json request = {{"model", "qwen3.5-9b"}, {"training", {{"max_length", 1024}}}};
  EXPECT_NE(json::write(answer(request)).find("delta_net_kernels"), std::string::npos);
  request["model_args"] = {{"kernels", "torch"}};
  EXPECT_EQ(json::write(answer(request)).find("delta_net_kernels"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::report
