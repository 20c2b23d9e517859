// What a sentence denies is neither taken nor offered.
#include <gtest/gtest.h>

#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

bool says_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
using Methods = std::vector<Method>;

TEST(Denied, AdaptersLeaveFullFineTuning) {
  const Methods full = {Method::full};
  const SaidRequest request =
      said("finetune the llama-7b model without any PEFT and Quantization on one A100 80GB");
  EXPECT_EQ(request.methods, full);
  EXPECT_TRUE(request.method);
  EXPECT_TRUE(request.request().at("peft").is_null());
  EXPECT_EQ(said("Fine-tune Mistral-7B on 2x A100 80GB, no LoRA").methods, full);
  EXPECT_EQ(said("Llama-3.1-8B ohne LoRA auf einer A100 80GB trainieren").methods, full);
  EXPECT_EQ(said("不使用LoRA微调Qwen2.5-7B，一张A100 80G够吗").methods, full);
  EXPECT_EQ(said("Mistral-7B with neither LoRA nor quantization on an H100").methods, full);
}

TEST(Denied, QuantizationLeavesTheOtherTwo) {
  const SaidRequest request = said("fine-tune Llama-3.1-8B without quantization on a 4090, does it fit?");
  EXPECT_EQ(request.methods, (Methods{Method::lora, Method::full}));
  EXPECT_FALSE(request.method);
}

TEST(Denied, AMethodBesideItIsKept) {
  EXPECT_EQ(said("LoRA of Llama-3.1-8B without quantization on a 4090").methods, Methods{Method::lora});
  EXPECT_EQ(said("no packing and LoRA on Llama-3.1-8B, 4090").methods, Methods{Method::lora});
}

TEST(Denied, NoPlanProposesIt) {
  SaidRequest plain = said("LoRA of Llama-3.1-8B without quantization on a T4, does it fit?");
  EXPECT_EQ(plain.values["/locks"], json::Json::array({"quantization"}));
  SaidRequest whole = said("fine-tune llama-2-7b without LoRA on one 3090");
  EXPECT_EQ(whole.values["/locks"], json::Json::array({"peft"}));
  EXPECT_EQ(said("LoRA instead of QLoRA for Llama-3.1-8B on a 4090").values.count("/locks"), 0U);
}

TEST(Denied, DeepSpeedAndFsdpAreNotOffered) {
  const std::string without =
      words_for("Fine-tune Qwen2.5-7B with LoRA on 2x RTX 4090, not using DeepSpeed. Fits?");
  EXPECT_FALSE(says_part(without, "them (ZeRO-3)")) << without;
  EXPECT_TRUE(says_part(without, "divided over them (FSDP)")) << without;
  const std::string neither =
      words_for("LoRA of Qwen2.5-7B on 2x RTX 4090 without DeepSpeed and FSDP, fits?");
  EXPECT_FALSE(says_part(neither, "the weights divided over them")) << neither;
}

TEST(Denied, CountsAndCardsAreReadHoweverTheyAreWritten) {
  const auto count = [](std::string_view text) { return said(text).values["/parallel/num_gpus"]; };
  EXPECT_EQ(count("train Llama 3 70B with QLoRA on 4 * NVIDIA A10G 24 Gb"), json::Json(4));
  EXPECT_EQ(count("LoRA of Qwen2.5-7B on 2 NVIDIA GeForce RTX 4090"), json::Json(2));
  EXPECT_EQ(count("2台机器每台8张A100 80G，全参微调Qwen2.5-72B"), json::Json(16));
  EXPECT_EQ(count("用两台8卡H100机器做Llama-3.1-70B全参微调"), json::Json(16));
  EXPECT_EQ(count("四张4090能微调Qwen2.5-7B吗"), json::Json(4));
  const SaidRequest turing = said("Qwen3-VL 2B Instruct在8张RTX6000上使用LoRA finetune");
  ASSERT_FALSE(turing.cards.empty());
  EXPECT_EQ(turing.cards.front().gpu->id, "quadro-rtx-6000");
  EXPECT_EQ(turing.cards.front().count, 8);
}

TEST(Denied, AMacBookProIsNoM3Pro) {
  EXPECT_EQ(said("M3 Max MacBook Pro 64GB, LoRA of Llama-3.1-8B").cards.front().gpu->id, "apple-m3-max");
  EXPECT_EQ(said("M3 Pro MacBook Pro 36GB, LoRA of Llama-3.1-8B").cards.front().gpu->id, "apple-m3-pro");
  const std::string any = words_for("Can I LoRA fine-tune Llama-3.1-8B on a MacBook Pro 64 GB?");
  EXPECT_TRUE(says_part(any, "A Mac is read, but not covered")) << any;
  EXPECT_FALSE(says_part(any, "fits")) << any;
}

TEST(Denied, AnEncoderIsTrainedWhole) {
  EXPECT_EQ(said("Which GPU for roberta-large text classification, 512 tokens?").methods,
            Methods{Method::full});
  EXPECT_EQ(said("LoRA of roberta-large on a T4").methods, Methods{Method::lora});
}

TEST(Denied, ASizeThatStandsFirstNamesTheModelBehindIt) {
  EXPECT_EQ(said("请问一下用一块24g的4090可以lora微调8B的InternVL2.5不？").model, "OpenGVLab/InternVL2_5-8B");
  EXPECT_EQ(said("QLoRA of 7B Mistral on a 3060 12GB?").model, "Mistral-7B");
  EXPECT_EQ(said("Can I train an 8B model with LoRA on a 3090?").model, "");
}

TEST(Denied, AnInputAndAnOutputMakeASample) {
  SaidRequest request =
      said("ChatGLM3-6B on a 4090, max_input_length: 2048 max_output_length: 512, LoRA r 4");
  EXPECT_EQ(request.values["/training/max_length"], json::Json(2560));
  EXPECT_TRUE(request.weighed.empty());
}

}  // namespace
}  // namespace plimsoll::question
