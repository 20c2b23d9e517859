// What a diagnosis excludes, what it asks, and what it makes of a size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

TEST(Question, OneIsAskedWhereWordsAloneLeaveTheCauseOpen) {
  const auto open = explained("CUDA out of memory when I fine-tune my model, what can I do?");
  ASSERT_NE(open.question, nullptr);
  EXPECT_EQ(open.question->id, "when");
  EXPECT_GE(open.question->choices.size(), 2U);
}

TEST(Question, NoneIsAskedWhereTheTracebackAnswersIt) {
  const auto known = explained(
      "  File \"transformers/trainer.py\", line 3000, in evaluation_loop\n"
      "    all_preds = nested_concat(all_preds, logits)\n"
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 39.39 GiB total "
      "capacity; 36.00 GiB already allocated; 1.00 GiB free; 37.00 GiB reserved in total by PyTorch)");
  EXPECT_TRUE(known.question == nullptr || known.question->id != "when");
}

// 4,096 x 14,336 in fp32 are 8,192 tokens of 14,336 values in 16 bits as well: the frame decides.
TEST(Question, AFrameInTheForwardOfAnMlpMakesAnActivationAndNoWeight) {
  const std::string settings =
      "model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-3.1-8B\")\n"
      "args = TrainingArguments(per_device_train_batch_size=2, bf16=True)\n";
  const std::string error =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of "
      "79.25 GiB of which 115.38 MiB is free. Of the allocated memory 77.42 GiB is allocated by PyTorch, and "
      "761.45 MiB is reserved by PyTorch but unallocated.\n";
  const std::string frame =
      "  File \"/lib/transformers/models/llama/modeling_llama.py\", line 157, in forward\n"
      "    down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))\n";
  const auto says_a_weight = [](const Diagnosis& told) {
    return std::any_of(told.causes.begin(), told.causes.end(), [](const Named& cause) {
      return std::find(cause.signs.begin(), cause.signs.end(), Sign::is_weight32) != cause.signs.end();
    });
  };
  EXPECT_TRUE(says_a_weight(explained(settings + error)));
  EXPECT_FALSE(says_a_weight(explained(settings + frame + error)));
}

// kohya_ss#1048: it failed in the optimizer, and since an update. The frame says when; an answer still counts.
TEST(Question, AFrameOfTheOptimizerSaysWhenItFailed) {
  const std::string_view report =
      "CUDA out of memory on my 4090\n"
      "  File \"torch/cuda/amp/grad_scaler.py\", line 290, in _maybe_opt_step\n"
      "    retval = optimizer.step(*args, **kwargs)";
  const auto open = explained(report);
  EXPECT_TRUE(open.question == nullptr || open.question->id != "when");
  EXPECT_EQ(first_cause(report, "", "when=update"), "regression_in_library");
}

TEST(Question, WhichMemoryRanOutCanBeAnswered) {
  const std::string_view report = "It is out of memory when I start the fine-tuning";
  EXPECT_NE(first_cause(report), "host_ram");
  EXPECT_EQ(first_cause(report, "", "when=ram"), "host_ram");
}

TEST(Question, AnAnswerDecidesBetweenCauses) {
  EXPECT_EQ(first_cause("CUDA out of memory when I fine-tune my model", "", "when=eval"),
            "eval_accumulates_logits");
  EXPECT_EQ(first_cause("CUDA out of memory when I fine-tune my model", "", "when=save"),
            "resume_or_save_peak");
  EXPECT_EQ(first_cause("CUDA out of memory when I fine-tune my model", "", "when=nonsense"),
            first_cause("CUDA out of memory when I fine-tune my model", "", ""));
}

// A use that seems to creep up may be longer samples: an answer says what a person sees.
// Attention without a flash kernel fails in training long before the first evaluation.
TEST(Question, WhoeverSaysThatItFailedInEvaluationIsToldOfEvaluation) {
  EXPECT_EQ(first_cause("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; "
                        "23.64 GiB total capacity; 20.90 GiB already allocated; 1.12 GiB free; 21.10 GiB "
                        "reserved in total by PyTorch)",
                        "", "when=eval"),
            "eval_accumulates_logits");
}

TEST(Question, ACreepingUseLeavesALongSampleItsChance) {
  const std::string_view report =
      "CUDA out of memory after 800 steps of LoRA, batches are padded to the longest";
  EXPECT_EQ(first_cause(report, "", "when=later"), "long_outlier_sequences");
  EXPECT_EQ(first_cause(report, "", "when=growing"), "long_outlier_sequences");
}

TEST(Question, EveryCauseThatAChoiceNamesExists) {
  for (const Question& question : questions()) {
    for (const Choice& choice : question.choices) {
      for (const Share& one : choice.causes) EXPECT_NE(find_cause(one.cause), nullptr) << one.cause;
    }
  }
}

TEST(Question, AnswersOfACauseSumToOne) {
  for (const Question& question : questions()) {
    for (const Cause& cause : causes()) {
      double sum = 0;
      for (const Choice& choice : question.choices) sum += std::exp(log_share(question, choice, cause.id));
      EXPECT_NEAR(sum, 1, 1e-9) << question.id << " " << cause.id;
    }
  }
}

TEST(Veto, OptimizerStatesAreNotAskedForInTheForward) {
  const auto d = explained(
      "  File \"transformers/models/llama/modeling_llama.py\", line 200, in forward\n"
      "    down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))\n"
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 39.39 GiB total "
      "capacity; 38.00 GiB already allocated; 100.00 MiB free; 38.40 GiB reserved in total by PyTorch)");
  for (const Named& named : d.causes) EXPECT_NE(named.cause->id, "optimizer_states_first_step");
}

TEST(Veto, NoOtherProgramIsToBlameForATensorLargerThanTheCard) {
  const auto d = explained(
      "CUDA out of memory. Tried to allocate 130674.91 GiB (GPU 0; 79.15 GiB total capacity; 27.53 GiB "
      "already "
      "allocated; 37.61 GiB free; 28.21 GiB reserved in total by PyTorch)");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "single_giant_tensor");
}

TEST(Certainty, WordsAloneNeverSayMoreThanTwoThirds) {
  for (const char* text :
       {"OOM at evaluation, training works", "it runs out of memory while saving the checkpoint",
        "it runs out of memory since I updated transformers"}) {
    const auto d = explained(text);
    ASSERT_FALSE(d.causes.empty());
    EXPECT_LE(d.causes.front().confidence, 0.68) << text;
  }
}

TEST(Sizes, LogitsAreTokensTimesTheVocabulary) {
  const auto d = explained(
      "CUDA out of memory. Tried to allocate 9.27 GiB (GPU 0; 39.39 GiB total capacity; 33.00 GiB already "
      "allocated; "
      "5.10 GiB free; 33.60 GiB reserved in total by PyTorch)");
  ASSERT_FALSE(d.reading.products.empty());
  EXPECT_EQ(d.reading.products.front().tokens, 16384);
  EXPECT_EQ(d.reading.products.front().words, "16,384 tokens x 151,936 words of the vocabulary, fp32");
  EXPECT_EQ(d.causes.front().cause->id, "logits_peak");
}

// Qwen2.5-7B: 152,064 words, an MLP of 18,944 (its config.json). 50.51 GiB / 4 / 152,064 are 89,166 tokens, and
// / 2 / 18,944 some 1.43 million, which no micro-batch has.
TEST(Sizes, ReadingsOfMoreTokensThanAMicroBatchHasComeLastAndSaySo) {
  const auto d = explained(
      "Qwen2.5-7B LoRA\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 50.51 GiB. GPU 0 has a "
      "total capacity of 79.25 GiB of which 22.31 GiB is free.");
  ASSERT_FALSE(d.reading.products.empty());
  EXPECT_EQ(d.reading.products.front().tensor, "logits");
  EXPECT_NEAR(d.reading.products.front().tokens, 89166, 10);
  EXPECT_FALSE(d.reading.products.front().beyond);
  EXPECT_EQ(d.reading.products.back().tensor, "mlp");
  EXPECT_TRUE(d.reading.products.back().beyond);
  EXPECT_THAT(d.reading.products.back().words, testing::HasSubstr("more than a micro-batch has"));
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "logits_peak");
}

// 256 MiB are 32 x 2,048 x 2,048 x 2 bytes; at 4,096 tokens Llama-2-7B's 32 heads take 1 GiB a sample.
TEST(Sizes, ScoresOfAnotherLengthThanTheStatedOneAreRefuted) {
  const std::string error =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of "
      "23.64 GiB of which 0.11 GiB is free.";
  const auto says_scores = [](const Diagnosis& d) {
    const bool product = std::any_of(d.reading.products.begin(), d.reading.products.end(),
                                     [](const Product& one) { return one.tensor == "scores"; });
    return product || std::any_of(d.reading.matches.begin(), d.reading.matches.end(),
                                  [](const Match& one) { return one.kind == TensorKind::scores; });
  };
  EXPECT_TRUE(says_scores(explained("Llama-2-7B LoRA\n" + error)));
  EXPECT_TRUE(says_scores(explained("Llama-2-7B LoRA, length 2048\n" + error)));
  EXPECT_FALSE(says_scores(explained("Llama-2-7B LoRA, length 4096\n" + error)));
}

// 16 bytes a parameter are 113 GiB, and adapters need 15: who says "finetune" said neither.
TEST(Question, WhatIsTrainedIsAskedAndNotTakenForGranted) {
  const std::string error =
      "Qwen2.5-7B finetune\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 0 has a "
      "total capacity of 79.25 GiB of which 2.31 GiB is free.";
  const auto d = explained(error);
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes.front().cause->id, "logits_peak");
  for (const Evidence& e : d.evidence) EXPECT_NE(e.sign, Sign::whole_beyond);
  ASSERT_NE(d.question, nullptr);
  EXPECT_EQ(d.question->id, "method");
  EXPECT_EQ(first_cause(error, "", "method=full"), "does_not_fit_at_all");
  EXPECT_EQ(first_cause(error, "", "method=adapters"), "logits_peak");
}

TEST(Question, AtMostSevenChoicesAreOfferedAndAnOpenOne) {
  const std::string error =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of "
      "79.25 GiB of which 115.38 MiB is free.\n";
  const std::string frame =
      "  File \"/lib/transformers/models/llama/modeling_llama.py\", line 157, in forward\n"
      "    down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))\n";
  for (const std::string& text : {error, frame + error}) {
    const auto d = explained(text);
    ASSERT_NE(d.question, nullptr);
    EXPECT_LE(d.question->choices.size(), 8U);
    EXPECT_EQ(d.question->choices.back().id, "other");
    EXPECT_EQ(find_choice(*d.question, "ram"), nullptr) << "the GPU's allocator speaks";
  }
  const auto framed = explained(frame + error);
  for (const char* moment : {"load", "merge", "save"})
    EXPECT_EQ(find_choice(*framed.question, moment), nullptr) << moment;
  EXPECT_EQ(first_cause(error, "", "when=other"), first_cause(error));
}

TEST(Question, WhoeverFoundNoneOfTheChoicesIsAskedTheOthers) {
  const char* text = "CUDA out of memory when I fine-tune my model, what can I do?";
  const auto first = explained(text), second = explained(text, "", "when=other");
  ASSERT_NE(first.question, nullptr);
  ASSERT_NE(second.question, nullptr);
  EXPECT_EQ(second.question->id, "when");
  for (const Choice& choice : second.question->choices)
    EXPECT_TRUE(choice.open || find_choice(*first.question, choice.id) == nullptr) << choice.id;
}

// Completions alone have logits in GRPO: 16 x 2,048 tokens in 16 bits, not 8 x 2,048 in fp32.
TEST(DiagnosisQuestion, LogitsOfGeneratedSamplesAreThoseOfTheirCompletions) {
  const auto d = explained(
      "trl/trainer/grpo_trainer.py\", line 911, in _get_per_token_logps_and_entropies\n"
      "    logits = logits / self.temperature\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB. GPU 2 has a total capacity of "
      "79.19 GiB of which 6.71 GiB is free.",
      R"({"model": "Qwen/Qwen2.5-7B-Instruct", "stack": "trl", "task": "grpo",
          "training": {"per_device_train_batch_size": 16, "bf16": true},
          "rl": {"max_completion_length": 2048, "max_prompt_length": 512}})");
  ASSERT_FALSE(d.reading.products.empty());
  EXPECT_EQ(d.reading.products.front().tokens, 32768);
}

TEST(DiagnosisQuestion, WhoIsAtStep300IsNotAskedWhetherItLoads) {
  const Diagnosis d = explained(
      "Llama 3 8B on a 3090 with LoRA, step 300: CUDA out of memory. Tried to allocate 1002.00 MiB");
  ASSERT_NE(d.question, nullptr);
  EXPECT_EQ(d.question->id, "when");
  for (const Choice& choice : d.question->choices) {
    EXPECT_NE(choice.id, "load");
    EXPECT_NE(choice.id, "first");
  }
  EXPECT_EQ(read_answers("when=load").size(), 1U) << "an answer that was given stays one";
}

}  // namespace
}  // namespace plimsoll::diagnosis
