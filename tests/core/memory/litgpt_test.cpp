// LitGPT's layer and loss against the figures that its own tables and configurations print.
#include <gtest/gtest.h>

#include "core/memory/head/head.h"
#include "core/memory/layers/linear.h"
#include "tests/core/report_answers.h"

namespace plimsoll::memory {
namespace {

// Lightning-AI/litgpt config_hub/finetune/README.md, LoRA and QLoRA of rank 32 on q and v, 512 tokens.
struct Published {
  const char* model;
  uint64_t batch;
  double lora, qlora;  // GB
};
constexpr Published published[] = {
    {"mistralai/Mistral-7B-v0.1", 2, 20.66, 14.29},
    {"meta-llama/Llama-2-7b", 2, 19.77, 13.68},
    {"tiiuae/falcon-7b", 1, 16.69, 9.44},
};

double gigabytes(const Published& row, bool four_bit) {
  report::Json request = {
      {"model", row.model},
      {"stack", "litgpt"},
      {"versions", {{"bitsandbytes", "0.42"}, {"litgpt", "0.4"}, {"torch", "2.2"}}},
      {"model_args", {{"attn_implementation", "sdpa"}, {"dtype", "bfloat16"}}},
      {"peft", {{"r", 32}, {"lora_dropout", 0.05}, {"target_modules", {"q_proj", "v_proj"}}}},
      {"training",
       {{"bf16", false},
        {"gradient_checkpointing", false},
        {"loss_kernel", "litgpt_chunked"},
        {"max_length", 512},
        {"optim", four_bit ? "paged_adamw_32bit" : "adamw_torch"},
        {"per_device_train_batch_size", row.batch}}}};
  if (four_bit) request["quantization"] = {{"load_in_4bit", true}, {"prepare_for_kbit_training", false}};
  return report::peak(report::answer(request)) / 1e9;
}

TEST(LitGpt, AgreesWithTheTableOfItsConfigurationHub) {
  for (const Published& row : published) {
    EXPECT_NEAR(gigabytes(row, false) / row.lora, 1, 0.01) << row.model;
    EXPECT_NEAR(gigabytes(row, true) / row.qlora, 1, 0.045) << row.model;
  }
}

HeadProgram litgpt_head(double batch, bool autocast) {
  HeadProgram p;
  p.layer.mode.autocast = autocast;
  p.layer.batch = batch;
  p.layer.length = 1024;
  p.layer.hidden = 64;
  p.head.in = 64;
  p.head.out = 50688;
  p.head.size = autocast ? 4 : 2;
  p.kernel = "litgpt_chunked";
  p.keep_outputs = true;
  return p;
}

TEST(LitGpt, TheLossHoldsEightBytesALogitAndTwoChunksMore) {
  // finetune_lora at 8641822: logits as fp32 copies, log-probabilities beside them; backward makes a
  // zero-filled and a true gradient of 128 positions at a time.
  const HeadReplay replay = replay_head(litgpt_head(4, false));
  const double logits = 4.0 * 1024 * 50688;
  EXPECT_NEAR(replay.backward_peak.total() / logits, 8 + 8 * 128.0 / 1024, 0.03);
}

TEST(LitGpt, EveryChunkKeepsItsOwnCastOfAnFp32Head) {
  HeadProgram one = litgpt_head(1, true), eight = litgpt_head(1, true);
  one.layer.length = 128;
  const double head = 64.0 * 50688 * 2;
  const auto casts = [](const HeadProgram& p) { return replay_head(p).backward_peak[Component::autocast]; };
  EXPECT_NEAR(casts(eight) - casts(one), 7 * head, 1);
}

TEST(Linear, BitsandbytesBefore0432KeepsTheInputOfAFourBitLayer) {
  const LinearSpec late{.in = 4096, .out = 4096, .storage = Storage::four_bit};
  LinearSpec early = late;
  early.keeps_input = true;
  const auto kept = [](const LinearSpec& spec) {
    Tape tape;
    Tensor x = tape.input(512 * 4096, 2, true);
    Tensor y = linear(tape, Mode{}, x, spec);
    x.free();
    return tape.live().total() - y.bytes();
  };
  EXPECT_EQ(kept(late), 0);
  EXPECT_EQ(kept(early), 512.0 * 4096 * 2);
}

}  // namespace
}  // namespace plimsoll::memory
