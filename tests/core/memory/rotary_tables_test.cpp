// Tables of rotary positions in older model classes, seen in what a model takes at rest.
#include <string>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

double at_rest(const std::string& model, const std::string& transformers) {
  const Json request = {{"model", model},
                        {"stack", "loop"},
                        {"versions", {{"transformers", transformers}}},
                        {"model_args", {{"dtype", "bfloat16"}}},
                        {"training", {{"bf16", false}, {"fp16", false}}}};
  return static_cast<double>(component(instant(answer(request), "forward"), "weights"));
}

// AnswerDotAI/fsdp_qlora nbs/00-profile_lora_qlora.ipynb prints 2.311 GB for a Llama of 24 layers in
// bfloat16, 0.009 of them a cuBLAS workspace: 2.277 are parameters, the rest is cosines and sines. Both are
// rounded to a thousandth.
TEST(RotaryTables, LieOnTheGpuBesideTheParameters) {
  const Json config = {{"model_type", "llama"},        {"hidden_size", 2048},
                       {"num_hidden_layers", 24},      {"num_attention_heads", 16},
                       {"num_key_value_heads", 16},    {"intermediate_size", 4096},
                       {"vocab_size", 32000},          {"max_position_embeddings", 2048},
                       {"tie_word_embeddings", false}, {"torch_dtype", "bfloat16"}};
  const Json request = {{"model", {{"name", "1B"}, {"config", config}}},
                        {"stack", "loop"},
                        {"versions", {{"transformers", "4.38"}}},
                        {"model_args", {{"dtype", "bfloat16"}}},
                        {"training", {{"bf16", false}, {"fp16", false}, {"max_length", 512}}}};
  EXPECT_NEAR(static_cast<double>(component(instant(answer(request), "load"), "weights")), 2.302e9, 1.5e6);
}

TEST(RotaryTables, AreAsLongAsTheModelMayEverRead) {
  const double tables = at_rest("mistral-7b-v0.1", "4.41") - at_rest("mistral-7b-v0.1", "4.42");
  EXPECT_EQ(tables, 32.0 * 2 * 32768 * 128 * 2);
  EXPECT_EQ(at_rest("llama-2-7b-hf", "4.40") - at_rest("llama-2-7b-hf", "4.41"), 32.0 * 2 * 4096 * 128 * 2);
  EXPECT_EQ(at_rest("llama-2-7b-hf", "4.41"), at_rest("llama-2-7b-hf", "5.0"));
}

TEST(RotaryTables, AreNoPartOfACheckpoint) {
  const auto saved = [](const char* transformers) {
    const Json request = {{"model", "llama-2-7b-hf"}, {"versions", {{"transformers", transformers}}}};
    return bytes(answer(request), "/model/checkpoint_bytes");
  };
  EXPECT_EQ(saved("4.38"), saved("4.41"));
}

}  // namespace
}  // namespace plimsoll::report
