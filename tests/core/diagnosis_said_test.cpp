// What people say around an error when they show little of it: cards, releases, moments and methods, each in
// words of our own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnosis/attempts.h"
#include "core/diagnosis/facts_said.h"
#include "core/diagnosis/moment.h"
#include "core/diagnosis/occasion.h"
#include "core/diagnosis/progress.h"
#include "core/diagnosis/text.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

using testing::IsEmpty;
using testing::Not;

double cards(std::string_view text) { return cards_in_words(clean(text)).value_or(1); }
Phase phase_of(std::string_view text) { return explained(text).reading.phase; }
Facts facts_of(std::string_view text) { return explained(text).reading.facts; }

TEST(DiagnosisSaid, CardsAreCountedBehindTheirNameAndInWords) {
  EXPECT_EQ(cards("an A100 80G * 2 machine"), 2);
  EXPECT_EQ(cards("V100 (32g) x 4 in one node"), 4);
  EXPECT_EQ(cards("it runs on one and dies on a double GPU"), 2);
  EXPECT_EQ(cards("four RTX 3090 cards"), 4);
  EXPECT_EQ(cards("dual 4090"), 2);
  // gigabytes and sizes are no counts
  EXPECT_EQ(cards("for owners of 24 GB GPUs"), 1);
  EXPECT_EQ(cards("an A100 * 40GB"), 1);
}

TEST(DiagnosisSaid, WhatElseCouldBeDoneIsNotWhatWasDone) {
  EXPECT_EQ(facts_of("OOM in full fine-tuning of a 70B model on 8 x A100. Is LoRA the only way?").method,
            Method::full);
  EXPECT_EQ(facts_of("OOM in LoRA training of a 7B model; full fine-tuning is out of reach").method,
            Method::adapters);
}

TEST(DiagnosisSaid, ANameBesideTheFiguresSaysHowLargeTheModelIs) {
  constexpr std::string_view line =
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 23.50 GiB total "
      "capacity; 23.10 GiB already allocated; 2.00 MiB free; 23.10 GiB reserved in total by PyTorch)";
  EXPECT_EQ(first_cause("Training Llama-2-13b on a card of 24 GB.\n" + std::string(line)),
            "does_not_fit_at_all");
}

TEST(DiagnosisSaid, WeightsInFp32AreSaidInManyWays) {
  for (const char* text : {"OOM: the checkpoint gets converted at full precision before it moves to the card",
                           "the model is loaded in fp32 by default and runs out of memory"}) {
    EXPECT_EQ(first_cause(text), "fp32_by_mistake") << text;
  }
  EXPECT_FALSE(facts_of("OOM: the optimizer holds fp32 states of the model").fp32);
}

TEST(DiagnosisSaid, WithoutAFlashKernelScoresAreKept) {
  EXPECT_EQ(first_cause("still out of memory, my card does not support flash attention"),
            "eager_attention_quadratic");
  EXPECT_EQ(facts_of("OOM even with flash attention").attention, "");
}

TEST(DiagnosisSaid, TwoReleasesAndWhatCameOfTheChange) {
  EXPECT_THAT(
      other_release_in_words("transformers 4.40.1 runs, 4.41.0 is out of memory, but nothing changed"),
      Not(IsEmpty()));
  EXPECT_THAT(other_release_in_words("把库从4.40.1升级到4.41.0后，同样的命令就报错"), Not(IsEmpty()));
  // a list of what is installed
  EXPECT_THAT(other_release_in_words("torch 2.4.0, transformers 4.41.0, works on my other machine, oom here"),
              IsEmpty());
  EXPECT_EQ(first_cause("The same script ran out of memory today. With an earlier commit there was no OOM."),
            "regression_in_library");
}

TEST(DiagnosisSaid, ALongTimeAFractionAndAnEpochAreProgress) {
  for (const char* text : {"it had been training for nearly a day, then it crashed", "oom at epoch 3",
                           "died at 1.6 epochs", "the run always dies at 57%", "训练了一天突然爆显存"}) {
    EXPECT_THAT(progress_in_words(text), Not(IsEmpty())) << text;
  }
  for (const char* text : {"each epoch takes 3 hours and it is out of memory", "gpu memory is at 95%",
                           "it worked two days ago", "num_train_epochs: 3.0"}) {
    EXPECT_THAT(progress_in_words(text), IsEmpty()) << text;
  }
}

TEST(DiagnosisSaid, AnEvaluationASaveAndAResumeAreSaidInManyWays) {
  EXPECT_EQ(first_cause("Every validation blows up with OOM while the steps before it are fine"),
            "eval_accumulates_logits");
  EXPECT_EQ(first_cause("OOM: predictions of the whole validation set are concatenated on the card"),
            "eval_accumulates_logits");
  EXPECT_EQ(first_cause("out of memory as soon as the state dict is gathered, save_pretrained crashes"),
            "resume_or_save_peak");
  EXPECT_EQ(first_cause("OOM after I load the optimizer. A fresh run is fine, with the same batch."),
            "resume_or_save_peak");
  EXPECT_NE(first_cause("I use a fused loss to save memory and still get OOM"), "resume_or_save_peak");
  EXPECT_NE(first_cause("OOM when I evaluate the finished model with lm-eval"), "eval_accumulates_logits");
}

TEST(DiagnosisSaid, PiecesAndALargeCacheAreFragmentation) {
  EXPECT_EQ(first_cause("OOM although half is free: the memory seems to be heavily fragmented"),
            "fragmentation");
  EXPECT_EQ(first_cause("out of memory, the reserved memory is far larger than what is allocated"),
            "fragmentation");
  // the hint of every message is no finding
  EXPECT_NE(first_cause("CUDA out of memory. If reserved but unallocated memory is large try setting "
                        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."),
            "fragmentation");
}

TEST(DiagnosisSaid, WhoAsksWhatItTakesHasTooLittle) {
  EXPECT_EQ(first_cause("OOM with a T4. How much VRAM does fine-tuning this need?"), "does_not_fit_at_all");
  EXPECT_EQ(first_cause("单卡爆显存，请问微调至少需要多大显存的卡"), "does_not_fit_at_all");
}

TEST(DiagnosisSaid, ASmallerBatchThatWorksSaysThatTokensWereTooMany) {
  EXPECT_EQ(first_cause("OOM at first; reducing the batch size to 2 solved it"),
            "batch_or_sequence_too_large");
  EXPECT_THAT(less_fits_in_words("a smaller batch size does not help"), IsEmpty());
  EXPECT_THAT(less_fits_in_words("how to reduce the batch size so that it works"), IsEmpty());
}

// Of one quoted frame and a sentence about another moment, the frame says where it died.
TEST(DiagnosisSaid, AQuotedFrameOutweighsASentence) {
  EXPECT_EQ(phase_of("The issue comes up right after the rollout stage of the first step is done, always.\n"
                     "  File \"/torch/nn/modules/linear.py\", line 125, in forward\n"
                     "    return F.linear(input, self.weight, self.bias)\n"
                     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB."),
            Phase::forward);
}

// DeepSpeed moves the model before it makes an optimizer.
TEST(DiagnosisSaid, AModelThatDoesNotReachTheCardHasNoOptimizerYet) {
  EXPECT_NE(first_cause("  File \"train.py\", line 3, in main\n"
                        "    engine, _, _, _ = deepspeed.initialize(args=args, model=model)\n"
                        "  File \"deepspeed/runtime/engine.py\", line 1103, in _configure_distributed_model\n"
                        "    self.module.to(self.device)\n"
                        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB."),
            "optimizer_states_first_step");
}

// ZeRO-2 leaves the weights whole, which is no trouble where they are small.
TEST(DiagnosisSaid, CopiesThatAreSmallAreNotWhatIsTooMuch) {
  EXPECT_NE(first_cause("full fine-tuning of a 7B model, 8 x A100 80GB, zero2, OOM"),
            "replicated_not_sharded");
}

TEST(DiagnosisSaid, SettingsAreReadFromFlagsAndProse) {
  EXPECT_EQ(setting_in_words("with a batch size of 64", {"batch size"}), 64);
  EXPECT_EQ(setting_in_words("--max_seq_length 8192 \\", {"max_seq_length"}), 8192);
  EXPECT_EQ(setting_in_words("context length: 32k", {"context length"}), 32768);
  EXPECT_FALSE(setting_in_words("the batch size matters", {"batch size"}).has_value());
  EXPECT_EQ(facts_of("OOM with gradient_checkpointing: false").checkpointing, false);
}

// A cause is said in many ways; each of these is in words of our own.
TEST(DiagnosisSaid, EachCauseIsNamedInSeveralWays) {
  struct Said {
    const char* cause;
    const char* text;
  };
  static constexpr Said said[] = {
      {"long_outlier_sequences", "It runs OK for maybe 3k steps and then some batch blows it up with OOM."},
      {"long_outlier_sequences",
       "Training crashed overnight with CUDA OOM, epoch 1 went through without any trouble."},
      {"long_outlier_sequences", "OOM at iteration 1234, all earlier ones fit easily in 60GB."},
      {"long_outlier_sequences", "训练跑了大概两千步后显存溢出，前面一直很稳定"},
      {"long_outlier_sequences",
       "It died with out of memory around 40% of the first epoch. Memory use jumps a lot between batches."},
      {"long_outlier_sequences",
       "Some of my samples have 20k tokens, and I guess it OOMs when one of those comes along"},
      {"growth_over_steps",
       "VRAM usage goes up a little with each step and never comes down, eventually OOM"},
      {"growth_over_steps", "GPU memory usage is climbing during training until it is exhausted"},
      {"growth_over_steps", "显存占用随着训练慢慢变大，最后OOM"},
      {"growth_over_steps",
       "Is there a leak? nvidia-smi shows 12GB at step 10, 18GB at step 100, 24GB at step 200, then OOM"},
      {"growth_over_steps", "RAM and VRAM both keep getting bigger the longer I train, in the end I get OOM"},
      {"growth_over_steps", "allocated memory increases after each backward call, OOM after a while"},
      {"resume_or_save_peak",
       "The job gets through the epoch and then dies with OOM while it writes the checkpoint"},
      {"resume_or_save_peak",
       "Restarting from checkpoint-500 fails with CUDA out of memory, though the initial run had no issue"},
      {"resume_or_save_peak", "trainer.save_model() raises OOM on rank 0 with FSDP"},
      {"resume_or_save_peak", "加载checkpoint继续训练就OOM，从头训练不会"},
      {"resume_or_save_peak", "每次到save_steps就显存不足"},
      {"resume_or_save_peak", "OOM: optimizer states are loaded onto GPU 0 by every process when resuming"},
      {"eval_accumulates_logits", "Fine-tuning is OK, but the moment evaluation kicks in I get CUDA OOM"},
      {"eval_accumulates_logits", "my run dies on the very first eval pass with out of memory"},
      {"eval_accumulates_logits", "OOM in the validation loop, memory grows with each eval batch"},
      {"eval_accumulates_logits", "训练没事，一做验证就爆显存"},
      {"eval_accumulates_logits", "compute_metrics makes my GPU run out of memory"},
      {"eval_accumulates_logits", "Validation needs far more memory than training and crashes with OOM"},
      {"host_ram", "The process just prints Killed when the model is being loaded"},
      {"host_ram", "My 64GB of system memory is eaten up by cpu offload and the process gets killed"},
      {"host_ram", "dmesg says oom-kill, python was using 120GB RSS"},
      {"host_ram", "内存直接爆了，机器卡死，是CPU内存不是显存"},
      {"host_ram", "torchrun worker exits with signal 9 (SIGKILL) during dataset preprocessing"},
      {"host_ram", "Colab crashes because RAM is used up when merging shards"},
      {"replicated_not_sharded",
       "I have 4 cards of 24GB but every one of them fills up as if the others did not exist, OOM"},
      {"replicated_not_sharded", "Adding more GPUs doesn't lower memory per GPU, still OOM on 70B LoRA"},
      {"replicated_not_sharded",
       "DDP on 2x3090 with a 13B model: OOM. Do the memories of both cards not add up?"},
      {"replicated_not_sharded", "两张24G的卡加起来48G，为什么还是OOM，每张卡都占满了"},
      {"replicated_not_sharded", "It works with one GPU but with accelerate launch on 4 GPUs I get OOM"},
      {"replicated_not_sharded",
       "Each of my 8 GPUs holds the complete model, so a 30B LoRA does not fit. How do I split it?"},
      {"sharding_load_peak",
       "With FSDP all 8 ranks load the entire 70B checkpoint onto the GPU before it is wrapped, OOM"},
      {"sharding_load_peak", "zero3 加载模型的时候就OOM了，还没开始训练"},
      {"sharding_load_peak", "FSDP: OOM happens in from_pretrained on every rank, before any sharding"},
      {"sharding_load_peak",
       "deepspeed zero-3 still puts the full model on the GPU at load time and dies with OOM"},
      {"does_not_fit_at_all", "Can a 3090 fine-tune a 13B model fully? I get OOM."},
      {"does_not_fit_at_all",
       "Trying to full finetune Llama-3-8B on one A100 40GB, OOM right away even at batch size 1 and length "
       "128"},
      {"does_not_fit_at_all", "What is the minimum VRAM for this? 16GB T4 runs out of memory"},
      {"does_not_fit_at_all", "全参数微调7B，单张3090，batch_size=1也OOM"},
      {"does_not_fit_at_all",
       "I tried everything: batch size 1, gradient checkpointing, 8-bit Adam. Still OOM at the start."},
      {"does_not_fit_at_all", "Llama 70B full finetuning on 8xA100 80GB with ZeRO-3 gives OOM"},
      {"batch_or_sequence_too_large", "OOM with batch size 32, 16 is fine"},
      {"batch_or_sequence_too_large", "Increasing the context from 4k to 16k makes it OOM"},
      {"batch_or_sequence_too_large", "max_length 8192 会OOM，4096可以"},
      {"batch_or_sequence_too_large", "I had to go down to batch size 2, anything higher is OOM"},
      {"batch_or_sequence_too_large", "LoRA of a 7B on a 80GB card, batch 64: CUDA out of memory"},
      {"batch_or_sequence_too_large", "sequence length 2048 trains, 8192 gives OOM"},
      {"logits_peak", "OOM at logits = logits.float()"},
      {"logits_peak", "The lm_head output takes 20 GB because the vocabulary has 256k entries; OOM"},
      {"logits_peak", "loss computation OOMs: torch.nn.functional.cross_entropy"},
      {"logits_peak", "计算loss的时候OOM，词表太大了"},
      {"logits_peak", "CUDA OOM in CrossEntropyLoss, vocab size is 152k"},
      {"logits_peak", "vocab太大，loss那一步显存爆了"},
      {"optimizer_states_first_step", "forward and backward pass, then OOM in optimizer.step()"},
      {"optimizer_states_first_step",
       "First backward is fine, but when Adam initializes its states I run out of memory"},
      {"optimizer_states_first_step", "OOM exactly at the first optimizer.step, adamw wants exp_avg"},
      {"optimizer_states_first_step", "DeepSpeed fails with OOM in initialize_optimizer_states"},
      {"eager_attention_quadratic",
       "OOM in softmax of the attention at 16k tokens, flash attention cannot be installed on my V100"},
      {"eager_attention_quadratic", "Without flash-attn the n x n attention matrix does not fit"},
      {"eager_attention_quadratic",
       "attn_weights = torch.matmul(query, key.transpose) -> out of memory with 12k tokens"},
      {"eager_attention_quadratic", "显卡不支持flash attention，长序列直接OOM"},
      {"vision_tokens", "Qwen2.5-VL OOM with high-resolution pictures, smaller pictures are fine"},
      {"vision_tokens", "finetuning InternVL on videos with 64 frames runs out of memory"},
      {"vision_tokens", "多模态模型微调，图片分辨率太大导致OOM"},
      {"vision_tokens", "OOM as soon as an image is larger than 2000x2000 (Qwen2-VL LoRA)"},
      {"vision_tokens", "LLaVA-Next finetuning with 8 images per sample: out of memory"},
      {"other_process", "OOM but nvidia-smi shows that somebody else is already using 30GB on this GPU"},
      {"other_process",
       "Old python processes from a crashed run were still on the GPU, so OOM right at start"},
      {"other_process", "显卡被别人占用了20G，一启动就OOM"},
      {"other_process", "I forgot that a jupyter kernel was holding 10GB, so the training went OOM"},
      {"other_process", "CUDA OOM at startup, another training job is running on the same card"},
      {"fragmentation", "OOM although PyTorch reserved 20GB that it does not use; looks like fragmentation"},
      {"fragmentation", "6GB reserved but unallocated and it cannot find 500MB, OOM. Memory fragmentation?"},
      {"vllm_colocate", "GRPO with vllm on the same GPU: OOM, gpu_memory_utilization is 0.9"},
      {"vllm_colocate", "OOM when vllm wakes up after the weight update"},
      {"vllm_colocate", "vllm takes 90% of the GPU in GRPO and the trainer gets OOM"},
      {"vllm_colocate",
       "rollout is fine, then loading the actor back while sglang keeps its cache gives OOM"},
      {"regression_in_library",
       "It worked with transformers 4.45 but after I moved to 4.49 I get OOM with the same settings"},
      {"regression_in_library", "Since the latest release the very same notebook goes OOM"},
      {"regression_in_library", "升级trl之后同样的脚本就OOM了，之前没问题"},
      {"regression_in_library", "pip install -U transformers broke my training: OOM now, 4.44.2 was fine"},
      {"regression_in_library",
       "the notebook ran fine in March, today the same cells run out of memory with the new unsloth"},
      {"fp32_by_mistake",
       "model loads in float32 although the checkpoint is bf16, so it needs twice the memory and OOMs"},
      {"fp32_by_mistake", "from_pretrained without torch_dtype gives fp32 weights -> OOM"},
      {"fp32_by_mistake",
       "the weights are in fp32 instead of bf16 after loading, that is why 24GB are not enough"},
      {"checkpointing_not_active", "OOM, then I noticed gradient checkpointing was not enabled"},
      {"checkpointing_not_active", "gradient_checkpointing_enable() has no effect on this model, OOM"},
      {"checkpointing_not_active", "forgot gradient_checkpointing=True, the run went OOM without it"},
      {"dpo_reference_model", "SFT fits but DPO of the same model OOMs"},
      {"dpo_reference_model", "PPO needs four models, I run out of memory"},
      {"dpo_reference_model", "DPO with a full copy of the reference model does not fit, SFT did"},
      {"merge_peak", "OOM when merging the LoRA weights into the base model after training"},
      {"merge_peak", "merge_and_unload() crashes with OOM on a 16GB GPU"},
      {"mps_watermark", "MPS backend out of memory on my M1 with 16GB"},
      {"mps_watermark",
       "RuntimeError: MPS backend out of memory (MPS allocated: 17.10 GB, other allocations: 1.02 GB, max "
       "allowed: 18.13 GB). Tried to allocate 250.00 MB on private pool."},
      {"single_gpu_used", "GPU 0 is full and the other three are at 0 MB, then OOM"},
      {"single_gpu_used", "only cuda:0 gets used, the other 7 GPUs stay empty, and it runs out of memory"},
      {"bnb_not_applied", "load_in_4bit=True seems to do nothing, model takes 14GB for 7B and OOMs"},
      {"qlora_not_smaller", "QLoRA uses the same memory as LoRA, why? OOM in both"},
      {"windows_sysmem_fallback",
       "Windows: dedicated GPU memory is full and it spills into shared memory, then OOM"},
  };
  for (const Said& one : said) EXPECT_EQ(first_cause(one.text), one.cause) << one.text;
}

// Words alone are no finding where they speak of something else.
TEST(DiagnosisSaid, WhatIsSaidOfSomethingElseIsNoFinding) {
  EXPECT_NE(first_cause("OOM. I start 8 processes, one process per GPU, memory in use is 40GB"),
            "other_process");
  EXPECT_NE(
      first_cause("CUDA out of memory. Tried to allocate 92.00 MiB (GPU 0; 24.00 GiB total capacity; 23.00 "
                  "GiB already allocated; 10.00 MiB free; 23.10 GiB reserved in total by PyTorch)"),
      "single_gpu_used");
  EXPECT_NE(first_cause("OOM in the first few steps of a 7B LoRA"), "long_outlier_sequences");
  EXPECT_NE(first_cause("I have 64GB RAM and a 24GB card, out of memory"), "host_ram");
  EXPECT_NE(first_cause("OOM with transformers 4.44.2, torch 2.4.0"), "regression_in_library");
  EXPECT_NE(first_cause("OOM with gradient accumulation: I append each micro-batch's gradient"),
            "growth_over_steps");
}

}  // namespace
}  // namespace plimsoll::diagnosis
