// What a diagnosis excludes, what it asks, and what it makes of a size.
#include <gtest/gtest.h>

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

// kohya_ss#1048: it failed in the optimizer, and since an update. Where in a step it was is not why.
TEST(Question, AFrameOfAStepLeavesOpenWhetherStepsRanBefore) {
  const std::string_view report =
      "CUDA out of memory on my 4090\n"
      "  File \"torch/cuda/amp/grad_scaler.py\", line 290, in _maybe_opt_step\n"
      "    retval = optimizer.step(*args, **kwargs)";
  const auto open = explained(report);
  ASSERT_NE(open.question, nullptr);
  EXPECT_EQ(open.question->id, "when");
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

TEST(Question, EveryCauseThatAChoiceNamesExists) {
  for (const Question& question : questions()) {
    for (const Choice& choice : question.choices) {
      for (const std::string_view cause : choice.causes) EXPECT_NE(find_cause(cause), nullptr) << cause;
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

}  // namespace
}  // namespace plimsoll::diagnosis
