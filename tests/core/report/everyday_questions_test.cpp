// Messages as people write them, and what the answer must hold.
#include <gtest/gtest.h>

#include "core/json/at.h"
#include "core/report/diagnose.h"
#include "tests/core/explained.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

struct Message {
  const char* text;
  std::vector<const char*> answer;  ///< parts of the summary
};

// The report says what the answer to a question says.
TEST(EverydayQuestions, AChipOfApplesGetsNoVerdictAndIsToldWhy) {
  const json::Json report =
      answer({{"model", "qwen2.5-14b"}, {"peft", {{"r", 16}}}, {"hardware", {{"gpu", "apple-m3-max"}}}});
  EXPECT_TRUE(json::at(report, "gpu").is_null());
  EXPECT_TRUE(json::at(report, "limits").is_null());
  bool told = false;
  for (const json::Json& note : json::at(report, "notes"))
    told = told || json::at(note, "code") == json::Json("not_replayed");
  EXPECT_TRUE(told);
}

const std::vector<Message>& messages() {
  static const std::vector<Message> all = {
      {"Is a 4090 enough for QLoRA of a 13B model at 2048 tokens?",
       {"No model is named; meta-llama/Llama-2-13b-hf is taken for one of that size",
        "QLoRA on one GeForce RTX 4090 24GB needs", "it fits."}},
      {"QLoRA of llama 3.1 8b on an RTX 6000 Ada at 4k", {"QLoRA on one RTX 6000 Ada 48GB needs"}},
      {"QLoRA of llama 3.1 8b on an A6000 at 4k", {"QLoRA on one RTX A6000 48GB needs"}},
      {"QLoRA of llama 3.1 8b on a 7900 XTX at 4k", {"QLoRA on one Radeon RX 7900 XTX 24GB needs"}},
      {"QLoRA of llama 3.1 8b on a Titan RTX at 4k", {"QLoRA on one TITAN RTX 24GB needs"}},
      {"QLoRA of llama 3.1 8b on a V100 at 4k", {"V100 SXM2 16GB needs", "V100 SXM2 32GB needs"}},
      {"QLoRA of llama 3.1 8b on a 4070 ti super at 4k", {"QLoRA on one GeForce RTX 4070 Ti SUPER 16GB"}},
      // A run that is stated says of no failure, however many cards it counts.
      {"QLoRA of a 70B on an L40S at 4k",
       {"No model is named; meta-llama/Llama-3.1-70B is taken", "QLoRA on one L40S 48GB needs"}},
      {"full fine-tuning of 8B on two 4090s",
       {"2 x GeForce RTX 4090 24GB, a whole copy on each card needs", "it does not fit."}},
      {"GRPO of Qwen2.5 7B on two H100", {"2 x H100 SXM5 80GB"}},
      {"fine-tuning Mistral 7B on a T4", {"LoRA on one Tesla T4 16GB needs"}},
      // A failure told with its run is held against the replay of that run.
      {"works at 2048, dies at 4096. QLoRA of Qwen2.5 14B on a 3090, batch 1, gradient checkpointing on",
       {"Too many tokens in a micro-batch.", "a length of 2048 needs", "a length of 4096 needs",
        "it does not fit.", "What grows most between them is logits and loss"}},
      {"Llama 3.1 8B LoRA r=16, 4096 tokens, A100 40GB. It uses 30 GB with batch 1 and dies at batch 2.",
       {"Too many tokens in a micro-batch.", "a micro-batch of 1 needs", "a micro-batch of 2 needs"}},
      {"After 20 minutes: RuntimeError: CUDA error: out of memory\nphi-4 QLoRA 16384 ctx packing on a 5090 "
       "(32GB), flash attention 2",
       {"The driver refused, without figures.", "phi-4: QLoRA on one GeForce RTX 5090 32GB needs"}},
      // Apple's chips have no verdict: Metal is not replayed.
      {"M3 Max 128GB, LoRA of Llama 3.1 8B",
       {"LoRA on one Apple M3 Max needs", "Apple M3 Max is read, but not covered",
        "Of 128.00 GiB macOS leaves the GPU about 96.00 GiB."}},
      {"MacBook Pro M3 with 32GB: QLoRA of Mistral 7B possible?",
       {"on one Apple M3 needs", "Of 32.00 GiB macOS leaves the GPU about 21.33 GiB."}},
      {"do two 3090s add up for a 70B QLoRA?",
       {"a whole copy on each card needs", "kept in host memory (FSDP with CPU offload) needs", "it fits."}},
      {"Do two 3090s add up to 48GB for a 70B QLoRA? I want to use FSDP with axolotl.",
       {"2 x GeForce RTX 3090 24GB", "adds up only for what is divided over them"}},
      {"why does batch size 4 die when batch size 2 fits? Llama 3.1 8B LoRA r=16, 4096 tokens, A100 40GB, "
       "gradient checkpointing is on",
       {"a micro-batch of 4 needs", "it does not fit.", "a micro-batch of 2 needs"}},
      {"Will full fine-tuning of Qwen3-4B fit on a single A6000 48GB? seq len 4096, adamw 8bit",
       {"Qwen3-4B: Full fine-tuning on one RTX A6000 48GB needs", "it fits."}},
      {"hey, I have a 3060 12GB. what's the biggest model I can qlora on it?",
       {"The largest models that are known and fit:", "QLoRA on one GeForce RTX 3060 12GB needs"}},
      {"Can I finetune Mistral 7B with LoRA on a T4 (Colab)? Sequence length is about 1024",
       {"LoRA on one Tesla T4 16GB needs", "it does not fit."}},
      {"What GPU do I need to fully finetune Llama-3.1-8B with 8k context?",
       {"Llama-3.1-8B: Full fine-tuning needs", "optimizer states"}},
      {"how much VRAM does DPO of a 7B need compared to SFT? rank 64 lora, 2048 tokens",
       {"LoRA, DPO needs", "LoRA, SFT needs"}},
      {"I'm getting CUDA OOM training gemma-2-9b with LoRA on a 24GB card. batch size 1, seq 2048, bf16, no "
       "quantization. Do I need QLoRA?",
       {"LoRA on a card of 24.00 GiB needs", "it does not fit.", "QLoRA on a card of 24.00 GiB needs"}},
      {"Training runs fine for 300 steps then OOM on an A100 80GB. Qwen2.5-7B, full finetune with deepspeed "
       "zero3 on 4 cards, max length 16384, my dataset has very different lengths",
       {"A long sample came up."}},
      {"GRPO with Qwen2.5-3B on one H100 with vllm colocate, num_generations 8, max completion length 2048. "
       "will that work?",
       {"Full fine-tuning on one H100 SXM5 80GB needs", "it fits."}},
      {"OOM at evaluation only: training uses 18GB of 24GB, then eval dies. llama 3.2 3b, "
       "per_device_eval_batch_size 8, seq 4096",
       {"Evaluation keeps all logits."}},
      {"Is 8x A100 40GB enough for full finetuning of Llama 3 70B with ZeRO-3?",
       {"Full fine-tuning on 8 x A100 SXM4 40GB needs", "it does not fit."}},
      {"After upgrading transformers from 4.46 to 4.48 my qlora of llama 3.1 8b at 8192 tokens no longer "
       "fits in "
       "24GB. same config",
       {"Another release fitted"}},
      {"I set gradient_checkpointing=True but memory is the same as without. peft lora on a qwen2 7b, "
       "use_cache "
       "warning shows up",
       {"Gradient checkpointing is set, but it does not take effect."}},
      {"Does flash attention help me fit 32k tokens for a 7B QLoRA on 24GB?",
       {"QLoRA on a card of 24.00 GiB needs", "logits and loss"}},
      {"Fine-tune Qwen2.5-VL-7B with LoRA, images 1280x720, on a 4090, will it fit?",
       {"Qwen2.5-VL-7B: LoRA on one GeForce RTX 4090 24GB needs", "it fits."}},
      {"QLoRA of Llama-3.1-8B on a 4090 at 2048 tokens: why does batch 4 die when batch 2 fits?",
       {"a micro-batch of 4 needs", "a micro-batch of 2 needs",
        "What grows most between them is logits and loss"}},
      // Unsloth's logits were made until November 2024, and its releases are called by their month.
      {"unsloth QLoRA of Llama-3.1-8B on an A100 80GB at 100k tokens, will it fit?",
       {"fits, unless what is not said is otherwise.", "Which release of Unsloth runs is not said"}},
      {"2024-05-08: unsloth QLoRA of Llama-3.1-8B on an A100 80GB at 100k tokens, will it fit?",
       {R"("unsloth":"2024.5")", "it does not fit."}},
      {"unsloth QLoRA of Llama-3.1-8B on an A100 80GB at 100k tokens, transformers==4.55.4, will it fit?",
       {R"("unsloth":"2025.8")", "it fits."}},
      // A Qwen-VL reads images of any size: what is not said of them is no promise.
      {"Is a 4090 enough for QLoRA of Qwen2.5-VL-7B at 4096 tokens?",
       {"it fits, unless what is not said is otherwise.",
        "What images a sample has is not said, and none is counted; with one of 1,792 x 1,792",
        R"({"pointer":"/vision/image_size","message":"the size of its images in pixels"})"}},
      {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity "
       "of "
       "23.64 GiB of which 1.21 GiB is free. model is llama 3 8b, qlora, seq len 2048, batch 2",
       {"4,096 tokens x 128,256 words of the vocabulary", "Logits over a large vocabulary."}},
      {"QLoRA of Llama 3.1 8B on a 4090 at 4k", {"QLoRA on one GeForce RTX 4090 24GB needs", "it fits"}},
      {"largest batch for QLoRA of Llama 3.1 8B on a 4090 at 2048 tokens",
       {"QLoRA on one GeForce RTX 4090 24GB needs", R"("messages":[])"}},
      // A traceback says by its frames how the run is trained, and nothing else of it.
      {"  File \"/site-packages/peft/peft_model.py\", line 1757, in forward\n"
       "  File \"/site-packages/bitsandbytes/nn/modules.py\", line 484, in forward\n"
       "    return bnb.matmul_4bit(x, self.weight.t(), bias=bias)\n"
       "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB.",
       {R"("said":{"request":{"quantization":{"load_in_4bit":true},"peft":{}})"}},
      {"  File \"/site-packages/peft/tuners/lora/layer.py\", line 771, in forward\n"
       "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB.",
       {R"("said":{"request":{"peft":{}})"}},
      {"Can I use LoRA on LLaVA 1.5 7B with images of 640x480 on a 3090?",
       {"This model's processor makes squares of images."}},
  };
  return all;
}

TEST(EverydayQuestions, AreAnsweredAsTheirAuthorMeansThem) {
  for (const Message& message : messages()) {
    const std::string answer = diagnosis_text(message.text, "", "", diagnosis::catalog());
    for (const char* part : message.answer)
      EXPECT_NE(answer.find(part), std::string::npos) << message.text << "\n"
                                                      << part << "\n"
                                                      << answer.substr(0, 900);
  }
}

}  // namespace
}  // namespace plimsoll::report
