// What a sentence denies is neither taken nor offered.
#include <gtest/gtest.h>

#include "core/question/answers.h"
#include "tests/core/explained.h"

namespace plimsoll::question {
namespace {

SaidRequest read_from(std::string_view text) {
  return said_request(diagnosis::clean(text), diagnosis::catalog());
}
std::string answered_with(std::string_view text) {
  return answer(read_from(text), diagnosis::catalog()).words;
}
bool says_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
using Methods = std::vector<Method>;

TEST(Denied, AdaptersLeaveFullFineTuning) {
  const Methods full = {Method::full};
  const SaidRequest said =
      read_from("finetune the llama-7b model without any PEFT and Quantization on one A100 80GB");
  EXPECT_EQ(said.methods, full);
  EXPECT_TRUE(said.method);
  EXPECT_TRUE(said.request().at("peft").is_null());
  EXPECT_EQ(read_from("Fine-tune Mistral-7B on 2x A100 80GB, no LoRA").methods, full);
  EXPECT_EQ(read_from("Llama-3.1-8B ohne LoRA auf einer A100 80GB trainieren").methods, full);
  EXPECT_EQ(read_from("不使用LoRA微调Qwen2.5-7B，一张A100 80G够吗").methods, full);
  EXPECT_EQ(read_from("Mistral-7B with neither LoRA nor quantization on an H100").methods, full);
}

TEST(Denied, QuantizationLeavesTheOtherTwo) {
  const SaidRequest said = read_from("fine-tune Llama-3.1-8B without quantization on a 4090, does it fit?");
  EXPECT_EQ(said.methods, (Methods{Method::lora, Method::full}));
  EXPECT_FALSE(said.method);
}

TEST(Denied, AMethodBesideItIsKept) {
  EXPECT_EQ(read_from("LoRA of Llama-3.1-8B without quantization on a 4090").methods, Methods{Method::lora});
  EXPECT_EQ(read_from("no packing and LoRA on Llama-3.1-8B, 4090").methods, Methods{Method::lora});
}

TEST(Denied, NoPlanProposesIt) {
  SaidRequest plain = read_from("LoRA of Llama-3.1-8B without quantization on a T4, does it fit?");
  EXPECT_EQ(plain.values["/locks"], json::Json::array({"quantization"}));
  SaidRequest whole = read_from("fine-tune llama-2-7b without LoRA on one 3090");
  EXPECT_EQ(whole.values["/locks"], json::Json::array({"peft"}));
  EXPECT_EQ(read_from("LoRA instead of QLoRA for Llama-3.1-8B on a 4090").values.count("/locks"), 0U);
}

TEST(Denied, DeepSpeedAndFsdpAreNotOffered) {
  const std::string without =
      answered_with("Fine-tune Qwen2.5-7B with LoRA on 2x RTX 4090, not using DeepSpeed. Fits?");
  EXPECT_FALSE(says_part(without, "them (ZeRO-3)")) << without;
  EXPECT_TRUE(says_part(without, "divided over them (FSDP)")) << without;
  const std::string neither =
      answered_with("LoRA of Qwen2.5-7B on 2x RTX 4090 without DeepSpeed and FSDP, fits?");
  EXPECT_FALSE(says_part(neither, "the weights divided over them")) << neither;
}

TEST(Denied, CountsAndCardsAreReadHoweverTheyAreWritten) {
  const auto count = [](std::string_view text) { return read_from(text).values["/parallel/num_gpus"]; };
  EXPECT_EQ(count("train Llama 3 70B with QLoRA on 4 * NVIDIA A10G 24 Gb"), json::Json(4));
  EXPECT_EQ(count("LoRA of Qwen2.5-7B on 2 NVIDIA GeForce RTX 4090"), json::Json(2));
  EXPECT_EQ(count("2台机器每台8张A100 80G，全参微调Qwen2.5-72B"), json::Json(16));
  EXPECT_EQ(count("用两台8卡H100机器做Llama-3.1-70B全参微调"), json::Json(16));
  EXPECT_EQ(count("四张4090能微调Qwen2.5-7B吗"), json::Json(4));
  const SaidRequest turing = read_from("Qwen3-VL 2B Instruct在8张RTX6000上使用LoRA finetune");
  ASSERT_FALSE(turing.cards.empty());
  EXPECT_EQ(turing.cards.front().gpu->id, "quadro-rtx-6000");
  EXPECT_EQ(turing.cards.front().count, 8);
}

TEST(Denied, AMacBookProIsNoM3Pro) {
  EXPECT_EQ(read_from("M3 Max MacBook Pro 64GB, LoRA of Llama-3.1-8B").cards.front().gpu->id, "apple-m3-max");
  EXPECT_EQ(read_from("M3 Pro MacBook Pro 36GB, LoRA of Llama-3.1-8B").cards.front().gpu->id, "apple-m3-pro");
  const std::string any = answered_with("Can I LoRA fine-tune Llama-3.1-8B on a MacBook Pro 64 GB?");
  EXPECT_TRUE(says_part(any, "A Mac is read, but not covered")) << any;
  EXPECT_FALSE(says_part(any, "fits")) << any;
}

TEST(Denied, AnEncoderIsTrainedWhole) {
  EXPECT_EQ(read_from("Which GPU for roberta-large text classification, 512 tokens?").methods,
            Methods{Method::full});
  EXPECT_EQ(read_from("LoRA of roberta-large on a T4").methods, Methods{Method::lora});
}

TEST(Denied, ASizeThatStandsFirstNamesTheModelBehindIt) {
  EXPECT_EQ(read_from("请问一下用一块24g的4090可以lora微调8B的InternVL2.5不？").model,
            "OpenGVLab/InternVL2_5-8B");
  EXPECT_EQ(read_from("QLoRA of 7B Mistral on a 3060 12GB?").model, "Mistral-7B");
  EXPECT_EQ(read_from("Can I train an 8B model with LoRA on a 3090?").model, "");
}

TEST(Denied, AnInputAndAnOutputMakeASample) {
  SaidRequest said =
      read_from("ChatGLM3-6B on a 4090, max_input_length: 2048 max_output_length: 512, LoRA r 4");
  EXPECT_EQ(said.values["/training/max_length"], json::Json(2560));
  EXPECT_TRUE(said.weighed.empty());
}

}  // namespace
}  // namespace plimsoll::question
