// A question in words: the request that it says, what it leaves open, and the answer.
#include <gtest/gtest.h>

#include "core/json/rounding.h"
#include "core/question/said_words.h"
#include "core/report/diagnose.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

bool is_unknown(const SaidRequest& request, std::string_view pointer) {
  for (const auto& one : request.unknown) {
    if (one.pointer == pointer) return true;
  }
  return false;
}

TEST(SaidRequest, HoldsWhatTheTextSaysAndNothingElse) {
  const SaidRequest one =
      said("Will QLoRA of Llama 3.1 8B with 8,192 tokens and batch size 2 run on two RTX 3090?");
  EXPECT_EQ(one.model, "Llama-3.1-8B");
  EXPECT_EQ(value_of(one, "/quantization/load_in_4bit"), "true");
  EXPECT_EQ(value_of(one, "/hardware/gpu"), "\"rtx-3090\"");
  EXPECT_EQ(value_of(one, "/parallel/num_gpus"), "2");
  EXPECT_EQ(value_of(one, "/training/max_length"), "8192");
  EXPECT_EQ(value_of(one, "/training/per_device_train_batch_size"), "2");
  EXPECT_EQ(value_of(one, "/parallel/strategy"), "");
  EXPECT_TRUE(one.unknown.empty());
}

TEST(SaidRequest, AModelThatSeesMayBeTrainedOnTextOnly) {
  for (const char* words : {"text only", "on plain text (no images)", "nur Text", "ohne Bilder"}) {
    const SaidRequest one = said(std::string("QLoRA of gemma 3 4b on a 3090 at 2k, ") + words);
    EXPECT_EQ(value_of(one, "/vision/images_per_sample"), "0") << words;
    EXPECT_FALSE(is_unknown(one, "/vision/images_per_sample")) << words;
  }
  EXPECT_TRUE(is_unknown(said("QLoRA of gemma 3 4b on a 3090 at 2k"), "/vision/images_per_sample"));
  EXPECT_EQ(value_of(said("QLoRA of Llama 3.1 8B on a 3090 at 2k, text only"), "/vision/images_per_sample"),
            "");
}

TEST(SaidRequest, ALengthMayStandBehindAt) {
  EXPECT_EQ(value_of(said("QLoRA of Llama 3.1 8B on a 4090 at 4k"), "/training/max_length"), "4096");
  EXPECT_EQ(value_of(said("Will LoRA of Qwen2.5-VL-7B on a 4090 fit with photos at 4k resolution?"),
                     "/training/max_length"),
            "");
}

TEST(SaidRequest, ALengthBehindAtNeedsNoUnit) {
  EXPECT_EQ(value_of(said("LoRA of Qwen2.5-7B on a T4 at 1024"), "/training/max_length"), "1024");
  EXPECT_EQ(value_of(said("LoRA of Qwen2.5-7B on a T4 dies at 512 steps"), "/training/max_length"), "");
}

TEST(SaidRequest, ThousandsThatNothingElseClaimsAreALength) {
  EXPECT_EQ(value_of(said("deepseek-r1-distill-llama-8b lora on 4090 8k"), "/training/max_length"), "8192");
  EXPECT_EQ(value_of(said("LoRA of Llama 3.1 8B on a 4090 with 8k samples"), "/training/max_length"), "");
}

TEST(SaidRequest, AModelIsFoundByHowItsNameAloneBegins) {
  EXPECT_EQ(said("mistral nemo 12b lora r64 on 2x4090").model, "mistralai/Mistral-Nemo-Base-2407");
  EXPECT_EQ(said("qwen3 30b a3b qlora 4090").model, "qwen3-30b-a3b");
  EXPECT_NE(said("llama 4 scout qlora h100").model, "");
  EXPECT_NE(said("lora of tinyllama on a t4").model, "");
  EXPECT_EQ(said("lora of a llama on a t4").model, "");
}

TEST(SaidRequest, ImagesOfASampleAreCountedWhereTheModelSeesThem) {
  const char* images = "/vision/images_per_sample";
  EXPECT_EQ(value_of(said("LoRA of Qwen2.5-VL-7B with 2 images a sample on an A6000"), images), "2");
  EXPECT_EQ(value_of(said("LoRA of Qwen2.5-VL-7B with 1280x1280 images on an A6000"), images), "");
  EXPECT_EQ(value_of(said("Qwen2.5-VL-7B, images are 1024x768, 3 per sample, on an L40S"), images), "3");
  EXPECT_EQ(value_of(said("LoRA of Qwen2.5-7B on captions of 2 images on an A6000"), images), "");
}

TEST(SaidRequest, TheNameOfACardIsNoLength) {
  EXPECT_EQ(value_of(said("lora qwen2.5-7b on my 3090 seq 2048"), "/training/max_length"), "2048");
  EXPECT_EQ(value_of(said("lora qwen2.5-7b 4090 ctx 8k"), "/training/max_length"), "8192");
  EXPECT_EQ(value_of(said("qlora llama 3.1 8b bs 4 len 4096 4090"), "/training/max_length"), "4096");
}

TEST(SaidRequest, APrecisionIsSaidInALineAndNotInALog) {
  EXPECT_EQ(value_of(said("LoRA of Qwen2.5-7B in bf16 on a T4"), "/training/bf16"), "true");
  EXPECT_EQ(value_of(said("LoRA of Qwen2.5-7B in fp16 on a V100 32GB"), "/training/fp16"), "true");
  EXPECT_EQ(value_of(said("LoRA of Qwen2.5-7B: bf16 or fp16 on a 4090?"), "/training/bf16"), "");
}

TEST(SaidRequest, FramesSayHowTheCardsShareTheRun) {
  EXPECT_EQ(value_of(said("  File \"/x/deepspeed/runtime/zero/stage3.py\", line 2061, in step\n"
                          "    self._prepare_sub_group(sub_group_id, timer_names)"),
                     "/parallel/strategy"),
            "\"zero3\"");
}

TEST(SaidRequest, TheFrameOfATrainerSaysTheTask) {
  EXPECT_EQ(
      value_of(said("File \"/opt/lib/trl/trainer/dpo_trainer.py\", line 1510, in compute_loss"), "/task"),
      "\"dpo\"");
  EXPECT_EQ(value_of(said("File \"C:\\\\lib\\trl\\trainer\\grpo_trainer.py\", line 9, in f"), "/task"),
            "\"grpo\"");
  EXPECT_EQ(value_of(said("File \"/opt/lib/trl/trainer/sft_trainer.py\", line 9, in compute_loss"), "/task"),
            "");
}

TEST(SaidRequest, WhoTrainsAllWeightsHasSaidTheMethod) {
  EXPECT_TRUE(said("Full fine-tuning of Llama-3.1-8B on 8x H100?").request().at("peft").is_null());
  EXPECT_FALSE(said("Fine-tuning of Llama-3.1-8B on 8x H100?").request().contains("peft"));
}

TEST(SaidRequest, AStageOfZeroIsNoLength) {
  EXPECT_EQ(
      value_of(said("Will Qwen2.5-7B fit on 4x A100 40GB with ZeRO-3, sequence length 2048, batch size 1?"),
               "/training/max_length"),
      "2048");
}

TEST(SaidRequest, AMethodThatNobodyStatesIsUnknown) {
  const SaidRequest one = said("Can I train Mistral-7B-v0.3 on a 4090?");
  EXPECT_FALSE(one.method);
  EXPECT_TRUE(is_unknown(one, "/peft"));
  EXPECT_EQ(value_of(one, "/peft"), "");
}

TEST(SaidRequest, ABoardOfSeveralSizesIsNoCardUntilItsSizeIsSaid) {
  EXPECT_EQ(value_of(said("LoRA of Mistral-7B-v0.3 on an A100?"), "/hardware/gpu"), "");
  EXPECT_EQ(value_of(said("LoRA of Mistral-7B-v0.3 on an A100 40GB?"), "/hardware/gpu"), "\"a100-sxm-40\"");
}

TEST(SaidRequest, TiAndSuperAreOtherCards) {
  EXPECT_EQ(value_of(said("LoRA of Llama-3.2-3B on an RTX 4070 Ti Super?"), "/hardware/gpu"),
            "\"rtx-4070-ti-super\"");
  EXPECT_EQ(value_of(said("LoRA of Llama-3.2-3B on an RTX 4070?"), "/hardware/gpu"), "\"rtx-4070\"");
}

TEST(SaidRequest, OfTwoWaysToShareThatAreWeighedNoneIsSaid) {
  EXPECT_EQ(value_of(said("Mistral-7B-v0.3 on 4 x L40S: ZeRO-3, or is ZeRO-2 enough?"), "/parallel/strategy"),
            "");
}

TEST(SaidRequest, DoesNotTakeTheOptimizersBitsForTheBases) {
  EXPECT_EQ(value_of(said("LoRA of Mistral-7B-v0.3 with 8-bit Adam?"), "/quantization/load_in_8bit"), "");
}

TEST(SaidRequest, OfTwoBatchesNeitherIsTheRuns) {
  const SaidRequest two =
      said("LoRA of Llama-3.1-8B works with batch 1 but with batch 8 it is out of memory");
  EXPECT_EQ(value_of(two, "/training/per_device_train_batch_size"), "");
  EXPECT_EQ(value_of(two, "/peft"), "true");  // what works is the same method
  EXPECT_EQ(value_of(said("Qwen2.5-7B 全量微调, bs=1"), "/training/per_device_train_batch_size"), "1");
}

TEST(SaidRequest, ANumberBelongsToTheWordsBesideIt) {
  const SaidRequest one = said(
      "GRPO of Qwen2.5-3B with LoRA rank 32, 16 generations, prompt length 512, max completion length 1,024, "
      "per_device_eval_batch_size=4, gradient accumulation 8 on 4 cards, H100");
  EXPECT_EQ(value_of(one, "/peft/r"), "32");
  EXPECT_EQ(value_of(one, "/rl/num_generations"), "16");
  EXPECT_EQ(value_of(one, "/rl/max_prompt_length"), "512");
  EXPECT_EQ(value_of(one, "/rl/max_completion_length"), "1024");
  EXPECT_EQ(value_of(one, "/training/per_device_eval_batch_size"), "4");
  EXPECT_EQ(value_of(one, "/training/gradient_accumulation_steps"), "8");
  EXPECT_EQ(value_of(one, "/parallel/num_gpus"), "4");
  EXPECT_EQ(value_of(one, "/training/max_length"), "");
  EXPECT_EQ(value_of(one, "/training/per_device_train_batch_size"), "");
}

TEST(SaidRequest, ARunIsReadAsItIsTypedInAHurry) {
  const SaidRequest one =
      said("grpo qwen 2.5 7b instruct, colocate vllm, 2xH100 80GB, 1024 prompt 2048 completion");
  EXPECT_EQ(one.model, "qwen2.5-7b");
  EXPECT_EQ(value_of(one, "/task"), "\"grpo\"");
  EXPECT_EQ(value_of(one, "/hardware/gpu"), "\"h100-sxm\"");
  EXPECT_EQ(value_of(one, "/parallel/num_gpus"), "2");
  EXPECT_EQ(value_of(one, "/rl/max_prompt_length"), "1024");
  EXPECT_EQ(value_of(one, "/rl/max_completion_length"), "2048");
  EXPECT_TRUE(one.weighed.empty());  // the two numbers are no lengths to choose from
  EXPECT_EQ(value_of(said("QLoRA von Llama 3.1 70B auf zwei RTX 3090"), "/parallel/num_gpus"), "2");
  EXPECT_EQ(value_of(said("QLoRA of Llama 3.1 8B on 4x4090"), "/parallel/num_gpus"), "4");
}

TEST(SaidRequest, BitsBelongToTheOptimizerBesideThem) {
  const SaidRequest full = said("full finetune of Qwen3-4B, adamw 8bit");
  EXPECT_EQ(value_of(full, "/training/optim"), "\"adamw_8bit\"");
  EXPECT_EQ(value_of(full, "/quantization/load_in_8bit"), "");
  const SaidRequest both = said("8-bit LoRA of Llama-2-13b with paged AdamW");
  EXPECT_EQ(value_of(both, "/quantization/load_in_8bit"), "true");
  EXPECT_EQ(value_of(both, "/training/optim"), "\"paged_adamw_32bit\"");
}

TEST(SaidRequest, WhatIsDeniedIsNotSaid) {
  EXPECT_EQ(
      value_of(said("LoRA of Llama-3.1-8B, no gradient checkpointing"), "/training/gradient_checkpointing"),
      "false");
  EXPECT_EQ(said("Mistral-7B-v0.3 with plain LoRA, not QLoRA").methods, (std::vector<Method>{Method::lora}));
}

TEST(SaidRequest, AModelOfASizeIsTakenForAnAnswerAndForNothingElse) {
  const SaidRequest one = said("QLoRA of a 13B on a 4090?");
  EXPECT_EQ(one.model, "");
  EXPECT_EQ(one.like, "meta-llama/Llama-2-13b-hf");
  EXPECT_EQ(one.billions, 13);
}

TEST(SaidRequest, OfNothingIsEmpty) {
  for (const char* text : {"", "\n", " ? ", "\xE4\xB8\xAD", "4", "r"})
    EXPECT_EQ(said(text).values.size(), 0U) << text;
}

TEST(SaidWords, ALetterWithAnAccentIsALetter) {
  const SaidWords words = split("l\xC3\xA4nge 4.096 \xC3\x97 2");
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0].text, "l\xC3\xA4nge");
  EXPECT_EQ(words[2].text, "x");
}

TEST(Answers, SayWhatTheMemoryIs) {
  const Answers why =
      answer(said("Why does full fine-tuning of Llama-3.2-3B need so much more than its 6 GB of weights?"),
             diagnosis::catalog());
  ASSERT_EQ(why.ways.size(), 1U);
  EXPECT_EQ(why.ways.front().parts.substr(0, 10), "optimizer ");
  EXPECT_NE(why.words.find("At its peak"), std::string::npos);
}

TEST(Answers, WhichModelFitsIsAnsweredWithTheLargest) {
  for (const char* text : {"Which models can I QLoRA on a 4060 laptop?",
                           "Welches Modell passt mit QLoRA auf eine RTX 4060 Laptop?"}) {
    const Answers one = answer(said(text), diagnosis::catalog());
    ASSERT_EQ(one.ways.size(), 1U) << text;
    EXPECT_EQ(one.ways.front().verdict, "fits") << text;
  }
}

TEST(Answers, WeightsInFp32ThatNobodySaidAreNamed) {
  const auto taken = [](std::string_view text) { return answer(said(text), diagnosis::catalog()).words; };
  constexpr const char* wide = "weights loaded in float32";
  EXPECT_NE(taken("Full fine-tuning of bert-base-uncased on a 4090?").find(wide), std::string::npos);
  EXPECT_EQ(taken("LoRA of Qwen2.5-7B on an A100 80GB?").find(wide), std::string::npos);
}

// Nobody who asks whether DPO fits loads fp32, as TRL does where it is told nothing.
TEST(Answers, WeightsOfATrlTaskAreTakenIn16Bits) {
  const auto answered = [](std::string_view text) { return answer(said(text), diagnosis::catalog()); };
  const Answers dpo = answered("DPO of Qwen2.5-7B with LoRA on an A100 80GB?");
  EXPECT_NE(dpo.words.find("weights loaded in bfloat16"), std::string::npos) << dpo.words;
  EXPECT_EQ(dpo.ways.front().request["model_args"]["dtype"], json::Json("bfloat16"));
  const Answers axolotl = answered("DPO of Qwen2.5-7B with LoRA in Axolotl on an A100 80GB?");
  EXPECT_EQ(axolotl.ways.front().request["stack"], json::Json("axolotl"));
}

TEST(Answers, WhatIsOffloadedNeedsTheMachinesMemory) {
  const Answers moved = answer(
      said("Full fine-tuning of Qwen2.5-7B on 2x 4090 with deepspeed zero3 offload?"), diagnosis::catalog());
  EXPECT_NE(moved.words.find("of the machine's RAM at least"), std::string::npos) << moved.words;
}

TEST(Answers, WhereNoLengthIsSaidTheLongestThatFitsIs) {
  const Answers open =
      answer(said("How long a context for QLoRA of Llama-3.1-8B on a 4090?"), diagnosis::catalog());
  EXPECT_NE(open.words.find("Samples of up to "), std::string::npos);
  const Answers told =
      answer(said("QLoRA of Llama-3.1-8B on a 4090 with 2048 tokens, does it fit?"), diagnosis::catalog());
  EXPECT_EQ(told.words.find("Samples of up to "), std::string::npos);
}

// Unsloth trains in one process: ZeRO-3 is no way to share its run out.
TEST(Answers, WhatRunsInOneProcessIsACopyOnEachCard) {
  const Answers two =
      answer(said("Does QLoRA of Llama-3.1-8B with Unsloth fit on 2x T4?"), diagnosis::catalog());
  ASSERT_EQ(two.ways.size(), 1U);
  EXPECT_EQ(two.ways.front().request.at("parallel").at("strategy"), "ddp");
  EXPECT_NE(two.words.find("nothing fits for it that does not fit on one"), std::string::npos);
}

TEST(Answers, CopiesOnEachCardAreNotDivided) {
  const Answers one =
      answer(said("LoRA of Mistral-7B-v0.3 on one RTX 3090, 1024 tokens, batch 1?"), diagnosis::catalog());
  const Answers two = answer(said("LoRA of Mistral-7B-v0.3 with DDP on two RTX 3090, 1024 tokens, batch 1?"),
                             diagnosis::catalog());
  ASSERT_FALSE(one.ways.empty());
  ASSERT_FALSE(two.ways.empty());
  EXPECT_GE(two.ways.front().needed, one.ways.front().needed);
}

TEST(Answers, EachMethodIsPricedWhereNoneIsSaid) {
  const Answers open = answer(said("Can I train Mistral-7B-v0.3 on a 4090?"), diagnosis::catalog());
  ASSERT_EQ(open.ways.size(), 3U);
  EXPECT_LT(open.ways[0].needed, open.ways[2].needed);
  EXPECT_EQ(open.ways[2].verdict, "no");
  EXPECT_NE(open.words.find("Not said, and taken here"), std::string::npos);
}

// Who asks about checkpointing has said it, and one card holds no copies of others.
TEST(Answers, WhatIsTakenIsWhatTheRequestHasAndNobodySaid) {
  const Answers weighed =
      answer(said("LoRA of Mistral-7B-v0.3 on a 4090, 2048 tokens: will gradient checkpointing help?"),
             diagnosis::catalog());
  EXPECT_NE(weighed.words.find("taken here: a micro-batch of 1"), std::string::npos) << weighed.words;
  EXPECT_EQ(weighed.words.find("taken here: a micro-batch of 1, gradient checkpointing"), std::string::npos);
  const Answers one = answer(said("Can I train Mistral-7B-v0.3 on a 4090?"), diagnosis::catalog());
  EXPECT_NE(one.words.find("weights in 16 bits alone where all are trained (in"), std::string::npos)
      << one.words;
  const Answers two = answer(said("Can I train Mistral-7B-v0.3 on two 4090?"), diagnosis::catalog());
  EXPECT_NE(two.words.find("where all are trained and each card holds a whole copy"), std::string::npos)
      << two.words;
}

// Its trainer loads fp32 where a run of the Transformers Trainer loads what the checkpoint stores.
TEST(Answers, ATaskOfTrlIsPricedAsTrlRunsIt) {
  const Answers one = answer(said("GRPO of Qwen2.5-7B with LoRA on an H100 80GB?"), diagnosis::catalog());
  ASSERT_FALSE(one.ways.empty());
  EXPECT_EQ(one.ways.front().request.at("stack"), "trl");
}

TEST(Answers, TwoMachinesAreWeighedAgainstEachOther) {
  const Answers both =
      answer(said("2x RTX 4090 or one A100 80GB for QLoRA of Llama-3.3-70B?"), diagnosis::catalog());
  ASSERT_EQ(both.ways.size(), 4U);  // copies, divided, divided in host memory, the one card
  EXPECT_EQ(both.ways.back().verdict, "fits");
}

TEST(Question, WithoutAnErrorIsAnswered) {
  const std::string text = report::diagnosis_text(
      "Can I fine-tune Llama-3.1-8B with QLoRA on a single RTX 4090?", "", "", diagnosis::catalog());
  EXPECT_NE(text.find(R"("ok":true)"), std::string::npos);
  EXPECT_NE(text.find(R"("summary":"Llama-3.1-8B: QLoRA on one)"), std::string::npos);
}

TEST(Question, AConfigurationIsNone) {
  const std::string text = report::diagnosis_text("model: Llama-3.1-8B\n# how many?\nbatch_size: 4\n", "", "",
                                                  diagnosis::catalog());
  EXPECT_NE(text.find(R"("ok":false)"), std::string::npos);
}

TEST(Question, ARequestThatCannotBeReadDoesNotThrowAwayTheText) {
  const std::string text = report::diagnosis_text(
      "LoRA of Mistral-7B-v0.3, batch size 4. CUDA out of memory. Tried to allocate 2.00 GiB.", "{not json",
      "", diagnosis::catalog());
  EXPECT_NE(text.find(R"("model":"Mistral-7B-v0.3")"), std::string::npos);
}

// Found by the fuzzer: a word that is no number is -1, which no count holds.
TEST(SaidRequest, ACountIsNeitherNegativeNorMoreThanANumberHolds) {
  EXPECT_EQ(json::count_of(-1), 0u);
  EXPECT_EQ(json::count_of(4096), 4096u);
  EXPECT_EQ(json::count_of(1e30), uint64_t{1} << 53);
}

}  // namespace
}  // namespace plimsoll::question
