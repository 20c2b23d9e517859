// Mistakes that a newcomer found in how sentences become a request, each mended once.
#include <gtest/gtest.h>

#include "core/report/diagnose.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

constexpr const char *micro = "/training/per_device_train_batch_size",
                     *steps = "/training/gradient_accumulation_steps", *length = "/training/max_length",
                     *checkpointing = "/training/gradient_checkpointing", *dtype = "/model_args/dtype",
                     *optim = "/training/optim";

TEST(NewcomerQuestion, AnEffectiveBatchIsSharedOutOverCardsAndAccumulation) {
  const char* eight = "global batch size 128, LoRA Llama 3.1 8B on 8x A100 80GB, seq 2048, does it fit?";
  EXPECT_EQ(value_of(eight, micro), "");
  EXPECT_EQ(value_of(eight, steps), "16");
  const char* four =
      "SFT of Qwen2.5-7B LoRA, effective batch size 64, gradient accumulation 16, 4 GPUs A100 40GB, seq 4096";
  EXPECT_EQ(value_of(four, micro), "1");
  EXPECT_EQ(value_of("globale Batchgröße 32, LoRA Llama 3.1 8B auf 4x L40S", steps), "8");
  EXPECT_EQ(value_of("总批次大小64，LoRA Llama-3.1-8B，8张A100 80GB", micro), "");
}

// One L4 it was, of a list of boards that had the A10.
TEST(NewcomerQuestion, EveryCardThatIsKnownIsCountedByItsName) {
  const char* counted = "/parallel/num_gpus";
  EXPECT_EQ(value_of("LoRA Llama 3.1 8B on 8 L4, 2048 tokens", counted), "8");
  EXPECT_EQ(value_of("LoRA Llama 3.1 8B on 8 A10, 2048 tokens", counted), "8");
  EXPECT_EQ(value_of("LoRA Llama 3.1 8B on 2 5080, 2048 tokens", counted), "2");
}

TEST(NewcomerQuestion, AMicroBatchBesideAnEffectiveOneIsNotWeighedAgainstIt) {
  const char* both = "LoRA of Llama 3.1 8B on a 4090, micro batch size 1, effective batch size 32";
  EXPECT_TRUE(said(both).weighed.empty());
  EXPECT_EQ(value_of(both, micro), "1");
  EXPECT_EQ(value_of(both, steps), "32");
}

TEST(NewcomerQuestion, AnEffectiveBatchThatDoesNotDivideIsSaidToBeUnread) {
  EXPECT_EQ(said("LoRA of Llama 3.1 8B on 8x A100 80GB, effective batch 30").unread.size(), 1U);
}

TEST(NewcomerQuestion, SettingsAreReadInGermanAndChinese) {
  EXPECT_EQ(value_of("Reicht eine RTX 3090 für QLoRA mit Llama 3.1 8B und Batchgröße 2?", micro), "2");
  EXPECT_EQ(value_of("QLoRA mit Llama 3.1 8B, Batch-Größe 2", micro), "2");
  EXPECT_EQ(value_of("QLoRA mit Llama 3.1 8B, Sequenzlänge 2048", length), "2048");
  const char* chinese = "批次大小2，长度4096，秩16，QLoRA Llama-3.1-8B，3090够吗？";
  EXPECT_EQ(value_of(chinese, micro), "2");
  EXPECT_EQ(value_of(chinese, length), "4096");
  EXPECT_EQ(value_of(chinese, "/peft/r"), "16");
  EXPECT_EQ(value_of("批大小1，最大长度512，QLoRA Llama-3.1-8B，3090够吗？", micro), "1");
}

TEST(NewcomerQuestion, WhatIsDeniedInChineseIsOff) {
  EXPECT_EQ(value_of("LoRA Llama-3.1-8B，3090，没有开gradient checkpointing，够吗？", checkpointing),
            "false");
  EXPECT_EQ(value_of("LoRA Llama-3.1-8B，3090，没开梯度检查点", checkpointing), "false");
  EXPECT_EQ(value_of("LoRA Llama-3.1-8B，3090，gradient checkpointing关闭", checkpointing), "false");
  EXPECT_EQ(value_of("LoRA Llama-3.1-8B，3090，开了梯度检查点", checkpointing), "true");
}

TEST(NewcomerQuestion, ADenialEndsAtAComma) {
  EXPECT_EQ(value_of("LoRA of Llama-3.1-8B, no liger, packing", "/training/packing"), "true");
}

TEST(NewcomerQuestion, WeightsInFp32ArePricedSo) {
  const char* autocast = "Llama 3.2 3B full fine-tuning, weights in float32, bf16 autocast, A100 40GB";
  EXPECT_EQ(value_of(autocast, dtype), "\"float32\"");
  EXPECT_EQ(value_of(autocast, "/training/bf16"), "true");
  EXPECT_EQ(value_of("Mixed precision fp32 master weights full fine-tune Llama 3.1 8B on one H100", dtype),
            "\"float32\"");
  EXPECT_EQ(value_of("Full fine-tune of Llama 3.2 1B in full precision", "/training/bf16"), "false");
  EXPECT_EQ(value_of("Full fine-tune of Llama 3.2 1B with fp32 optimizer states", dtype), "");
  EXPECT_EQ(value_of("Full fine-tune of Llama 3.2 1B with paged_adamw_32bit", dtype), "");
}

TEST(NewcomerQuestion, ThatAllWeightsAreTrainedInSixteenBitsIsSaid) {
  EXPECT_TRUE(has(words_for("Full fine-tune Llama 3.2 3B on an A100 40GB, does it fit?"), "16 bits"));
  EXPECT_FALSE(has(words_for("LoRA of Llama 3.2 3B on an A100 40GB, does it fit?"), "16 bits"));
}

TEST(NewcomerQuestion, AnOptimizerIsFoundByThePartsOfItsName) {
  EXPECT_EQ(value_of("Full fine-tune Llama 3.2 3B on an A100 40GB with Muon", optim), "\"muon\"");
  EXPECT_EQ(value_of("Full fine-tune Llama 3.2 3B with 8-bit Lion", optim), "\"lion_8bit\"");
  EXPECT_EQ(value_of("Full fine-tune Llama 3.2 3B with paged Lion", optim), "\"paged_lion_32bit\"");
  EXPECT_EQ(value_of("GaLore of Llama 3.1 8B on a 4090", optim), "\"galore_adamw\"");
  EXPECT_EQ(value_of("Full fine-tune with APOLLO", "/training/optim_target_modules"), "\"all-linear\"");
  EXPECT_EQ(value_of("QLoRA of Llama 3.1 8B in 4-bit with AdamW", optim), "");
  EXPECT_EQ(value_of("Full fine-tune of Llama 3.2 3B with the Adam optimizer", optim), "");
}

TEST(NewcomerQuestion, AVariantOfLoraIsOne) {
  const char* dora = "DoRA of Llama 3.1 8B on a 4090, does it fit?";
  EXPECT_EQ(said(dora).methods, (std::vector<Method>{Method::lora}));
  EXPECT_EQ(value_of(dora, "/peft/use_dora"), "true");
  EXPECT_EQ(value_of("rsLoRA of Llama 3.1 8B", "/peft/use_rslora"), "true");
  EXPECT_EQ(value_of("LoHa of Llama 3.1 8B", "/peft/peft_type"), "\"LOHA\"");
  EXPECT_EQ(value_of("What do I miss for Llama 3.1 8B on the road?", "/peft/peft_type"), "");
}

// Full fine-tuning alone was answered, and priced with DoRA where LoRA was named as well.
TEST(NewcomerQuestion, AVariantOfLoraIsHeldAgainstFullFineTuning) {
  const char* two = "DoRA or full fine-tuning of Llama 3.2 1B on a 4090, 1024 tokens?";
  EXPECT_EQ(said(two).methods, (std::vector<Method>{Method::lora, Method::full}));
  EXPECT_TRUE(has(words_for(two), " LoRA with DoRA on one GeForce RTX 4090 24GB needs")) << words_for(two);
  EXPECT_TRUE(has(words_for(two), " Full fine-tuning on one GeForce RTX 4090 24GB needs"));
  const Answers three =
      answer(said("DoRA instead of LoRA for Llama 3.2 1B, or full fine-tuning, on a 4090 with 1024 tokens?"),
             diagnosis::catalog());
  ASSERT_EQ(three.ways.size(), 3U) << three.words;
  EXPECT_TRUE(three.ways.front().request.at("peft").at("use_dora").get<bool>());
  EXPECT_TRUE(three.ways.back().request.at("peft").is_null());
}

TEST(NewcomerQuestion, APackedBaseIsRead) {
  const char* gptq = "LoRA on a GPTQ base of Llama 3.1 8B on a 3090, does it fit?";
  EXPECT_EQ(value_of(gptq, "/quantization/quant_method"), "\"gptq\"");
  EXPECT_TRUE(has(words_for(gptq), "GPTQ"));
}

TEST(NewcomerQuestion, LayersThatAloneAreTrainedAreCounted) {
  EXPECT_EQ(value_of("Full fine-tune Llama 3.1 8B freezing all but the last 4 layers",
                     "/training/freeze_trainable_layers"),
            "4");
  EXPECT_EQ(said("Full fine-tune Llama 3.1 8B with some blocks frozen").unread.size(), 1U);
}

TEST(NewcomerQuestion, OffloadIsThatOfWhatSharesTheRun) {
  const char* zero = "/parallel/zero_optimization/offload_optimizer/device";
  EXPECT_EQ(value_of("Full fine-tune Llama 3.1 8B on 2x A100 80GB with ZeRO-2 CPU offload", zero), "\"cpu\"");
  EXPECT_EQ(value_of("Full fine-tune Llama 3.1 8B on 2x A100 80GB with ZeRO-3, no offload", zero), "");
  EXPECT_EQ(
      value_of("Full fine-tune Llama 3.1 8B, optimizer offloaded to CPU", "/training/optimizer_offload"),
      "\"states\"");
}

TEST(NewcomerQuestion, WhatIsNamedAndHasNoFieldIsSaidToBeUnread) {
  EXPECT_TRUE(has(words_for("Full fine-tune Llama 3.1 8B on an H100 with FP8 training, does it fit?"),
                  "not read and not counted: FP8"));
  EXPECT_TRUE(has(words_for("Full fine-tune Llama 3.2 1B on an H100 with the Sophia optimizer?"), "Sophia"));
}

TEST(NewcomerQuestion, ModulesToSaveAndASizeAloneAreRead) {
  const SaidRequest one = said("LoRA with embed_tokens and lm_head in modules_to_save, Llama 3.1 8B, 24GB");
  EXPECT_EQ(one.values.at("/peft/modules_to_save"), json::Json({"embed_tokens", "lm_head"}));
  EXPECT_EQ(one.card_bytes, 24.0 * (1U << 30U));
  EXPECT_EQ(said("LoRA of Llama 3.1 8B with 64GB RAM").card_bytes, 0);
}

TEST(NewcomerQuestion, AQuestionBehindAColonIsNoReport) {
  const auto told = [](std::string_view text) {
    return report::diagnosis_text(text, "", "", diagnosis::catalog());
  };
  EXPECT_TRUE(has(told("Full fine-tune Llama 3.2 3B on an A100 40GB: does it fit?"), R"("messages":[])"));
  EXPECT_TRUE(has(told("batch_size=2, 长度4096, QLoRA Llama-3.1-8B, 3090够吗？"), R"("messages":[])"));
  EXPECT_TRUE(has(told("QLoRA r=256 Llama 3.1 8B 3090"), R"("ok":true)"));
}

TEST(NewcomerQuestion, AModelIsTheOneThatIsNamed) {
  EXPECT_EQ(said("Can I fine-tune Whisper large v3 on a 3090?").model, "Whisper-large-v3");
  EXPECT_EQ(said("Can I LoRA Llama3-8B on a 3090?").model, "meta-llama/Meta-Llama-3-8B");
  EXPECT_TRUE(has(words_for("Can I fine-tune Whisper large v3 on a 3090?"), "Whisper-large-v3:"));
}

TEST(NewcomerQuestion, AModelThatIsNotKnownIsCalledByItsName) {
  EXPECT_EQ(said("Nemotron Nano 9B v2 LoRA on L40S").unknown_model, "Nemotron Nano 9B");
  EXPECT_EQ(said("Can I train a 13B with LoRA on a 4090?").unknown_model, "");
  EXPECT_TRUE(
      has(words_for("Nemotron Nano 9B v2 LoRA on L40S, does it fit?"), "no model that is known by name"));
}

TEST(NewcomerQuestion, ACardThatIsNotKnownIsCalledByItsName) {
  EXPECT_EQ(said("QLoRA of Llama 3.2 3B on an RTX A2000 12GB").unknown_card, "RTX A2000");
  EXPECT_EQ(said("QLoRA of Llama 3.2 3B on an RTX A2000 12GB").card_bytes, 12.0 * (1U << 30U));
  EXPECT_EQ(said("NVIDIA DGX Spark 128GB: LoRA of Llama 3.3 70B?").unknown_card, "");
  EXPECT_EQ(said("LoRA of Llama 3.3 70B on one MI355X").unknown_card, "MI355X");
  EXPECT_EQ(said("LoRA of Llama 3.3 70B in bf16 with r64 on 4 GPUs").unknown_card, "");
}

TEST(NewcomerQuestion, VariantsOfACardAreMeantWhereTheirOwnWordIsSaid) {
  const auto card = [](const char* words) {
    const SaidRequest read = said(words);
    return read.cards.empty() ? std::string() : read.cards.front().gpu->id;
  };
  EXPECT_EQ(card("LoRA of Qwen2.5-7B on 8 x A800 80G"), "a800-sxm-80");
  EXPECT_EQ(card("QLoRA of Llama 3.1 8B on a 4090"), "rtx-4090");
  EXPECT_EQ(card("QLoRA of Llama 3.1 8B on a 4090D"), "rtx-4090-d");
  EXPECT_EQ(card("LoRA llama 8b 4090 48G"), "rtx-4090-48");
  EXPECT_EQ(card("QLoRA 7B on 2080ti 22g"), "rtx-2080-ti-22");
}

TEST(NewcomerQuestion, TheSmallestCardIsNamedWhereNoneIs) {
  EXPECT_TRUE(has(words_for("minimum GPU for LoRA of Gemma 3 12B?"), "the smallest card that it fits has "));
}

TEST(NewcomerQuestion, WhatASettingBringsIsWeighed) {
  EXPECT_TRUE(has(words_for("will flash attention help? LoRA Llama 3.1 8B 4096 tokens"), "no difference"));
  EXPECT_TRUE(has(words_for("How much does gradient checkpointing save for LoRA of Llama 3.1 8B?"),
                  "without gradient checkpointing"));
}

TEST(NewcomerQuestion, VllmOnOneCardSharesIt) {
  const Answers one = answer(said("GRPO LoRA with vLLM Qwen2.5-3B on 24GB possible?"), diagnosis::catalog());
  ASSERT_FALSE(one.ways.empty());
  EXPECT_TRUE(has(one.ways.front().parts, "inference engine"));
  EXPECT_FALSE(one.ways.front().request.contains("hardware"));
}

TEST(NewcomerQuestion, TwoTasksAreWeighedInOneLibrary) {
  const Answers both =
      answer(said("how much memory does DPO need vs SFT for Llama 3.1 8B LoRA?"), diagnosis::catalog());
  ASSERT_EQ(both.ways.size(), 2U);
  EXPECT_EQ(both.ways[0].request.at("stack"), both.ways[1].request.at("stack"));
  EXPECT_LT(both.ways[0].needed, 1.2 * both.ways[1].needed);
}

TEST(NewcomerQuestion, AnOpenLengthHoldsTheImagesOfASample) {
  const std::string words = words_for("Fine-tune Qwen2.5-VL-7B with high-res images 1920x1080 LoRA on 3090");
  EXPECT_TRUE(has(words, "3072 tokens")) << words;
  EXPECT_TRUE(has(words_for("Fine-tune Qwen2.5-VL-7B with LoRA on 3090, images 448x448"), "1024 tokens"));
}

TEST(NewcomerQuestion, SamplesEpochsAndTheLibraryAreTakenFromASentence) {
  const char* both =
      "LoRA of Qwen2.5-7B on an A100 80GB with 10k samples and 3 epochs in LLaMA-Factory, how long?";
  EXPECT_EQ(value_of(both, "/data/samples"), "10000");
  EXPECT_EQ(value_of(both, "/data/epochs"), "3");
  EXPECT_EQ(value_of(both, "/stack"), "\"llamafactory\"");
  EXPECT_TRUE(has(words_for(both), "The whole run takes about"));
  EXPECT_EQ(value_of("QLoRA of mistral 7b on a 3090, 50,000 examples, using axolotl", "/data/samples"),
            "50000");
  EXPECT_EQ(value_of("QLoRA of mistral 7b on a 3090, axolotl or torchtune?", "/stack"), "");
  EXPECT_EQ(value_of("QLoRA of mistral 7b on a 3090, 64 samples at once", "/data/samples"), "");
}

TEST(NewcomerQuestion, AGpuForVllmAloneTrainsNothing) {
  const char* apart = "GRPO of Qwen2.5-7B with LoRA on two A100 80GB, one GPU for vLLM, one for training";
  EXPECT_EQ(value_of(apart, "/rl/vllm_mode"), "\"server\"");
  const Answers one = answer(said(apart), diagnosis::catalog());
  ASSERT_FALSE(one.ways.empty());
  EXPECT_EQ(one.ways.front().request.at("parallel").at("num_gpus"), json::Json(1));
  EXPECT_EQ(value_of("GRPO LoRA of Qwen2.5-7B on 4 A100 80GB, vLLM on a separate GPU", "/rl/vllm_mode"),
            "\"server\"");
  EXPECT_EQ(value_of("GRPO LoRA of Qwen2.5-7B on a 4090 with vllm", "/rl/vllm_mode"), "\"colocate\"");
}

TEST(NewcomerQuestion, AConfigBesideTheSentenceIsTheModel) {
  const std::string config =
      R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
          "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
          "tie_word_embeddings": false, "max_position_embeddings": 32768})";
  const std::string question = "Will QLoRA with rank 32 of this fit on a 4090 at 4096 tokens?";
  for (const std::string& text : {question + "\n" + config, config + "\n" + question}) {
    const SaidRequest said = said_in(text, diagnosis::catalog());
    EXPECT_EQ(said.request().at("model").at("config").at("hidden_size"), json::Json(3584));
    EXPECT_EQ(said.request().at("training").at("max_length"), json::Json(4096));
    const Answers one = answer(said, diagnosis::catalog());
    ASSERT_EQ(one.ways.size(), 1U);
    EXPECT_TRUE(has(one.words, "QLoRA on one GeForce RTX 4090"));
  }
}

}  // namespace
}  // namespace plimsoll::question
