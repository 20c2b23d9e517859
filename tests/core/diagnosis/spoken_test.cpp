// Reports without an error line. The sentences are shortened from what people write; the thread each comes
// after stands beside it.
#include <gtest/gtest.h>

#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

struct Spoken {
  const char* after;  ///< owner/repository#thread
  const char* text;
  const char* cause;
};

constexpr Spoken spoken[] = {
    {"jzhang38/TinyLlama#36", "When I try to resume I have to lower the batch size or I get a memory error.",
     "resume_or_save_peak"},
    {"hiyouga/LlamaFactory#4710",
     "用FSDP对Qwen2-7B全参数微调，中断后想通过--resume_from_"
     "checkpoint从检查点继续训练，但是就出现OOM的问题了，这是什么原因，"
     "谢谢各位作者解答这个问题",
     "resume_or_save_peak"},
    {"hiyouga/LlamaFactory#5419", "训练时显存够用，进入eval阶段就爆显存", "eval_accumulates_logits"},
    {"unslothai/unsloth#1147", "Training works, validation fails with an out-of-memory error.",
     "eval_accumulates_logits"},
    {"2U1/Qwen-VL-Series-Finetune#82", "After some batches the gpu memory will keep increasing till OOM.",
     "growth_over_steps"},
    {"namisan/mt-dnn#29", "GPU memory usage keeps growing: it ends in 'run out of memory'.",
     "growth_over_steps"},
    {"yangjianxin1/Firefly#243", "微调结束后，合并的时候报错显存溢出，显存24G", "merge_peak"},
    {"OpenBMB/ToolBench#52", "LORA微调，四卡3090仍然OOM，是单卡显存的限制还是总体显存的限制",
     "replicated_not_sharded"},
    // "OOM" says of no memory which; the sentence on RAM does.
    {"huggingface/transformers#26157",
     "FSDP Model loading with accelerate results in crash (OOM)\nWhen trying to start a full FT of Llama 7b "
     "on an 4*V100s instance with accelerate, CPU ram fills until process termination.",
     "host_ram"},
    // What ZeRO-3 would divide is moved to each card whole.
    {"deepspeedai/DeepSpeedExamples#763",
     "Step 3 with opt 66b on 32 machines, zero3 strategy: out of memory.\n  File "
     "\"deepspeed/runtime/engine.py\", line 1072, in _configure_distributed_model\n    "
     "self.module.to(self.device)",
     "sharding_load_peak"},
    {"hiyouga/LlamaFactory#4711", "Qwen-72B合并LoRA权重自动被killed", "host_ram"},
};

// 16 bytes a parameter: 8.3e9 of them are 124 GiB, held in 16 bits alone 62. Neither is said.
TEST(Spoken, FullTuningThatFitsInSixteenBitsAloneMayNotFit) {
  EXPECT_EQ(first_cause("OOM when I full fine-tune Qwen2.5-VL-7B on one A100 GPU, 80GB. What can I modify?"),
            "does_not_fit_at_all");
}

TEST(Spoken, ACardThatIsNotNamedHoldsNoMoreThanTheLargestCommonOnes) {
  EXPECT_EQ(first_cause("CUDA out of memory: full fine-tuning of llava-v1.6-vicuna-7b on one GPU"),
            "does_not_fit_at_all");
}

// 32,768 tokens x 152,064 words in fp32 are 18.6 GiB, and the loss holds three such: no figure says so, the
// settings do.
TEST(Spoken, StatedTokensSayWhetherTheLogitsAreWhatIsLarge) {
  const std::string run =
      "OOM with LoRA of Qwen2-7B-Instruct on an A800 80G.\nstage: sft\nfinetuning_type: lora\n"
      "per_device_train_batch_size: 1\nbf16: true\ndeepspeed: ds_z3_offload_config.json\n";
  EXPECT_EQ(first_cause(run + "cutoff_len: 32768"), "logits_peak");
  EXPECT_NE(first_cause(run + "cutoff_len: 1024"), "logits_peak");
  EXPECT_NE(first_cause(run + "cutoff_len: 32768\nenable_liger_kernel: true"), "logits_peak");
}

TEST(Spoken, ACodeOfAnEndedProcessIsTheMachinesInChineseToo) {
  EXPECT_EQ(first_cause("用deepspeed方式返回错误码-9 啥意思"), "host_ram");
}

TEST(Spoken, TorchrunAloneCopiesTheModelToEachCard) {
  EXPECT_EQ(first_cause("LoRA of Llama-3-70B on 8 GPUs (192G each): OOM with torchrun, with python3 and "
                        "device_map=auto it runs"),
            "replicated_not_sharded");
}

// sentence-transformers#3214, Training_PRO#20, gpt-2-simple#19: reports of the third set's dev half.
TEST(DiagnosisSpoken, TheMemoryThatFillsIsNamedInPlainWords) {
  EXPECT_EQ(
      first_cause("Trial after trial the memory of the GPU goes up as if the model was loaded again, until "
                  "it is out of memory."),
      "growth_over_steps");
  EXPECT_EQ(first_cause("The runtime crashes while loading the dataset, due to using all available RAM"),
            "host_ram");
  EXPECT_EQ(first_cause("Upgrading to 4.47.0, nothing else changed, leads to an out-of-memory error"),
            "regression_in_library");
}

// Half a logarithm of odds does not say which memory it was.
TEST(DiagnosisSpoken, ThatRamIsFreeIsNoLackOfIt) {
  EXPECT_NE(first_cause("mlx stops at recommendedMaxWorkingSetSize although RAM is free"), "host_ram");
}

TEST(DiagnosisSpoken, WordsAloneNameTheCause) {
  for (const Spoken& one : spoken) {
    const Diagnosis d = explained(one.text);
    ASSERT_FALSE(d.causes.empty()) << one.after;
    EXPECT_EQ(d.causes[0].cause->id, one.cause) << one.after;
    ASSERT_EQ(d.reading.messages.size(), 1U) << one.after;
    EXPECT_FALSE(d.reading.messages[0].quote.empty()) << one.after;
  }
}

TEST(DiagnosisSpoken, AProgramsOwnWordsComeBeforeThoseAroundThem) {
  const Diagnosis d = explained(
      "OOM when I resume\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB "
      "total "
      "capacity; 21.00 GiB already allocated; 1.00 GiB free; 21.50 GiB reserved in total by PyTorch)");
  ASSERT_EQ(d.reading.messages.size(), 1U);
  EXPECT_EQ(d.reading.messages[0].family->kind, MessageKind::allocator);
}

// A configuration may speak of it without anything having died.
TEST(DiagnosisSpoken, ARemarkInAConfigurationIsNoReport) {
  for (const char* text : {"lora_r: 16\nmicro_batch_size: 2  # lower it when OOM\n",
                           "lora_r: 16\n# out of memory? use 1\nmicro_batch_size: 2\n",
                           "room_size: 3\nbloom: true\noom_margin: 2\n", "zoom in on the boomerang"}) {
    EXPECT_TRUE(explained(text).reading.messages.empty()) << text;
  }
}

// What is quoted or shown as a frame ends at a character, however long the line.
TEST(DiagnosisSpoken, AQuestionWhetherARunWillFitIsNoReport) {
  for (const char* text : {"Will full fine-tuning of Qwen2.5-7B fit on 4x A100 40GB?",
                           "Does LoRA of Mistral 7B fit on a 3090 with batch size 2?"}) {
    EXPECT_TRUE(explained(text).reading.messages.empty()) << text;
  }
  EXPECT_FALSE(explained("Does anybody know why Mistral 7B runs out of memory?").reading.messages.empty());
}

// As it stands in Unsloth's own notebooks.
TEST(DiagnosisSpoken, ARemarkThatPraisesAQuantisationIsNoReport) {
  EXPECT_TRUE(
      explained("from unsloth import FastModel\nfourbit_models = [\n    # 4bit dynamic quants for superior "
                "accuracy and low memory use\n    \"unsloth/gemma-3-4b-it-unsloth-bnb-4bit\",\n]\n")
          .reading.messages.empty());
}

TEST(DiagnosisSpoken, ASentenceBesideAQuestionIsNoReport) {
  EXPECT_TRUE(
      explained(
          "gradient_accumulation_steps: 8\n\nimages are 1024x768, 3 per sample. what is the largest batch on an L40S?")
          .reading.messages.empty());
  EXPECT_FALSE(explained("It crashes when images are 1024x768. What is the largest batch on an L40S?")
                   .reading.messages.empty());
}

TEST(DiagnosisSpoken, AQuoteEndsAtACharacter) {
  std::string line = "x";
  for (int i = 0; i < 300; ++i) line += "检";
  for (const std::string& text : {line + "OOM", "OOM resume_from_checkpoint" + line, "OOM " + line}) {
    const Diagnosis d = explained(text);
    ASSERT_FALSE(d.reading.messages.empty());
    const std::string quote = d.reading.messages[0].quote;
    EXPECT_EQ(first_bytes(quote, quote.size()), quote);
    for (const std::string& shown : {quote, d.reading.frames.words}) {
      std::size_t characters = 0, bytes = 0;
      for (const char c : shown) {
        const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        characters += begins ? 1 : 0;
        bytes += (static_cast<unsigned char>(c) & 0x80U) != 0 ? 1 : 0;
      }
      EXPECT_EQ(bytes % 3, 0U) << shown;  // of three bytes each
      EXPECT_LE(characters, 400U);
    }
  }
}

// Slices of MIG begin with their card's name, and are not what "A100 80G" means.
TEST(DiagnosisSpoken, ACardOfSeveralSizesIsTheOneWhoseSizeStandsThere) {
  const Diagnosis d = explained("OOM when fine-tuning on an A100 80GB, right after the first step");
  EXPECT_NEAR(d.reading.facts.capacity / 1073741824.0, 79, 1);
}

}  // namespace
}  // namespace plimsoll::diagnosis
