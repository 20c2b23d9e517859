// On which occasion a report says it failed, and what else its sentences and figures settle. The sentences
// are those of public issue threads.

#include <gtest/gtest.h>

#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

TEST(DiagnosisOccasion, ARunThatResumedHadPassedItsFirstStep) {
  // Lightning-AI/pytorch-lightning#18059
  EXPECT_EQ(first_cause("Running out of memory when resuming the training from a checkpoint\n"
                        "    optimizer.step(closure=optimizer_closure)\n"
                        "torch.cuda.OutOfMemoryError: CUDA out of memory."),
            "resume_or_save_peak");
}

TEST(DiagnosisOccasion, WhatWorksOnOneCardIsCopiedToEach) {
  // hiyouga/LlamaFactory#4213
  EXPECT_EQ(first_cause(
                "CUDA显存不足\n多卡deep2会报显存不足，单卡可以成功预训练\nGPU type: NVIDIA GeForce RTX 3090"),
            "replicated_not_sharded");
  EXPECT_EQ(first_cause("OOM with 4 GPUs\nThe same script works on a single GPU of the same kind."),
            "replicated_not_sharded");
  EXPECT_NE(first_cause("OOM with 4 GPUs\nIt does not work on a single GPU either."),
            "replicated_not_sharded");
}

TEST(DiagnosisOccasion, TheMachinesMemoryIsNamedInManyWays) {
  // pytorch/pytorch#104755, PKU-YuanGroup/MoE-LLaVA#34, deepspeedai/DeepSpeed#3104
  EXPECT_EQ(first_cause("every process loads the model, causing insufficient CPU memory"), "host_ram");
  EXPECT_EQ(first_cause("内存占用太高\n我的机器内存是1.9TB，内存占用了1.9TB，因此导致checkpoint被OOM"),
            "host_ram");
  EXPECT_EQ(first_cause("there is an OOM error. The message is SIGTERM: Killed."), "host_ram");
  EXPECT_NE(first_cause("CUDA out of memory although I offload to CPU memory"), "host_ram");
}

TEST(DiagnosisOccasion, WhoHoldsMostOfTheCardIsTheCause) {
  // pytorch/pytorch#29198: Adam's state was refused, and six of eight GiB were not PyTorch's.
  EXPECT_EQ(
      first_cause("    state['exp_avg_sq'] = torch.zeros_like(p.data)\n"
                  "RuntimeError: CUDA out of memory. Tried to allocate 352.00 MiB (GPU 0; 7.92 GiB total "
                  "capacity; 1.67 GiB already allocated; 156.00 MiB free; 124.28 MiB cached)"),
      "other_process");
  // On a large card three or four GiB beside the allocator are a run's own libraries.
  EXPECT_NE(
      first_cause("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.82 GiB (GPU 0; 31.75 "
                  "GiB total capacity; 23.21 GiB already allocated; 2.43 GiB free; 25.59 GiB reserved in "
                  "total by PyTorch)\nper_device_train_batch_size: 8",
                  R"({"model": "bigscience/bloom-1b1", "peft": {},
                            "training": {"per_device_train_batch_size": 8}})"),
      "other_process");
}

TEST(DiagnosisOccasion, ACardOfAnotherSizeIsNotMisreported) {
  // modelscope/ms-swift#3848: an A800 of 40 GB, where the name alone means 80.
  const std::string line =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.42 GiB. GPU 4 has a total capacity of "
      "39.56 "
      "GiB of which 1.05 GiB is free. Process 3679748 has 38.51 GiB memory in use. Of the allocated memory "
      "36.33 "
      "GiB is allocated by PyTorch, and 354.65 MiB is reserved by PyTorch but unallocated.";
  EXPECT_NE(first_cause(line, R"({"model": "Qwen/Qwen2.5-3B-Instruct", "hardware": {"gpu": "a100-sxm-80"}})"),
            "capacity_misreported");
}

TEST(DiagnosisOccasion, EmbeddingsInAListOfModulesAreTrained) {
  // wuyike2000/Retrieve-Rewrite-Answer#11: a shell script's form
  EXPECT_EQ(first_cause("batch_size修改为1仍然报错CUDA out of memory\nlora_rank=64\n"
                        "modules_to_save=\"embed_tokens,lm_head\""),
            "modules_to_save");
  EXPECT_NE(first_cause("CUDA out of memory\nlora_rank=64\nmodules_to_save: null"), "modules_to_save");
}

TEST(DiagnosisOccasion, FourModelsOfPpoAreNotTwoAnswersOfDpo) {
  // OpenRLHF/OpenRLHF#762 died behind its first steps; huggingface/trl#1024 is DPO.
  EXPECT_EQ(first_cause(
                "7b model PPO training, OOM\nTrain epoch [1/1]:  12%|#   | 31/256 [01:20<04:38,  1.24s/it]\n"
                "torch.OutOfMemoryError: CUDA out of memory."),
            "long_outlier_sequences");
  EXPECT_EQ(first_cause("CUDA out of memory error for DPO fine-tuning of a 7B on one H100"),
            "dpo_reference_model");
}

TEST(DiagnosisOccasion, AModelThatIsOnlyRunAndWouldFitInHalfItsTypeIsHeldInFp32) {
  // meta-pytorch/torchtune#612: 7 billion parameters on 24 GB, nothing trained
  EXPECT_EQ(first_cause("CUDA out of memory, inference only, with llama2_7b on an RTX 4090 of 24 GB"),
            "fp32_by_mistake");
}

TEST(DiagnosisOccasion, AScriptThatSaysNoTypeLoadsFp32) {
  // InternLM/InternLM-XComposer#434
  const std::string script =
      "OOM on generation with 48 GB GPU with internlm-xcomposer2-vl-7b\n"
      "model = AutoModel.from_pretrained(model_name_or_path, trust_remote_code=True";
  EXPECT_EQ(first_cause(script + ").cuda().eval()"), "fp32_by_mistake");
  EXPECT_NE(first_cause(script + ", torch_dtype=torch.bfloat16).cuda().eval()"), "fp32_by_mistake");
}

// Lines of a configuration say neither when a run died nor what somebody hoped for.
TEST(DiagnosisOccasion, AConfigurationAboveItsErrorIsNoWordsAndNoFrame) {
  const std::string error =
      "\n\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
      "23.68 GiB of which 1.55 GiB is free. Including non-PyTorch memory, this process has 22.12 GiB memory in use. "
      "Of the allocated memory 20.97 GiB is allocated by PyTorch, and 870.20 MiB is reserved by PyTorch but "
      "unallocated.";
  const std::string yaml =
      "base_model: mistralai/Mistral-7B-v0.3\nload_in_4bit: true\nadapter: qlora\nlora_r: 32\n"
      "lora_target_linear: true\nsequence_len: 8192\nsample_packing: true\nmicro_batch_size: 4\n"
      "gradient_checkpointing: true\nbf16: auto\n";
  EXPECT_EQ(first_cause(yaml + "optimizer: paged_adamw_8bit" + error), "logits_peak");
  EXPECT_NE(first_cause("args = TrainingArguments(output_dir='o', per_device_train_batch_size=4, bf16=True, "
                        "save_steps=200, eval_steps=200)" +
                        error),
            "eval_accumulates_logits");
}

TEST(DiagnosisOccasion, WhatIsSaidOfModelCardAndMethodIsWeighed) {
  // NVIDIA/Megatron-LM#606, Lightning-AI/litgpt#1432, Shivanandroy/T5-Finetuning-PyTorch#4
  EXPECT_EQ(first_cause("CUDA OOM error when finetuning LLAMA2-7b with A100 40G and seq_length 64.", "",
                        "method=full"),
            "does_not_fit_at_all");
  EXPECT_EQ(
      first_cause("I use an A100 40G to pretrain my own data, but OOM. my batch size has been set to 1.\n"
                  "litgpt pretrain --model_name Llama-2-7b-hf"),
      "does_not_fit_at_all");
  // A V100 has 16 or 32 GB: eleven billion parameters fit neither.
  EXPECT_EQ(first_cause("I use the v100 to finetune the t5 xxl, but it has an error of cuda out of memory",
                        "", "method=full"),
            "does_not_fit_at_all");
  // Twelve million parameters fit everywhere (huggingface/transformers#7438).
  EXPECT_EQ(first_cause("CUDA out of memory (ALBERT)\nrun_squad.py --max_seq_length 384, try to finetune"),
            "batch_or_sequence_too_large");
}

TEST(DiagnosisOccasion, ALogOfLossesSaysThatStepsHadPassed) {
  // FlagOpen/FlagEmbedding#837
  EXPECT_EQ(
      first_cause("{'loss': 2.3277, 'grad_norm': 9.5, 'epoch': 0.07}\n{'loss': 2.087, 'grad_norm': 8.8, "
                  "'epoch': 0.08}\ntorch.cuda.OutOfMemoryError: CUDA out of memory."),
      "long_outlier_sequences");
}

TEST(DiagnosisOccasion, SeveralCardsAreCountedWithTheirNameBetween) {
  EXPECT_EQ(cards_counted("OOM on 8 nvidia GPUs with 40GB memory each").value_or(0), 8);
  EXPECT_EQ(cards_counted("it runs on gpus").value_or(0), 0);
}

TEST(DiagnosisOccasion, AMethodThatIsDeniedIsNotTheMethod) {
  // meta-llama/llama-cookbook#413
  EXPECT_EQ(
      first_cause("I wanted to finetune the llama-7b model without any PEFT and Quantization. I am getting "
                  "Cuda out of memory error even with NVIDIA A100-SXM4-80GB."),
      "does_not_fit_at_all");
}

TEST(DiagnosisOccasion, ApplesBackendIsNamedByThreeLetters) {
  // huggingface/transformers#45517
  EXPECT_EQ(first_cause("MPS OOM error, finetuning T5Gemma2 with Seq2SeqTrainer"), "mps_watermark");
  EXPECT_NE(first_cause("OOM error, with steps and timestamps, finetuning T5"), "mps_watermark");
}

// What a library prints in every run says nothing of the moment.
TEST(DiagnosisOccasion, ALineOfALogIsNoPersonsWord) {
  const std::string oom =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB. GPU 0 has a total "
      "capacity of 23.64 GiB of which 800.12 MiB is free.";
  EXPECT_EQ(phase_of("Unsloth: Will smartly offload gradients to save VRAM!\n" + oom), FailurePhase::unknown);
  EXPECT_EQ(
      phase_of("FutureWarning: `evaluation_strategy` is deprecated and will be removed in version 4.46. Use "
               "`eval_strategy` instead\n  0%|          | 0/1500 [00:00<?, ?it/s]\n" +
               oom),
      FailurePhase::unknown);
  const std::string save = "Saving model checkpoint to /out/checkpoint-500\n";
  EXPECT_EQ(phase_of(save + oom), FailurePhase::save);
  EXPECT_EQ(
      phase_of(save + " 34%|###   | 510/1500 [10:02<19:43, 1.20s/it]\n{'loss': 1.1, 'epoch': 0.3}\n" + oom),
      FailurePhase::unknown);
}

}  // namespace
}  // namespace plimsoll::diagnosis
