// Public reports pasted as they stand, with what was found in their threads: what a person pastes holds
// scripts, launchers' words and progress bars besides the message. Sources beside each.
#include <gtest/gtest.h>

#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

constexpr const char* message_of_a_t4 =
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 314.00 MiB. GPU 0 has a total "
    "capacity "
    "of 14.75 GiB of which 100.00 MiB is free. Including non-PyTorch memory, this process has 14.60 GiB "
    "memory "
    "in use. Of the allocated memory 14.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by "
    "PyTorch "
    "but unallocated.";

// tatsu-lab/stanford_alpaca#65: the state dict is gathered on the GPU; the parameter's name is no loss.
TEST(DiagnosisReports, AStateDictThatCannotBeClonedIsASave) {
  const Diagnosis d = explained(
      "Got an OOM error after the training finished, not sure why.\n"
      "torch/distributed/fsdp/fully_sharded_data_parallel.py:2224: UserWarning: Failed to clone() tensor "
      "with "
      "name lm_head.weight. This may mean that this state_dict entry could point to invalid memory regions "
      "after returning from state_dict() call if this parameter is managed by FSDP. Please check clone "
      "implementation of lm_head.weight. Error: CUDA out of memory. Tried to allocate 502.00 MiB (GPU 1; "
      "39.59 "
      "GiB total capacity; 35.54 GiB already allocated; 276.19 MiB free; 37.22 GiB reserved in total by "
      "PyTorch)");
  EXPECT_EQ(d.reading.phase, FailurePhase::save);
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes[0].cause->id, "resume_or_save_peak");
}

// AetherCortex/Llama-X#12: what DeepSpeed's launcher writes after any failure is no lack of RAM.
TEST(DiagnosisReports, ALauncherThatEndsTheOtherRanksIsNoMessage) {
  const std::string text =
      "I fine-tune llama-7b on 8 V100 32G. However, it occurs `CUDA out of memory`.\n"
      "RuntimeError: CUDA out of memory. Tried to allocate 688.00 MiB (GPU 6; 31.75 GiB total capacity; "
      "29.87 "
      "GiB already allocated; 41.94 MiB free; 30.29 GiB reserved in total by PyTorch)\n"
      "[2023-04-04 17:43:59,766] [INFO] [launch.py:318:sigkill_handler] Killing subprocess 1840\n";
  const Diagnosis d = explained(text);
  ASSERT_EQ(d.reading.messages.size(), 1U);
  ASSERT_FALSE(d.causes.empty());
  EXPECT_LE(d.causes[0].confidence, 0.7);
  // 16 bytes a parameter on each of the eight, if all are trained: that is what is asked.
  ASSERT_NE(d.question, nullptr);
  EXPECT_EQ(d.question->id, "method");
  EXPECT_NE(first_cause(text, "", "method=full"), first_cause(text, "", "method=adapters"));
}

// huggingface/trl#1024
TEST(DiagnosisReports, TheTrainersOwnEvaluationIsRead) {
  EXPECT_EQ(
      explained("  File \"transformers/trainer.py\", line 1934, in _inner_training_loop\n"
                "    self._maybe_log_save_evaluate(tr_loss, model, trial, epoch, ignore_keys_for_eval)\n"
                "  File \"transformers/trainer.py\", line 2283, in _maybe_log_save_evaluate\n"
                "    metrics = self.evaluate(ignore_keys=ignore_keys_for_eval)\n" +
                std::string(message_of_a_t4))
          .reading.phase,
      FailurePhase::eval);
}

// huggingface/trl#3168: a script above its traceback loads a model in every line of it.
TEST(DiagnosisReports, OnlyTheTracebackSaysWhereItDied) {
  const std::string script =
      "from transformers import AutoModelForCausalLM\n"
      "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-0.5B-Instruct\")\n"
      "trainer.train()\n";
  const std::string traceback =
      "Traceback (most recent call last):\n"
      "  File \"run_dpo.py\", line 24, in <module>\n    trainer.train()\n"
      "  File \"transformers/trainer.py\", line 3736, in compute_loss\n    outputs = model(**inputs)\n"
      "  File \"transformers/models/qwen2/modeling_qwen2.py\", line 850, in forward\n"
      "    logits = logits.float()\n";
  EXPECT_EQ(explained(script + message_of_a_t4).reading.phase, FailurePhase::unknown);
  EXPECT_EQ(explained(script + traceback + message_of_a_t4).reading.phase, FailurePhase::loss);
}

// unslothai/unsloth#786: a bar at its end stands above an error of training.
TEST(DiagnosisReports, ALoadThatIsDoneIsNotTheMomentOfDeath) {
  const std::string bar = "Loading checkpoint shards: 100%|####| 2/2 [00:02<00:00,  1.12s/it]\n";
  EXPECT_EQ(explained(bar + message_of_a_t4).reading.phase, FailurePhase::unknown);
  const std::string half = "Loading checkpoint shards:  42%|##  | 16/38 [00:14<00:19,  1.13it/s]\n";
  EXPECT_EQ(explained(half + message_of_a_t4).reading.phase, FailurePhase::load);
}

// unslothai/unsloth#1144, the HTML of a notebook.
TEST(DiagnosisReports, TheCastOfWhatAModelReturnsIsTheLogits) {
  EXPECT_EQ(
      first_cause(
          "<span style=\"color: green;\">    781</span> def "
          "</span><span>_is_fp16_bf16_tensor</span>(tensor):\n"
          "<span style=\"color: red;\">OutOfMemoryError</span><span>: CUDA out of memory. Tried to allocate "
          "5.94 GiB. GPU 0 has a total capacity of 22.17 GiB of which 5.76 GiB is free. Process 29726 has "
          "16.39 GiB memory in use. Of the allocated memory 15.85 GiB is allocated by PyTorch, and 306.50 "
          "MiB "
          "is reserved by PyTorch but unallocated.</span>"),
      "logits_peak");
}

// huggingface/trl#1626
TEST(DiagnosisReports, ASpikeAfterHalfOfTheTrainingIsALongSample) {
  EXPECT_EQ(
      first_cause(
          "After half of the training is gone, there's a sudden spike in the GPU Memory usage\n"
          "CUDA out of memory. Tried to allocate 20.39 GiB. GPU  has a total capacity of 22.19 GiB of "
          "which 11.72 GiB is free. Process 751671 has 10.22 GiB memory in use. Of the allocated memory "
          "7.48 GiB is allocated by PyTorch, and 2.43 GiB is reserved by PyTorch but unallocated."),
      "long_outlier_sequences");
}

TEST(DiagnosisReports, AProgressBarFarBeyondTheFirstStepSaysThatMostBatchesFit) {
  const std::string training = " 12%|#2        | 350/2958 [1:02:15<7:43:02, 10.66s/it]\n";
  EXPECT_EQ(first_cause(training + message_of_a_t4), "long_outlier_sequences");
  for (const char* other : {"Map:  12%|#2   | 3500/29580 [00:15<02:02, 210.66it/s]\n",
                            " 12%|#2        | 3/2958 [00:15<7:43:02, 10.66s/it]\n",
                            "Loading checkpoint shards: 70%|####  | 30/42 [00:15<00:02, 1.66s/it]\n"}) {
    EXPECT_NE(first_cause(std::string(other) + message_of_a_t4), "long_outlier_sequences") << other;
  }
}

// unslothai/unsloth#3302
TEST(DiagnosisReports, AnEngineThatWakesUpSharesTheCard) {
  EXPECT_EQ(first_cause(
                "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62\n"
                "Traceback (most recent call last):\n"
                "  File \"train_reasoning.py\", line 303, in <module>\n"
                "    trainer.train(resume_from_checkpoint=True)\n"
                "  File \"UnslothGRPOTrainer.py\", line 1795, in _prepare_inputs\n    self.llm.wake_up()\n"),
            "vllm_colocate");
}

// catie-aq/flashT5#6, state-spaces/mamba#387
TEST(DiagnosisReports, SharedMemoryOfAKernelIsNoGpuMemory) {
  EXPECT_EQ(
      first_cause("triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 163840, "
                  "Hardware limit: 101376. Reducing block sizes or `num_stages` may help."),
      "kernel_shared_memory");
}

// IndicoDataSolutions/finetune#339
TEST(DiagnosisReports, TensorFlowSaysTheSizeAsAShape) {
  const Diagnosis d = explained(
      "ResourceExhaustedError: OOM when allocating tensor with shape[16,12,512,512] and type float on "
      "/job:localhost/replica:0/task:0/device:GPU:2 by allocator GPU_2_bfc");
  ASSERT_EQ(d.reading.messages.size(), 1U);
  ASSERT_TRUE(d.reading.messages[0].numbers.tried.has_value());
  EXPECT_EQ(d.reading.messages[0].numbers.tried->bytes, 16.0 * 12 * 512 * 512 * 4);
  EXPECT_EQ(d.causes.at(0).cause->id, "eager_attention_quadratic");
}

// intel/torch-xpu-ops#1911
TEST(DiagnosisReports, IntelsDriverIsADriver) {
  EXPECT_EQ(first_cause("RuntimeError: Native API failed. Native API returns: 39 "
                        "(UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"),
            "driver_level_oom");
}

// EricFillion/happy-transformer#333: 25.10 GiB are the 6,738,415,616 parameters of Llama-2-7B in fp32.
TEST(DiagnosisReports, ARequestThatIsAWholeModelNamesIt) {
  const Diagnosis d = explained(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 25.10 GiB (GPU 0; 79.15 GiB total "
      "capacity; 62.79 GiB already allocated; 15.26 GiB free; 62.79 GiB reserved in total by PyTorch)");
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes[0].cause->id, "does_not_fit_at_all");
  ASSERT_FALSE(d.reading.matches.empty());
  EXPECT_EQ(d.reading.matches[0].kind, TensorKind::model);
}

// A slice has the memory of a whole card of another kind, so only its profile tells it.
TEST(DiagnosisReports, ASliceOfMigIsNamedWhereItsProfileIsWritten) {
  const std::string line =
      "RuntimeError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 39.25 GiB total capacity; "
      "38.13 GiB "
      "already allocated; 120.00 MiB free; 38.60 GiB reserved in total by PyTorch)";
  const Diagnosis slice = explained("GPU: NVIDIA A100 80GB PCIe MIG 3g.40gb\n" + line);
  ASSERT_FALSE(slice.cards.empty());
  EXPECT_EQ(slice.cards[0], "a100-80-mig-3g.40gb");
  for (const std::string& card : explained(line).cards) EXPECT_EQ(card.find("mig"), std::string::npos);
}

// mistralai/mistral-finetune#69: an A10G of a virtual machine shows 21.99 GiB, nearer to other cards'.
TEST(DiagnosisReports, TheCardThatTheTextNamesComesFirst) {
  const Diagnosis d = explained(
      "My hardware is an NVIDIA A10G single GPU with 24GB GPU memory. torch.cuda.OutOfMemoryError: CUDA out "
      "of "
      "memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 21.99 GiB of which 759.38 MiB is "
      "free. "
      "Including non-PyTorch memory, this process has 0 bytes memory in use. Of the allocated memory 20.52 "
      "GiB is "
      "allocated by PyTorch, and 102.08 MiB is reserved by PyTorch but unallocated.");
  ASSERT_FALSE(d.cards.empty());
  EXPECT_EQ(d.cards[0], "a10g");
}

}  // namespace
}  // namespace plimsoll::diagnosis
