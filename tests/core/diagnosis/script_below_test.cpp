// What a person's own script calls is no place where a run died.
#include "core/report/diagnose.h"
#include "tests/core/explained.h"

namespace plimsoll::diagnosis {
namespace {

constexpr const char* message =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a total capacity of "
    "14.74 GiB of which 60.12 MiB is free. Of the allocated memory 14.28 GiB is allocated by PyTorch, and 275.25 "
    "MiB is reserved by PyTorch but unallocated.\n\n";
constexpr const char* load = "model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-2-7b-hf\")\n";

std::string answer_about(const std::string& text) {
  return report::diagnosis_text(text, "", "", diagnosis::catalog());
}

TEST(ScriptBelow, SaysNothingOfTheMoment) {
  const std::string told =
      answer_about(message + std::string(load) +
                   "peft_config = LoraConfig(r=16)\ntrainer = SFTTrainer(model=model, "
                   "args=TrainingArguments(fp16=True, per_device_train_batch_size=4))\n");
  EXPECT_NE(told.find("\"phase\":{\"id\":\"other\""), std::string::npos) << told;
}

TEST(ScriptBelow, ALineAboveTheMessageIsWhatFailed) {
  const std::string told = answer_about(std::string(load) + message);
  EXPECT_NE(told.find("\"phase\":{\"id\":\"load\""), std::string::npos) << told;
}

TEST(ScriptBelow, OneCardCopiesNothingOntoSeveral) {
  const std::string told = answer_about(
      "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.90 GiB total capacity; 14.75 GiB already "
      "allocated; 15.75 MiB free; 15.02 GiB reserved in total by PyTorch)\ncolab T4, trying to load Mistral 7B "
      "with AutoModelForCausalLM.from_pretrained(\"mistralai/Mistral-7B-v0.1\").to(\"cuda\")");
  EXPECT_NE(told.find("26.98 GiB of 15.90 GiB"), std::string::npos) << told;
  EXPECT_NE(told.find("Nothing says that several cards share the model."), std::string::npos) << told;
}

TEST(ScriptBelow, VllmsShareIsHeldAgainstTheWeights) {
  const std::string told = answer_about(
      "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
      "initializing the engine.\nGRPO with vllm colocate on one A100 80GB, Qwen2.5-7B, "
      "vllm_gpu_memory_utilization=0.15");
  EXPECT_NE(told.find("the share is 11.87 GiB and the weights take 14.19 GiB"), std::string::npos) << told;
}

}  // namespace
}  // namespace plimsoll::diagnosis
